"""What a change reruns, by dry runs on the finished experiment: what depends on it and nothing else."""

import copy
import os

import pytest
import yaml

from tests.workflow.conftest import tiny_config

TABLES = {"means", "comparisons_table", "costs", "summary"}


def follow(system, seeds, model, recipe):
    """The jobs from a checkpoint to the metrics of a bi-encoder system."""
    jobs = set()
    for seed in seeds:
        jobs |= {
            f"encode dataset=weather,model={model},recipe={recipe},seed={seed}",
            f"retrieve task=weather,system={system},seed={seed}",
            f"score task=weather,system={system},seed={seed}",
        }
    return jobs


def named(jobs, rule):
    return {job for job in jobs if job.split()[0] == rule}


def test_a_learning_rate_reruns_its_recipe_and_what_follows(again):
    config = tiny_config()
    config["recipes"]["hard"]["learning_rate"] = 0.0005
    again.write_config(config)
    assert again.planned() == {
        *(f"fine_tune model=bert,recipe=hard,seed={seed}" for seed in (1, 2)),
        *follow("hard", (1, 2), "bert", "hard"),
        "compare comparison=hard-helps",
        "forest comparison=hard-helps",
        *TABLES,
    }


def test_reordered_keys_rerun_nothing(again):
    def reordered(value):
        return {k: reordered(v) for k, v in reversed(value.items())} if isinstance(value, dict) else value

    # sections whose order is the order of the report (systems, comparisons) are reordered inside
    config = {key: value for key, value in reversed(tiny_config().items())}
    for section in ("datasets", "models", "recipes", "systems", "comparisons"):
        config[section] = {name: reordered(entry) for name, entry in config[section].items()}
    again.write_config(config)
    assert again.planned() == set()


def test_touched_sources_rerun_nothing(again):
    for path in (again.folder / "scripts").rglob("*.py"):
        os.utime(path)
    for path in (again.folder / "rules").iterdir():
        os.utime(path)
    assert again.planned() == set()


def edit(workspace, path):
    with open(workspace.folder / path, "a") as file:
        file.write("\n# edited\n")


def test_an_edited_scoring_script_reruns_metrics_and_what_follows_only(again):
    edit(again, "scripts/evaluation/score.py")
    planned = again.planned()
    assert named(planned, "score") == {
        f"score task=weather,system={system},seed={seed}"
        for system, seed in [
            ("bm25", 0),
            ("plain", 0),
            ("zero-shot", 0),
            ("hard", 1),
            ("hard", 2),
            ("random", 1),
            ("reranker", 1),
            ("theirs", 0),
        ]
    }
    assert {job.split()[0] for job in planned} == {
        "score",
        "compare",
        "forest",
        "means",
        "comparisons_table",
        "summary",
    }


def test_an_edited_helper_of_the_measures_reruns_no_training_and_no_encoding(again):
    edit(again, "scripts/common/measures.py")
    rules = {job.split()[0] for job in again.planned()}
    assert {"score", "tune"} <= rules
    assert not rules & {"prepare", "index", "negatives", "fine_tune", "encode", "retrieve"}


def test_an_edited_helper_of_the_negatives_reruns_training(again):
    edit(again, "scripts/training/negatives.py")
    planned = again.planned()
    assert len(named(planned, "negatives")) == 2 and len(named(planned, "fine_tune")) == 4
    assert not named(planned, "prepare") and "score task=weather,system=bm25,seed=0" not in planned


def test_a_new_system_adds_its_own_jobs_only(again):
    config = tiny_config()
    config["systems"]["low"] = {"type": "bm25", "k1": 0.5, "b": 0.4}
    again.write_config(config)
    planned = again.planned()
    assert planned == {
        "search task=weather,system=low",
        "score task=weather,system=low,seed=0",
        "means",
        "costs",
        "summary",
    }


def test_a_figures_title_redraws_only_that_figure(again):
    config = tiny_config()
    config["comparisons"]["hard-helps"]["figure"] = {"title": "A better title"}
    again.write_config(config)
    assert again.planned() == {"forest comparison=hard-helps"}


def test_swapped_numbers_count_as_a_change(again):
    """Snakemake compares params as a set of values; k1 and b swapped must not look the same."""
    config = tiny_config()
    config["systems"]["plain"] = {"type": "bm25", "k1": 0.4, "b": 0.9}
    again.write_config(config)
    assert "search task=weather,system=plain" in again.planned()


def test_a_changed_document_reruns_from_the_dataset_on(again):
    corpus = again.folder / "data/weather/corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("word1 ", "word2 "))
    planned = again.planned()
    assert named(planned, "prepare") and len(named(planned, "encode")) == 4 and not named(planned, "weights")


@pytest.mark.parametrize("changes", [{"alpha": 0.01}, {"interval": "normal"}, {"ddof": 0}])
def test_statistics_settings_rerun_the_comparison_only(again, changes):
    config = copy.deepcopy(tiny_config())
    config["comparisons"]["hard-helps"] |= changes
    again.write_config(config)
    assert again.planned() <= {
        "compare comparison=hard-helps",
        "forest comparison=hard-helps",
        "comparisons_table",
        "summary",
    }
    assert "compare comparison=hard-helps" in again.planned()


def test_the_examples_configuration_of_these_tests_is_what_is_written(prepared):
    assert yaml.safe_load((prepared.folder / "tiny.yaml").read_text()) == tiny_config()
