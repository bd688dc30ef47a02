"""What the jobs of synthesis are given, on a small experiment."""

from ranktrial.common.settings import read_settings
from scripts.synthesis import planning
from scripts.synthesis.moderate import Settings
from tests.experiment.test_config import resolved


def test_both_systems_are_read_with_all_their_seeds_on_the_tasks_of_the_comparison():
    experiment = resolved({"tasks": ["d", "d/dev"]})
    read = planning.comparison_inputs(experiment, "c")
    assert read["control"] == ["results/e/metrics/d/bm25/seed-0.tsv", "results/e/metrics/d-dev/bm25/seed-0.tsv"]
    assert len(read["treatment"]) == 4
    settings = planning.comparison_settings(experiment, "c")
    assert (settings["control"], settings["treatment"]) == ("bm25", "tuned") and "treatment_on" not in settings
    assert settings["effect"] == experiment.comparisons["c"].statistics.effect


def test_letters_are_reported_where_a_lower_value_is_better():
    families = {"all": {"systems": "all", "measure": "RR@10"}}
    changes = {"tasks": ["d"], "lower_is_better": ["RR@10"], "multiple_comparisons": families}
    assert planning.family_settings(resolved(changes), "all")["lower_is_better"] is True
    assert "lower_is_better" not in planning.family_settings(resolved(changes | {"lower_is_better": []}), "all")


def test_a_treatment_on_other_tasks_is_read_there():
    changes = {
        "datasets/images": {"format": "beir", "location": "tests", "corpus": "d"},
        "tasks": ["d", "images"],
        "comparisons/c": {"control": "bm25", "treatment": "bm25", "tasks": ["d"], "treatment_on": {"d": "images"}},
    }
    experiment = resolved(changes)
    read = planning.comparison_inputs(experiment, "c")
    assert read["control"] == ["results/e/metrics/d/bm25/seed-0.tsv"]
    assert read["treatment"] == ["results/e/metrics/images/bm25/seed-0.tsv"]
    settings = planning.comparison_settings(experiment, "c")
    assert settings["treatment"] == "bm25 on images" and settings["treatment_on"] == {"d": "images"}


def test_moderators_are_given_the_facts_that_they_need_and_where_each_task_comes_from(tmp_path):
    table = tmp_path / "years.tsv"
    table.write_text("task\tyear\nd\t2019\nscripts\t2020\nrules\t2021\ndocs/dev\t2022\n")
    own = {"file": str(table), "column": "year"}
    changes = {
        **{f"datasets/{name}": {"format": "beir", "location": name} for name in ("scripts", "rules", "docs")},
        "recipes/r/start_from": "first",
        "recipes/first": {"train_on": "rules"},
        "tasks": ["d", "scripts", "rules", "docs/dev"],
        "comparisons/c/moderators": ["trained", own],
    }
    experiment = resolved(changes)
    needed = planning.moderation_inputs(experiment, "c")
    assert needed["statistics"] == [] == needed["qrels"]
    settings = planning.moderation_settings(experiment, "c")
    assert settings["tasks"] == {
        "d": {"dataset": "d", "split": "test", "trained": True},
        "scripts": {"dataset": "scripts", "split": "test"},
        "rules": {"dataset": "rules", "split": "test", "trained": True},
        "docs-dev": {"dataset": "docs", "split": "dev"},
    }
    years = {"d": 2019.0, "scripts": 2020.0, "rules": 2021.0, "docs-dev": 2022.0}
    assert settings["moderators"] == [
        {"name": "trained", "label": "Training"}, {"name": "year", "label": "year", "values": years},
    ]  # fmt: skip
    read_settings(Settings, settings)
    of_documents = {"comparisons/c/moderators": ["corpus-size"], "comparisons/c/subgroups": "trained"}
    experiment = resolved(changes | of_documents)
    needed = planning.moderation_inputs(experiment, "c")
    assert needed["statistics"][1] == "results/e/data/scripts/statistics.json" and needed["qrels"] == []
    read_settings(Settings, planning.moderation_settings(experiment, "c"))
    experiment = resolved(changes | {"comparisons/c/moderators": ["one-gold-document"]})
    needed = planning.moderation_inputs(experiment, "c")
    assert needed["qrels"][3] == "results/e/data/docs/qrels/dev.qrels" and needed["statistics"] == []
