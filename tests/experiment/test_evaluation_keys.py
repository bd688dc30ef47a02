"""Recipes that are evaluated on dev while they are trained: what their jobs are given, and mistakes."""

from functools import partial
from pathlib import Path

import pytest
import yaml

from ranktrial.common import job_code
from ranktrial.experiment.leakage import learnt_from
from scripts.training.planning import code_of_evaluation, training_inputs, training_settings
from tests.configuration.test_reading import refused
from tests.experiment.test_config import resolved

EVERY = {"evaluate": {"measure": "RR@10", "every": 50, "candidates": 20}, "load_best_model_at_end": True,
         "early_stopping_patience": 3, "early_stopping_threshold": 0.001}  # fmt: skip


def of_dev(planned):
    """The inputs of a training by which it is evaluated."""
    return {name: files for name, files in training_inputs(planned, "m", "r", "1").items() if name.startswith("dev_")}


def experiment(recipe, **further):
    return resolved({"recipes/r": {"train_on": "d"} | recipe, **further})


def test_jobs_are_given_the_dev_queries_and_how_the_model_is_evaluated():
    reported = experiment(EVERY)
    assert of_dev(reported) == {
        "dev_run": ["results/e/bm25/d/dev.trec.gz"],
        "dev_queries": ["results/e/data/d/queries/dev.jsonl"],
        "dev_qrels": ["results/e/data/d/qrels/dev.qrels"],
    }
    settings = training_settings(reported, "m", "r", "1")
    how = {"measure": "RR@10", "every": 50, "candidates": 20, "batch_size": reported.models["m"].batch_size}
    assert {key: settings[key] for key in EVERY} == EVERY | {"evaluate": how}
    split = experiment(EVERY | {"long_documents": "passages", "passage_length": 99})
    assert of_dev(split)["dev_queries"] == ["results/e/passages/d/99/queries/dev.jsonl"]


def test_defaults_change_no_job():
    plain, said = experiment({}), experiment({"load_best_model_at_end": False, "early_stopping_patience": None})
    assert training_settings(plain, "m", "r", "1") == training_settings(said, "m", "r", "1")
    assert not set(training_settings(plain, "m", "r", "1")) & set(EVERY)
    assert set(map(str, of_dev(plain).values())) == {"[]"}
    settings = training_settings(experiment({"evaluate": {}}), "m", "r", "1")
    assert settings["evaluate"] == {"batch_size": 32}


def test_only_a_training_that_is_evaluated_depends_on_the_code_of_measures():
    modules = {
        name: job_code.behind("training/fine_tune.py", *code_of_evaluation(experiment(recipe), "r"))
        for name, recipe in {"evaluated": EVERY, "plain": {}}.items()
    }
    assert set(modules["evaluated"]) - set(modules["plain"]) >= {
        "ranktrial/ir/measures.py",
        "ranktrial/training/dev_evaluation.py",
    }
    assert set(modules["plain"]) < set(modules["evaluated"])


def test_what_dev_decided_has_learnt_from_it():
    assert learnt_from(experiment({"evaluate": {}}), "tuned", "d") == {("d", "train")}
    assert learnt_from(experiment(EVERY), "tuned", "d") == {("d", "train"), ("d", "dev")}


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"load_best_model_at_end": True}, "recipes.r.load_best_model_at_end: only valid with evaluate"),
        ({"early_stopping_patience": 2}, "recipes.r.early_stopping_patience: only valid with evaluate"),
        (
            {"evaluate": {}, "early_stopping_threshold": 0.1},
            "recipes.r.early_stopping_threshold: only valid with early_stopping_patience",
        ),
        ({"evaluate": {"measure": "nDGC@10"}}, "recipes.r.evaluate.measure: "),
        ({"evaluate": {"candidates": 201}}, "recipes.r.evaluate.candidates: 201 is too large"),
        ({"evaluate": {"every": 0}}, "recipes.r.evaluate.every"),
        ({"evaluate": None}, "recipes.r.evaluate"),
    ],
)
def test_mistakes_are_one_line(recipe, said):
    assert said in refused(experiment, recipe)


def test_a_dataset_without_dev_queries_is_reported_before_anything_runs():
    without = {"datasets/d": {"format": "trec", "location": "tests", "qrels": {"train": "a", "test": "b"},
                              "topics": {"train": "c", "test": "d"}, "documents": ["e"]}}  # fmt: skip
    message = refused(partial(experiment, **without), {"evaluate": {}})
    assert "recipes.r.evaluate: d has no judgements for the split dev; its splits are " in message


def test_what_cannot_decide_is_refused():
    two = {"datasets/e": {"format": "beir", "location": "tests"}, "recipes/r/train_on": [["d", "e"]]}
    assert "recipes.r.evaluate: only valid with one dataset in train_on" in refused(
        partial(experiment, **two), {"evaluate": {}}
    )
    lower = {"measures": ["nDCG@10", "RR"], "lower_is_better": ["RR"]}
    said = "a lower value of RR is better, but the highest would be chosen; name another"
    assert f"recipes.r.evaluate.measure: {said}" in refused(
        partial(experiment, **lower), {"evaluate": {"measure": "RR"}}
    )
    choosing = {"choose": {"measure": "RR"}, "epochs": [1, 2]}
    assert f"recipes.r.choose.measure: {said}" in refused(partial(experiment, **lower), choosing)


def test_the_examples_of_the_documentation_are_right():
    text = Path("docs/training.md").read_text()
    block = text.split("## Evaluation on dev", 1)[1].split("```yaml\n", 1)[1].split("```", 1)[0]
    recipes = yaml.safe_load(block)["recipes"]
    assert resolved({"recipes/r": recipes["stopping"] | {"train_on": "d"}}).recipes["r"].evaluate
