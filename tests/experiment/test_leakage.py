"""What a system's runs have learnt from, through recipes, fusions and re-ranking; and what a feature may not leak."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.leakage import Leak, leaks, learnt_from
from tests.experiment.test_config import resolved

BEIR = {"format": "beir", "location": "tests"}
OTHER = {"format": "beir", "location": "scripts"}
SYSTEMS = {
    "bm25": {"type": "bm25"},
    "tuned-bm25": {"type": "bm25", "tune": True},
    "zero-shot": {"model": "m"},
    "own": {"model": "m", "recipe": "r"},
    "other": {"model": "m", "recipe": "elsewhere"},
    "both": {"model": "m", "recipe": "then-there"},
    "pseudo": {"model": "m", "recipe": "bm25-labels"},
    "reranked": {"model": "ce", "rerank": {"first_stage": "own", "depth": 10}, "recipe": "elsewhere"},
    "selected": {"model": "m", "recipe": "elsewhere", "seeds": 2, "select_seed": {"task": "e/dev"}},
    "fused": {"type": "fusion", "systems": ["bm25", "other"]},
    "fused-own": {"type": "fusion", "systems": ["bm25", "own"]},
    "fused-tuned": {"type": "fusion", "systems": ["bm25", "other"], "method": "weighted-sum", "tune": True},
    "each": {"model": "m", "recipe": {"each": {"d": "elsewhere", "e": "r"}}},
}
RECIPES = {
    "r": {"train_on": "d"},
    "elsewhere": {"train_on": "e"},
    "then-there": {"train_on": "e", "start_from": "r"},
    "bm25-labels": {"train_on": "d", "labels": "bm25"},
}


def experiment(of=(), tasks=("d", "d/train"), **features):
    config = {"datasets": {"d": BEIR, "e": OTHER, "d-again": BEIR}, "recipes": RECIPES, "systems": SYSTEMS}
    sets = {"f": {"first_stage": "bm25", "of": list(of), "tasks": list(tasks), **features}} if of else {}
    return resolved({**config, "tasks": ["d", "d/train", "e"], "comparisons": {}, "features": sets})


@pytest.mark.parametrize(
    ("system", "splits"),
    {
        "bm25": set(), "tuned-bm25": {("d", "dev")}, "zero-shot": set(), "own": {("d", "train")},
        "other": {("e", "train")}, "both": {("d", "train"), ("e", "train")}, "pseudo": {("d", "train")},
        "reranked": {("d", "train"), ("e", "train")}, "selected": {("e", "train"), ("e", "dev")},
        "fused": {("e", "train")}, "fused-own": {("d", "train")}, "fused-tuned": {("d", "dev"), ("e", "train")},
        "each": {("e", "train")},
    }.items(),
)  # fmt: skip
def test_what_a_system_learnt_from(system, splits):
    assert learnt_from(experiment(), system, "d") == splits


def test_a_system_trained_for_each_dataset_learnt_from_the_recipe_of_that_one():
    assert learnt_from(experiment(), "each", "e") == {("d", "train")}


@pytest.mark.parametrize("system", ["own", "both", "pseudo", "reranked", "fused-own"])
def test_a_feature_of_training_queries_comes_from_no_system_that_saw_them(system):
    with pytest.raises(UserError) as error:
        experiment(["BM25", {"system": system}])
    reported = f"c.yaml: features.f.of: system.{system} on task d/train would leak labels to a learner, since"
    assert str(error.value).startswith(reported) and "learnt from d/train; take a system that" in str(error.value)
    assert "\n" not in str(error.value)
    assert experiment([{"system": system}], tasks=["d"]).features["f"].tasks == ("d",)  # other queries


@pytest.mark.parametrize("system", ["tuned-bm25", "zero-shot", "other", "selected", "fused", "fused-tuned", "each"])
def test_any_other_system_is_a_feature_of_training_queries(system):
    planned = experiment([{"system": system}])
    assert leaks(planned, planned.features["f"], ("d", "train")) == []


def test_what_is_tuned_on_dev_leaks_there():
    planned = experiment([{"system": "tuned-bm25"}, {"system": "fused-tuned"}, {"system": "bm25"}])
    found = leaks(planned, planned.features["f"], ("d", "dev"))
    assert found == [
        Leak("system.tuned-bm25", "tuned-bm25", ("d", "dev")), Leak("system.fused-tuned", "fused-tuned", ("d", "dev")),
    ]  # fmt: skip


def test_the_first_stage_counts_where_its_score_or_rank_is_a_feature():
    assert experiment(["BM25"], first_stage="own").features["f"].first_stage == "own"
    for feature in ("first_stage_score", "first_stage_rank"):
        with pytest.raises(UserError, match=f"features.f.of: {feature} on task d/train would leak labels"):
            experiment([feature], first_stage="own")


def test_the_same_queries_under_another_name_are_the_same():
    planned = experiment([{"system": "own"}], tasks=["d"])
    leak = Leak("system.own", "own", ("d", "train"))
    assert leaks(planned, planned.features["f"], ("d-again", "train")) == [leak]
    assert leaks(planned, planned.features["f"], ("e", "train")) == []
