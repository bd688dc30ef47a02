"""Out-of-fold scores: which re-rankers they are of, that they leak nothing, and what each mistake says in a line."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.leakage import learnt_from
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.systems import out_of_fold
from scripts.fusion import planning as fusion
from scripts.training import planning as examples
from tests.experiment.test_config import changed
from tests.experiment.test_leakage import BEIR, OTHER
from tests.support.one_line import each_is_one_line

FOLDS = {"train_on": "d", "folds": 3, "left_out_fold": [3, 1, 2]}
RERANK = {"first_stage": "bm25", "depth": 10}
SYSTEMS = {
    "bm25": {"type": "bm25"},
    "own": {"model": "m", "recipe": "all"},
    "ce": {"model": "ce", "rerank": RERANK, "recipe": "r"},
    "oof": {"type": "out-of-fold", "systems": ["ce"]},
}
RANKER = {"type": "learning-to-rank", "features": "f", "learner": "linear", "train_on": "d"}


def resolved(recipe=None, systems=None, recipes=None, of=("BM25", {"system": "oof"}), tasks=("d/train", "d")):
    config = {
        "datasets": {"d": BEIR, "e": OTHER, "d-again": BEIR},
        "recipes": {"r": FOLDS | (recipe or {}), "all": {"train_on": "d"}, **(recipes or {})},
        "systems": SYSTEMS | (systems or {}),
        "features": {"f": {"first_stage": "bm25", "of": list(of), "tasks": list(tasks)}},
    }
    return resolve(changed({**config, "tasks": ["d", "d/train", "d-again/train"], "comparisons": {}}), "c.yaml")


def test_each_fold_is_left_out_by_one_of_the_re_rankers_in_order():
    experiment = resolved()
    system = experiment.systems["oof"]
    members = out_of_fold.TYPE.takes(system)
    assert [experiment.recipes[experiment.systems[name].recipe].left_out_fold for name in members] == [1, 2, 3]
    assert "each training query of d by the one trained without its fold (of 3)" in describe(experiment, system)
    assert "without fold 2 of 3 of its queries" in describe(experiment, experiment.systems[members[1]])
    runs = [f"results/e/runs/d-train/{name}/seed-1.trec.gz" for name in members]
    assert fusion.runs_of_folds(experiment, "oof", "d-train") == runs
    reported = {"seed": experiment.seed, "depth": experiment.depth, "tag": "oof-0"}
    assert fusion.joining_settings(experiment, "oof", "d-train") == reported | {"are_training_queries": True}
    assert fusion.joining_settings(experiment, "oof", "d") == reported | {"are_training_queries": False}


def test_their_examples_differ_by_the_fold_alone():
    experiment = resolved()
    made = [examples.examples_name(experiment.recipes[f"r-{fold}"]) for fold in (1, 2)]
    assert [name.rpartition("_")[2] for name in made] == ["without-fold-1-of-3", "without-fold-2-of-3"]
    settings = [examples.settings_of(experiment, examples.examples_of(experiment, "d", name)) for name in made]
    assert settings[0] | {"left_out_fold": 2} == settings[1] and settings[0]["folds"] == 3


def test_the_score_is_a_feature_to_learn_from_and_that_of_a_single_fold_is_none():
    experiment = resolved(systems={"ranker": RANKER})
    assert learnt_from(experiment, "oof", "d") == set()
    assert learnt_from(experiment, "ce-r-1", "d") == {("d", "train")}
    assert learnt_from(experiment, "oof", "d-again") == {("d", "train")}  # there no query has its fold
    with pytest.raises(UserError, match=r"system.ce-r-1 on task d/train would leak labels"):
        resolved(of=[{"system": "ce-r-1"}])
    with pytest.raises(UserError, match=r"system.oof on task d-again/train would leak labels"):
        resolved(tasks=["d-again/train"])


MISTAKES = {
    "no systems": ({"systems": {"oof": {"type": "out-of-fold"}}}, "systems.oof: key 'systems' is missing"),
    "a fold is missing": ({"recipe": {"left_out_fold": [1, 2]}}, "systems.oof.systems: the folds 1, 2 are left out; expected each from 1 to 3 once"),
    "a fold of none": ({"recipe": {"folds": None}}, "recipes.r.left_out_fold (in r-3): only valid with folds"),
    "a fold too many": ({"recipe": {"left_out_fold": [1, 2, 4]}}, "recipes.r.left_out_fold (in r-4): 4 is above folds, 3"),
    "one fold": ({"recipe": {"folds": 1}}, "recipes.r.folds: 1 is too small"),
    "no re-ranker": ({"systems": {"oof": {"type": "out-of-fold", "systems": ["ce", "bm25"]}}}, "systems.oof.systems: bm25 does not re-rank"),
    "trained whole": ({"systems": {"whole": {"model": "ce", "rerank": RERANK, "recipe": "all"}, "oof": {"type": "out-of-fold", "systems": ["ce", "whole"]}}}, "whole is not trained by one recipe with folds"),
    "other depths": ({"systems": {"ce": {"model": "ce", "rerank": {"first_stage": "bm25", "depth": [10, 20]}, "recipe": "r"}}}, "differ in more than the fold that is left out"),
    "started from all": ({"recipe": {"start_from": "all"}}, "starts from all, which learnt from all folds of d; start from a training on other data"),
    "started from the same data": ({"recipe": {"start_from": "again"}, "recipes": {"again": {"train_on": "d-again"}}}, "which learnt from all folds of d-again"),
    "a first stage that knows": ({"systems": {"ce": {"model": "ce", "rerank": {"first_stage": "own", "depth": 10}, "recipe": "r"}}}, "their first stage own learnt from d/train"),
}  # fmt: skip


test_each_mistake_is_one_line = each_is_one_line(MISTAKES, lambda changes: resolved(**changes))


def test_a_training_on_other_data_may_come_before():
    experiment = resolved(recipe={"start_from": "other"}, recipes={"other": {"train_on": "e"}})
    assert learnt_from(experiment, "oof", "d") == {("e", "train")}


def test_published_weights_that_learnt_from_all_folds_are_refused():
    config = {
        "models": {"m": {"type": "bi-encoder", "weights": "org/m"},
                   "ce": {"type": "cross-encoder", "weights": "org/ce", "trained_on": ["d"]}},
        "datasets": {"d": BEIR}, "recipes": {"r": FOLDS}, "systems": {name: SYSTEMS[name] for name in ("bm25", "ce", "oof")},
    }  # fmt: skip
    said = "systems.oof.systems: the weights of ce were trained on d, and so on all folds"
    with pytest.raises(UserError, match=said):
        resolve(changed({**config, "tasks": ["d"], "comparisons": {}}), "c.yaml")
