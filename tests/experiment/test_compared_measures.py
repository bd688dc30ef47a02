"""A comparison whose tasks have measures of their own: what jobs are given, and what cannot be combined."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.exhibits import forest
from ranktrial.experiment.resolution import resolve
from scripts.synthesis import planning
from tests.support.configuration import changed
from tests.support.one_line import refused

BASE = {
    "experiment": "e",
    "datasets": {"rte": {"format": "scores", "measure": "accuracy"}, "cola": {"format": "scores", "measure": "MCC"},
                 "sts": {"format": "scores", "measure": "error"}},
    "systems": {"x": {"type": "external", "column": ["a", "b"],
                      "scores": {"rte": "rte.csv", "cola": "cola.csv", "sts": "sts.csv"}}},
    "tasks": ["rte", "cola", "sts"],
    "comparisons": {"c": {"control": "x-a", "treatment": "x-b", "effect": "SMD", "tasks": ["rte", "cola"],
                          "measure_on": {"rte": "accuracy", "cola": "MCC"}}},
}  # fmt: skip
COMPARISON = "comparisons/c/"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rte", "cola", "sts"):
        (tmp_path / f"{name}.csv").write_text(f"id,a,b\n{name},0.5,1\n")


def test_jobs_are_given_the_measure_of_each_task_and_a_name_of_them_all():
    experiment = resolve(BASE, "c.yaml")
    settings = planning.comparison_settings(experiment, "c")
    assert settings["measure_on"] == {"rte": "accuracy", "cola": "MCC"} and settings["measure"] == "accuracy and MCC"
    assert planning.query_settings(experiment, "c")["measure_on"] == settings["measure_on"]
    assert experiment.study.plans == {}  # a design is planned for one measure


def test_a_measure_for_all_tasks_but_some_and_one_that_is_the_same_for_all():
    most = changed(BASE, {COMPARISON + "measure": "MCC", COMPARISON + "measure_on": {"rte": "accuracy"}})
    assert resolve(most, "c.yaml").comparisons["c"].measure_on == {"rte": "accuracy", "cola": "MCC"}
    alike = changed(most, {"datasets/cola/measure": "accuracy", COMPARISON + "measure": "accuracy"})
    assert resolve(alike, "c.yaml").comparisons["c"].measure_on == {}


def test_lower_values_are_better_of_all_measures_or_of_none():
    lower = changed(BASE, {"lower_is_better": ["accuracy", "MCC"]})
    assert forest.known(resolve(lower, "c.yaml"), "c")["lower_is_better"] == ["accuracy and MCC"]
    assert planning.query_settings(resolve(lower, "c.yaml"), "c")["lower_is_better"]
    assert forest.known(resolve(BASE, "c.yaml"), "c")["lower_is_better"] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"effect": "MD"}, "measure_on: effect MD is in units of the measure, and these are accuracy, MCC"),
        ({"measure_on": {"rte": "F1", "cola": "MCC"}}, "measure_on.rte: 'F1' is not among the measures of task 'rte'"),
        ({"measure_on": {"sts": "error"}}, "measure_on: 'sts' is not among the tasks of the comparison"),
        ({"measure_on": {"rtf": "error"}}, "measure_on: 'rtf' is not among the tasks of the comparison"),
        ({"margin": 0.1}, "measure_on: a margin is a difference in one measure"),
        ({"figure": {"queries": True}}, "measure_on: figure.queries shows differences in one measure"),
        ({"tasks": ["rte", "sts"], "measure_on": {"rte": "accuracy", "sts": "error"}},
         "measure_on: a lower value is better for error, but not for all of accuracy, error"),
    ],
)  # fmt: skip
def test_what_cannot_be_combined_is_refused(changes, said):
    config = changed(BASE, {COMPARISON + key: value for key, value in changes.items()} | {"lower_is_better": ["error"]})
    with refused(f"c.yaml: comparisons.c.{said}"):
        resolve(config, "c.yaml")


def test_a_study_is_not_planned_from_several_measures():
    with pytest.raises(UserError, match=r"plan_study.comparisons: c has a measure per task \(measure_on\)"):
        resolve(changed(BASE, {"plan_study": {"comparisons": ["c"]}}), "c.yaml")


def test_two_systems_of_one_column_are_one():
    config = changed(BASE, {"systems/y": BASE["systems"]["x"] | {"column": "a"}, COMPARISON + "treatment": "y"})
    with pytest.raises(UserError, match="control and treatment have the same file for each task: rte, cola"):
        resolve(config, "c.yaml")


def test_a_column_is_one_of_scores():
    runs = {"type": "external", "runs": {"d": "rte.csv"}, "column": "a"}
    config = {"experiment": "e", "datasets": {"d": {"format": "qrels", "location": "rte.csv"}}, "tasks": ["d"],
              "systems": {"y": runs}}  # fmt: skip
    with pytest.raises(UserError, match=r"systems\.y\.column: only valid with scores"):
        resolve(config, "c.yaml")


def test_a_column_that_a_file_lacks_is_named_before_anything_runs():
    config = changed(BASE, {"systems/x/column": ["a", "c"]})
    with pytest.raises(UserError) as error:
        resolve(config, "c.yaml")
    assert (
        str(error.value)
        == "c.yaml: systems.x.column (in x-c): rte.csv:1: no column 'c'; the columns of values are a, b"
    )


def test_the_default_is_the_first_measure_of_all_or_of_each_task():
    each = resolve(changed(BASE, {COMPARISON + "measure_on": {"rte": "accuracy"}}), "c.yaml")
    assert each.comparisons["c"].measure_on == {"rte": "accuracy", "cola": "MCC"}
