"""What the jobs of synthesis are given, on a small experiment."""

from scripts.experiment.resolution import resolve
from scripts.synthesis import planning
from tests.experiment.test_config import changed


def test_both_systems_are_read_with_all_their_seeds_on_the_tasks_of_the_comparison():
    experiment = resolve(changed({"tasks": ["d", "d/dev"]}), "c.yaml")
    assert planning.control_metrics(experiment, "c") == [
        "results/e/metrics/d/bm25/seed-0.tsv",
        "results/e/metrics/d-dev/bm25/seed-0.tsv",
    ]
    assert len(planning.treatment_metrics(experiment, "c")) == 4
    settings = planning.comparison_settings(experiment, "c")
    assert (settings["control"], settings["treatment"]) == ("bm25", "tuned") and "treatment_on" not in settings
    assert settings["effect"] == experiment.comparisons["c"].settings["effect"]


def test_a_treatment_on_other_tasks_is_read_there():
    changes = {
        "datasets/images": {"format": "beir", "location": "tests", "corpus": "d"},
        "tasks": ["d", "images"],
        "comparisons/c": {"control": "bm25", "treatment": "bm25", "tasks": ["d"], "treatment_on": {"d": "images"}},
    }
    experiment = resolve(changed(changes), "c.yaml")
    assert planning.control_metrics(experiment, "c") == ["results/e/metrics/d/bm25/seed-0.tsv"]
    assert planning.treatment_metrics(experiment, "c") == ["results/e/metrics/images/bm25/seed-0.tsv"]
    settings = planning.comparison_settings(experiment, "c")
    assert settings["treatment"] == "bm25 on images" and settings["treatment_on"] == {"d": "images"}
