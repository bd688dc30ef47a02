"""A trained checkpoint goes out as a folder with a model card, which one line of the library loads."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from ranktrial.archive.model_card import exported, mean_of, public
from ranktrial.common.errors import UserError
from ranktrial.common.settings import write_record
from ranktrial.experiment.resolution import resolve
from ranktrial.models.adapters import adapters
from scripts.archive import export_model
from tests.support import tiny_bert
from tests.support.meta_records import meta_record

TEXTS = ["fire and flood", "theft of a car"]
CONFIG = {
    "experiment": "e",
    "datasets": {"d": {"format": "beir", "location": "data/d", "licence": "CC BY 4.0 | as stated", "language": "de"}},
    "models": {"m": {"type": "bi-encoder", "weights": "weights/m", "max_length": 16, "prompts": {"query": "Q: "}}},
    "recipes": {"r": {"train_on": "d", "epochs": 3}},
    "systems": {"bm25": {"type": "bm25"}, "tuned": {"model": "m", "recipe": "r", "seeds": 2}, "plain": {"model": "m"}},
    "tasks": ["d"],
    "comparisons": {"c": {"control": "bm25", "treatment": "tuned"}},
}  # fmt: skip
RESULTS = "results/e/models/m/r"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder below the home of somebody who has secrets, with the results of a small experiment."""
    working = tmp_path / "ann" / "study"
    (working / "data/d").mkdir(parents=True)
    (working / "weights/m").mkdir(parents=True)
    monkeypatch.chdir(working)
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    monkeypatch.setenv("HF_TOKEN", "hf_NobodyShallReadThis")
    checkpoint = tiny_bert.build(working / RESULTS / "seed-1", TEXTS, 1)
    settings = json.loads((checkpoint / "config.json").read_text())
    (checkpoint / "config.json").write_text(json.dumps(settings | {"_name_or_path": f"{working}/weights/m"}))
    (checkpoint / ".snakemake_timestamp").touch()
    timing = {"loss": "MultipleNegativesRankingLoss", "steps": 7, "seconds": 2.5, "versions": {"torch": "2.0"}}
    (working / RESULTS / "seed-1.timing.json").write_text(json.dumps(timing))
    metrics = working / "results/e/metrics/d/tuned/seed-1.tsv"
    metrics.parent.mkdir(parents=True)
    metrics.write_text("query_id\tnDCG@10\nq1\t0.25\nq2\t0.5\nq3\t0.75\n")
    (working / "results/e/meta").mkdir()
    record = meta_record(control="bm25", treatment="tuned", prediction_interval=[-0.1, 0.2])
    write_record(working / "results/e/meta/c.json", record)
    return working


def export(system="tuned", seed=None, out="out"):
    found = exported(resolve(CONFIG, "c.yaml"), system, seed)
    export_model.export(found, CONFIG, export_model.Path(out))


def test_the_library_loads_the_folder_by_the_line_of_the_card(home):
    export()
    page = (home / "out/README.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1].replace("path/to/this/folder", "out")
    names = {}
    exec(code, names)
    assert names["queries"].shape == names["documents"].shape == (1, tiny_bert.WIDTH)
    saved = (home / RESULTS / "seed-1/model.safetensors").read_bytes()
    assert (home / "out/model.safetensors").read_bytes() == saved
    assert not list((home / "out").glob(".*"))


def test_the_library_loads_the_folder_by_the_line_of_the_documentation(home):
    export()
    page = (Path(__file__).parents[2] / "docs/models.md").read_text().split("## Use a trained checkpoint")[1]
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1].replace("tuned-insurance", "out"), names)
    assert names["similarity"].shape == (1, 1)
    loaders = dict(re.findall(r"^\| `(.*)` \| `(.*)\(", page, re.MULTILINE))
    assert loaders == {name: kind.LOADED_BY for name, kind in adapters().items() if kind.LOSSES}


def test_the_card_says_what_was_measured_and_how_it_was_made(home):
    export(seed="1")
    page = (home / "out/README.md").read_text()
    _, front, text = re.sub(" +\\|", " |", page).split("---\n", 2)  # columns are as wide as their widest cell
    about = yaml.safe_load(front)
    assert about["library_name"] == "sentence-transformers" and about["pipeline_tag"] == "sentence-similarity"
    assert about["language"] == ["de"]
    (result,) = about["model-index"][0]["results"]
    assert result["metrics"] == [{"type": "ndcg@10", "value": 0.5, "name": "nDCG@10"}]
    assert "| d | test | 3 | nDCG@10 | 0.5000 | [0.0000, 1.0000] |" in text  # cut where the measure ends
    assert (
        "| tuned | bm25 | mean difference in nDCG@10 | 2 | 0.0500 | 95% [0.0300, 0.0700] | [-0.1000, 0.2000] |" in text
    )
    assert "| d | training and evaluation | d (a local file or folder) | CC BY 4.0 \\| as stated |" in text
    assert "epochs: 3" in text and "steps 7, seconds 2.5, seed 1" in text and "`Q: ` before each query" in text
    assert re.search(r"`model.safetensors`: SHA-256 `[0-9a-f]{64}`", text) and "torch 2.0" in text


def test_no_secret_and_no_folder_of_this_machine_goes_out(home):
    export()
    for file in (home / "out").rglob("*"):
        assert file.is_dir() or str(home.parent).encode() not in file.read_bytes()
    assert json.loads((home / "out/config.json").read_text())["_name_or_path"] == "weights/m"
    (home / RESULTS / "seed-1/chat_template.jinja").write_text("login with hf_NobodyShallReadThis")
    with pytest.raises(UserError, match=r"chat_template\.jinja contains a secret of yours"):
        export(out="second")
    assert sorted(path.name for path in home.iterdir()) == ["data", "out", "results", "weights"]  # nothing half-written


def test_only_what_loading_reads_goes_out(home):
    checkpoint = home / RESULTS / "seed-1"
    export()
    of_library = {path.relative_to(home / "out") for path in (home / "out").rglob("*")}
    for name in (
        "evil.py",
        "optimizer.pt",
        "notes.txt",
        "README.md",
        "1_Pooling/modeling.py",
        "onnx/model.onnx",
        ".env",
    ):
        (checkpoint / name).parent.mkdir(exist_ok=True)
        (checkpoint / name).write_text("never")
    export(out="again")
    assert {path.relative_to(home / "again") for path in (home / "again").rglob("*")} == of_library
    assert "never" not in (home / "again/README.md").read_text()


@pytest.mark.parametrize("name", ["notes.txt", "vocab.txt", "2_More", "."])
def test_a_checkpoint_with_a_link_is_not_given_away(home, name):
    place = home / RESULTS / "seed-1" / name
    if place.exists():
        place.rename(home / "elsewhere")
    place.symlink_to(home / "elsewhere")
    with pytest.raises(UserError, match="is a link, which no training writes; nothing was exported"):
        export()
    assert not (home / "out").exists()


def test_code_in_a_checkpoint_is_refused(home):
    config = home / RESULTS / "seed-1/config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"auto_map": {"AutoModel": "evil.Model"}}))
    with pytest.raises(UserError, match=r"config\.json: refused, the model needs code"):
        export()
    assert not (home / "out").exists()


@pytest.mark.parametrize("out", ["results/e/models/m/r/seed-1/out", "results/e/out", "scripts/out"])
def test_it_does_not_go_into_the_workflow(home, out):
    with pytest.raises(UserError, match="is a folder of the workflow; give another OUT"):
        export(out=out)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("/home/ann/secret-project/d.zip", "d.zip (a local file or folder)"),
        ("https://${USER}:${PASS}@example.org/d.zip?token=${TOKEN}", "https://example.org/d.zip?token=***"),
        ("organisation/model", "organisation/model"),
        ("pypi:x==1.0", "pypi:x==1.0"),
        (None, "not stated"),
    ],
)
def test_a_place_as_others_see_it(location, said):
    assert public(location) == said


@pytest.mark.parametrize(
    ("system", "seed", "said"),
    [
        ("bm25", None, "bm25: has no trained checkpoint; expected a system with a recipe: tuned"),
        ("plain", None, "plain: has no trained checkpoint; expected a system with a recipe: tuned"),
        ("tnued", None, "SYSTEM=tnued: no such system (did you mean 'tuned'?); the experiment has bm25, tuned, plain"),
        ("tuned", "3", "tuned: has no seed '3'; expected SEED=1 or 2"),
        ("tuned", "2", "results/e/models/m/r/seed-2: no such result; make run finishes the experiment first"),
    ],
)
def test_what_cannot_go_out_is_one_line(home, system, seed, said):
    with pytest.raises(UserError) as error:
        export(system, seed)
    assert str(error.value) == said and not (home / "out").exists()


def test_an_entry_that_became_several_names_them(home):
    config = CONFIG | {"recipes": {"r": {"train_on": "d", "epochs": [1, 2]}}, "comparisons": {}}
    with pytest.raises(UserError, match="SYSTEM=tuned: became tuned-r-1, tuned-r-2; name one of them"):
        exported(resolve(config, "c.yaml"), "tuned", None)


def test_a_folder_that_is_there_and_an_adapter_apart_are_refused(home):
    (home / "out").symlink_to("nowhere")
    with pytest.raises(UserError, match="out: is a link"):
        export()
    (home / RESULTS / "seed-1/adapter").mkdir()
    with pytest.raises(
        UserError, match=r"its adapter is not merged into the weights; train with lora: \{merge: true\}"
    ):
        export(out="third")


def test_a_label_is_text_in_the_card(home, monkeypatch):
    monkeypatch.setitem(CONFIG["systems"]["tuned"], "label", "<script>x</script> ![y](http://z) *a*")
    monkeypatch.setitem(CONFIG["datasets"]["d"], "label", "<img> [y](http://z)")
    export(seed="1")
    text = (home / "out/README.md").read_text().split("---\n", 2)[2]
    assert "# \\<script>x\\</script> ![y\\](http://z) \\*a\\*, seed 1" in text and "| \\<img> [y\\](http://z) " in text


def test_an_interval_ends_where_the_measure_does():
    values = np.array([0.25, 0.5, 0.75])
    half = 4.302652729911275 * 0.25 / np.sqrt(3)  # Student's t with two degrees of freedom, by R's qt
    inside = mean_of(None, "DCG of others", values)
    assert (inside.low, inside.high) == pytest.approx((0, 0.5 + half)), "no value is below 0; the top is unknown"
    assert (mean_of(None, "nDCG@10", values).low, mean_of(None, "nDCG@10", values).high) == (0, 1)
    below = mean_of(None, "score", values - 0.5)
    assert (below.low, below.high) == pytest.approx((-half, half))


def test_one_query_has_no_interval():
    mean = mean_of(None, "AP", np.array([0.25]))
    assert (mean.value, mean.low, mean.high) == (0.25, None, None)
