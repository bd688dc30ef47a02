"""Prompts by dataset: which job puts which, what a change of one runs again, and what pages say of them."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.system_types import system_type
from scripts.inference import planning as inference
from scripts.training import planning
from tests.experiment.test_config import resolved as of_base

PROMPTS = {"default": {"query": "q: ", "document": "p: "}, "d": {"query": "find: "}}
CHANGES = {
    "datasets": {
        "d": {"format": "beir", "location": "tests", "splits": {"dev": 0.1}},
        "other": {"format": "beir", "location": "docs"},
        "shared": {"format": "beir", "location": "scripts", "corpus": "other"},
    },
    "tasks": ["d", "d/dev", "other", "shared"],
    "models/m/prompts": PROMPTS,
    "models/ce/prompts": {"default": {"query": ""}, "other": {"query": "judge: "}},
    "recipes/both": {"train_on": [["d", "other"]]},
    "recipes/taught": {"train_on": "other", "teacher": "ce"},
    "systems/both": {"model": "m", "recipe": "both"},
    "systems/taught": {"model": "m", "recipe": "taught"},
    "systems/zero": {"model": "m"},
    "systems/ce": {"model": "ce", "rerank": {"first_stage": "bm25"}},
}


def resolved(**further):
    return of_base(CHANGES, **further)


def jobs(experiment):
    """The settings of jobs by what they make."""
    ranked = [("runs/" + task, name) for task in ("d", "d-dev", "other", "shared") for name in ("zero", "tuned", "ce")]
    ranked += [("negatives/other/x", "ce"), ("teachers/other/x", "ce"), ("teachers/d/x", "ce")]
    made = {place: inference.ranking_settings(experiment, *place, "1") for place in ranked}
    made |= {("encode", name): inference.encoding_settings(experiment, name, "m") for name in ("d", "other")}
    trained = ("r", "both", "taught")
    return made | {("train", name): planning.training_settings(experiment, "m", name, "1") for name in trained}


def test_each_job_puts_the_prompts_of_its_dataset():
    own, others = {"query": "find: ", "document": "p: "}, {"query": "q: ", "document": "p: "}
    put = {place: settings.get("prompts") for place, settings in jobs(resolved()).items()}
    for name in ("zero", "tuned"):
        assert put["runs/d", name] == put["runs/d-dev", name] == own
        assert put["runs/other", name] == put["runs/shared", name] == others
    assert put["encode", "d"] == put["encode", "other"] == {"document": "p: "}
    assert put["runs/d", "ce"] == {"query": ""} and put["runs/other", "ce"] == {"query": "judge: "}
    assert put["negatives/other/x", "ce"] == put["teachers/other/x", "ce"] == {"query": "judge: "}
    assert put["teachers/d/x", "ce"] == {"query": ""}
    assert (put["train", "r"], put["train", "taught"], put["train", "both"]) == (own, others, None)
    assert jobs(resolved())["train", "both"]["prompts_by_dataset"] == [own, others]


@pytest.mark.parametrize(
    ("further", "depends"),
    [
        ({"models__m__prompts": PROMPTS | {"d": {"query": "seek: "}}},
         {"runs/d zero", "runs/d tuned", "runs/d-dev zero", "runs/d-dev tuned", "train r", "train both"}),
        ({"models__m__prompts": PROMPTS | {"shared": {"query": "seek: "}}}, {"runs/shared zero", "runs/shared tuned"}),
        ({"models__m__prompts": PROMPTS | {"other": {"document": "a: "}}},
         {"encode other", "train both", "train taught",
          *(f"runs/{task} {name}" for task in ("other", "shared") for name in ("zero", "tuned"))}),
    ],
)  # fmt: skip
def test_a_changed_prompt_of_a_dataset_changes_the_jobs_that_put_it(further, depends):
    """Documents of a shared corpus have the prompt of the dataset whose they are."""
    before, after = jobs(resolved()), jobs(resolved(**further))
    assert {" ".join(place) for place in before if before[place] != after[place]} == depends


def test_a_template_places_the_instruction_of_each_dataset():
    template = {"query": "Instruct: {instruction}\nQuery:"}
    reported = {f"datasets__{name}__instruction": f"Find {name}" for name in ("d", "other", "shared")}
    put = {
        place: made.get("prompts") for place, made in jobs(resolved(models__m__prompts=template, **reported)).items()
    }
    assert put["runs/d", "zero"] == put["train", "r"] == {"query": "Instruct: Find d\nQuery:"}
    assert put["runs/shared", "zero"] == {"query": "Instruct: Find shared\nQuery:"} and put["encode", "d"] is None
    with pytest.raises(UserError, match=r"^c.yaml: datasets.shared.instruction: is placed by the query prompt of the"):
        resolved(models__m__prompts=template, **{key: reported[key] for key in list(reported)[:2]})
    spared = {"default": template, "shared": {"query": ""}}
    resolved(models__m__prompts=spared, **{key: reported[key] for key in list(reported)[:2]})


def test_pages_and_archives_say_which_dataset_has_which():
    experiment = resolved()
    zero = experiment.systems["zero"]
    words = 'query prompt "find: " on d, document prompt "p: " on d, other, shared, query prompt "q: " on other, shared'
    assert words in describe(experiment, zero)
    reported = system_type(zero).provenance(experiment, zero)["prompts"]
    assert reported["d"] == {"query": "find: ", "document": "p: "} and reported["shared"] == {
        "query": "q: ",
        "document": "p: ",
    }


def test_a_shared_corpus_has_no_prompt_of_its_own():
    problem = r"models.m.prompts.shared.document: its documents are those of other; give the prompt to that"
    with pytest.raises(UserError, match=problem):
        resolved(models__m__prompts=PROMPTS | {"shared": {"document": "a: "}})
