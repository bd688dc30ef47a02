"""What the jobs of training are given, on a small experiment."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import stated
from ranktrial.training import tracking
from scripts.training import planning
from scripts.training.fine_tune import fine_tune
from scripts.training.planning import examples_name
from tests.experiment.test_config import resolved
from tests.support.sources import our_sources

ROOT = Path(__file__).parents[2]
EXPERIMENT = resolved(
    {
        "recipes": {
            "first": {"train_on": "d", "negatives": {"from": "random"}},
            "more": {"train_on": "d", "negatives": {"from": "random"}, "start_from": "first", "epochs": 2},
            "pseudo": {"train_on": "d", "labels": "bm25", "long_documents": "passages", "passage_length": 99},
        },
        "systems/tuned/recipe": "more",
    }
)


def test_where_trainings_are_logged_is_no_setting_and_a_program_that_is_not_installed_is_a_mistake(monkeypatch):
    logged = replace(EXPERIMENT, report_to="mlflow")
    of_both = [planning.training_settings(experiment, "m", "more", "1") for experiment in (EXPERIMENT, logged)]
    assert of_both[0] == of_both[1]
    monkeypatch.setenv(tracking.REPORT_TO, "no_such_program")
    with pytest.raises(UserError, match=r"^report_to: no_such_program is not installed"):
        fine_tune(*[[]] * 3, Path("start"), *[[]] * 4, *map(Path, ("model", "timing", "log")), None)


def test_a_key_of_the_trainer_is_declared_once_and_read_once():
    scripts = {path: path.read_text() for path in our_sources()}
    for key in ("weight_decay", "warmup"):
        named = {path.relative_to(ROOT).as_posix() for path, text in scripts.items() if re.search(rf"\b{key}\b", text)}
        assert named == {"ranktrial/models/training_keys.py", "ranktrial/training/trainer.py"}


def test_recipes_with_the_same_examples_share_them():
    first, more, pseudo = (
        planning.training_inputs(EXPERIMENT, "m", name, "1")["negatives"][0] for name in ("first", "more", "pseudo")
    )
    assert first == more != pseudo and first.startswith("results/e/negatives/d/human-labels_")
    examples = examples_name(EXPERIMENT.recipes["more"])
    negatives = stated(EXPERIMENT.recipes["first"].negatives)
    assert negatives.pop("draw") == "once"  # which decides on the jobs of training, not on the examples
    assert planning.examples_settings(EXPERIMENT, "d", examples) == {
        **negatives, "labels": "human", "positives": "all", "among_candidates": False, "queries": "all",
        "seed": EXPERIMENT.seed,
    }  # fmt: skip


def test_bm25s_run_is_read_where_labels_or_negatives_come_from_it():
    names = {name: examples_name(recipe) for name, recipe in EXPERIMENT.recipes.items()}
    assert planning.examples_inputs(EXPERIMENT, "d", names["first"])["first_stage"] == []
    assert planning.examples_inputs(EXPERIMENT, "d", names["pseudo"])["first_stage"] == "results/e/bm25/d/train.trec.gz"


def test_documents_of_dev_and_test_are_no_negatives_unless_the_recipe_allows_it():
    excluded = EXPERIMENT.recipes["first"].negatives.exclude_evaluation
    read = planning.examples_inputs(EXPERIMENT, "d", examples_name(EXPERIMENT.recipes["first"]))["evaluation_qrels"]
    assert excluded and read == ["results/e/data/d/qrels/dev.qrels", "results/e/data/d/qrels/test.qrels"]


def test_a_recipe_starts_from_the_same_seed_of_another_or_from_the_models_own_weights():
    assert planning.training_inputs(EXPERIMENT, "m", "more", "2")["start"] == "results/e/models/m/first/seed-2"
    assert planning.training_inputs(EXPERIMENT, "m", "first", "2")["start"] == "results/e/models/m/untrained/seed-0"


def test_a_recipe_that_splits_learns_from_passages():
    assert planning.training_inputs(EXPERIMENT, "m", "first", "1")["corpus"] == ["results/e/data/d/corpus.jsonl"]
    assert planning.training_inputs(EXPERIMENT, "m", "pseudo", "1")["corpus"] == [
        "results/e/passages/d/99/corpus.jsonl"
    ]
    assert planning.training_inputs(EXPERIMENT, "m", "pseudo", "1")["queries"] == [
        "results/e/passages/d/99/queries/train.jsonl"
    ]
    settings = [planning.training_settings(EXPERIMENT, "m", name, "3") for name in ("first", "pseudo")]
    assert "long_documents" not in settings[0] and settings[1]["long_documents"] == "passages"
    assert settings[0]["seed"] == 3 and settings[0]["type"] == "bi-encoder"


def test_a_training_asks_for_the_gpus_of_its_recipe_and_for_none_where_all_runs_on_processors():
    """Slurm gives a job without GPUs as many nodes as it has tasks at most."""
    recipes = {"one": {"train_on": "d"}, "eight": {"train_on": "d", "gpus": 4, "nodes": 2}}
    for device, expected in (("auto", [(1, 1, None), (4, 2, None)]), ("cpu", [(0, 1, 1), (0, 2, 2)])):
        changes = {"recipes": recipes, "systems/tuned/recipe": "eight", "device": device}
        experiment = resolved(changes)
        asked = [
            (of(experiment, "one"), of(experiment, "eight")) for of in (planning.gpus, planning.nodes, planning.tasks)
        ]
        assert list(zip(*asked, strict=True)) == expected
