"""Prompts of a model in a configuration: whose jobs hold them, what is said of them, and what each mistake says."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from ranktrial.common.keys import given
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.configuration.reading import resolved_text
from ranktrial.engine.rule_helpers import settings
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.system_types import system_type
from scripts.inference import planning as inference
from scripts.training import planning
from tests.experiment.test_config import BASE, changed
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import each_is_one_line

ROOT = Path(__file__).parents[2]
OTHERS = {"systems/zero": {"model": "m"}, "systems/ce": {"model": "ce", "rerank": {"first_stage": "bm25"}}}
BOTH = {"query": "query: ", "document": "passage: "}
# To a shell, to Snakemake (wildcards), to JSON, HTML and YAML these mean something.
HOSTILE = '\'; rm -rf "$HOME" `id` {wildcards.seed} {{x}} <script>\\n &amp; #: - % é中 \n>'


def resolved(prompts, **further):
    given = {} if prompts is None else {"models/m/prompts": prompts}
    return of_base(OTHERS | given | further)


def jobs(experiment):
    """The settings of every job that a model has a part in."""
    return {
        "train": planning.training_settings(experiment, "m", "r", "1"),
        "encode": inference.encoding_settings(experiment, "d", "m"),
        "retrieve": inference.ranking_settings(experiment, "runs/d", "zero", "0"),
        "retrieve tuned": inference.ranking_settings(experiment, "runs/d", "tuned", "1"),
        "rerank": inference.ranking_settings(experiment, "runs/d", "ce", "0"),
        "train ce": planning.training_settings(experiment, "ce", "r", "1"),
        "weights": planning.weights_settings(experiment, "m"),
    }


def test_without_prompts_no_job_knows_of_them():
    plain = jobs(resolved(None))
    assert "prompts" not in str(plain) and jobs(resolved({})) == plain
    assert resolved({}).models == resolved(None).models


@pytest.mark.parametrize(
    ("prompts", "of_encoding"),
    [
        (BOTH, {"document": "passage: "}),
        ({"query": "query: "}, None),
        ({"query": "", "document": ""}, {"document": ""}),  # none, also where the model stores some
    ],
)
def test_the_jobs_of_this_model_hold_them_and_no_others(prompts, of_encoding):
    plain, given = jobs(resolved(None)), jobs(resolved(prompts))
    reported = {"train": prompts, "retrieve": prompts, "retrieve tuned": prompts, "encode": of_encoding}
    for job, before in plain.items():
        assert given[job] == before | ({"prompts": reported[job]} if reported.get(job) else {})


def test_a_description_an_archive_and_an_identity_say_them():
    experiment = resolved({"query": "Find “a”:\n", "document": ""})
    words = describe(experiment, experiment.systems["zero"])
    assert (
        words
        == 'bi-encoder m (org/m, 128 tokens, query prompt "Find “a”:\\n", document prompt none; training data of the weights not stated)'
    )
    kind = system_type(experiment.systems["zero"])
    assert kind.provenance(experiment, experiment.systems["zero"])["prompts"] == {
        "query": "Find “a”:\n",
        "document": "",
    }
    plain = resolved(None)
    assert "prompts" not in kind.provenance(plain, plain.systems["zero"])
    sides = [
        kind.identity(SimpleNamespace(models=one.models, recipes={}), one.systems["zero"])
        for one in (experiment, plain)
    ]
    assert sides[0] != sides[1]


def test_any_visible_text_reaches_the_jobs_as_it_is(tmp_path):
    config = changed({"models/m/prompts": {"query": HOSTILE}})
    experiment = resolve(config, "c.yaml")
    assert planning.training_settings(experiment, "m", "r", "1")["prompts"] == {"query": HOSTILE}
    assert "\n" not in settings(prompts={"query": HOSTILE})  # one line of a command
    (tmp_path / "c.yaml").write_text(resolved_text(config, "c.yaml"))
    assert read_yaml(tmp_path / "c.yaml")["models"]["m"]["prompts"] == {"query": HOSTILE}
    assert "\n" not in describe(experiment, experiment.systems["tuned"])


def test_a_list_makes_a_model_of_each():
    experiment = of_base({"models/m/prompts": {"query": ["query", "ask"]}})
    assert {name: given(model.prompts) for name, model in experiment.models.items()} == {
        "m-query": {"query": "query"}, "m-ask": {"query": "ask"}, "ce": {},
    }  # fmt: skip


LONG = 'a text of at most 1000 characters, or "" for none'
MISTAKES = {
    "of a document of a pair": ({"models/ce/prompts": {"document": ""}}, "c.yaml: models.ce.prompts.document: a cross-encoder takes a prompt of each query alone; leave it out"),
    "of a tagger": ({"models/ce/type": "token-classification", "models/ce/prompts": {"query": ""}}, "c.yaml: models.ce.prompts: a token-classification takes none; bi-encoders, bi-encoder-endpoints, cross-encoders, multi-vectors and sparse-encoders do"),
    "another name": ({"models/m/prompts": {"passage": "p "}}, "c.yaml: models.m.prompts.passage: 'p ' is text; expected a mapping"),
    "another role": ({"models/m/prompts": {"default": {"passage": "p "}}}, "c.yaml: models.m.prompts.default: unknown key 'passage'; allowed are document, query"),
    "of a dataset that is none": ({"models/m/prompts": {"default": BOTH, "dd": {"query": "a "}}}, "c.yaml: models.m.prompts: unknown name 'dd'"),
    "of all and of one": ({"models/m/prompts": {**BOTH, "d": {"query": "a "}}}, "c.yaml: models.m.prompts.document: is given beside prompts of datasets; write it under default"),
    "of one alone": ({"models/m/prompts": {"d": {"query": "a "}}}, 'c.yaml: models.m.prompts.default.query: is needed beside that of d, for all other datasets; "" is none'),
    "no instruction": ({"models/m/prompts": {"query": "{instruction}: "}}, "c.yaml: datasets.d.instruction: is placed by the query prompt of the model m; add it, or prompts of d to the model"),
    "a text for both": ({"models/m/prompts": "query: "}, "c.yaml: models.m.prompts: 'query: ' is text; expected a mapping"),
    "a number": ({"models/m/prompts": {"query": 5}}, f"c.yaml: models.m.prompts.query: 5 is a whole number; expected {LONG}"),
    "no value": ({"models/m/prompts": {"query": None}}, f"c.yaml: models.m.prompts.query: has no value (null); expected {LONG}"),
    "too long": ({"models/m/prompts": {"query": "q" * 1001}}, "has 1,001 characters, but at most 1,000 are allowed"),
    "blank": ({"models/m/prompts": {"query": "  "}}, f"c.yaml: models.m.prompts.query: '  ' is blank; expected {LONG}"),
    "lines alone": ({"models/m/prompts": {"query": "\n"}}, f"c.yaml: models.m.prompts.query: '\\n' is blank; expected {LONG}"),
    "invisible": ({"models/m/prompts": {"query": "a\u202eb"}}, "c.yaml: models.m.prompts.query: the text 'a\\u202eb' contains U+202E (RIGHT-TO-LEFT OVERRIDE)"),
    "an escape sign": ({"models/m/prompts": {"document": "\x1b[2J"}}, "c.yaml: models.m.prompts.document: the text '\\x1b[2J' contains an escape sign"),
    "a tab": ({"models/m/prompts": {"query": "a\tb"}}, "models.m.prompts.query: the text 'a\\tb' contains a tab"),
    "a newline in a key": ({"models/m/prompts": {"que\nry": "a"}}, "the key 'que\\nry'"),
    "a newline elsewhere": ({"models/m/licence": "a\nb"}, "c.yaml: models.m.licence: the text 'a\\nb' contains a newline"),
    "a secret": ({"models/m/prompts": {"query": "https://me:word@host/"}}, "c.yaml: models.m.prompts.query: contains a URL with a user"),
}  # fmt: skip


test_each_mistake_is_one_line_before_anything_runs = each_is_one_line(MISTAKES, lambda changes: of_base(changes))


def test_the_lines_of_the_documentation_are_models(tmp_path):
    """Each block is planned with its hub id, which is not asked for here."""
    blocks = re.findall(
        r"```yaml\n(.*?)```", (ROOT / "docs/models.md").read_text().split("\n## Language models\n")[0], re.DOTALL
    )
    models, datasets = {}, {"d": BASE["datasets"]["d"]}
    for number, block in enumerate(blocks):
        (tmp_path / f"{number}.yaml").write_text(block)
        reported = read_yaml(tmp_path / f"{number}.yaml")
        models |= reported.get("models", {})
        datasets |= {name: entry | {"location": "tests"} for name, entry in reported.get("datasets", {}).items()}
        assert yaml.safe_load(block) == reported
    pairs = {"rerank": {"first_stage": "bm25"}}
    ranked = {name: pairs if model["type"] == "cross-encoder" else {} for name, model in models.items()}
    systems = {f"zero-{name}": {"model": name} | how for name, how in ranked.items()} | {"bm25": {"type": "bm25"}}
    models["qwen3-instructed"]["prompts"] = {"default": {"query": ""}, "scifact": models["qwen3-instructed"]["prompts"]}
    sections = {"models": models, "systems": systems, "datasets": datasets, "comparisons": {}, "recipes": {}}
    experiment = of_base(sections | {"tasks": list(datasets)})

    def prompts(name, dataset="d"):
        return inference.ranking_settings(experiment, f"runs/{dataset}", f"zero-{name}", "0").get("prompts")

    put = {name: prompts(name) for name in models}
    assert prompts("e5-arguana", "arguana") == {"query": "passage: ", "document": "passage: "}
    assert prompts("qwen3-instructed", "scifact")["query"].startswith("Instruct: Given a claim, retrieve")
    assert put["e5"] == {"query": "query: ", "document": "passage: "}
    assert put["bge"] == {"query": "Represent this sentence for searching relevant passages: "}
    assert put["qwen3"]["query"].startswith("Instruct: ") and put["qwen3"]["query"].endswith("\nQuery:")
    assert put["qwen3-as-stored"] is None and put["without"] == {"query": "", "document": ""}
