"""Matrices and curves of a study of transfer: which system is which cell or point, and mistakes of one line."""

from dataclasses import replace

import pytest

from ranktrial.common.errors import UserError
from ranktrial.configuration.checker import Checker
from ranktrial.experiment.exhibits import curves as exhibit
from ranktrial.experiment.records import Task
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.synthesis_records import Curves
from ranktrial.experiment.trainings import Stage, called, chain
from scripts.reports import planning as shown
from scripts.reports.sections.trainings import sizes
from scripts.synthesis import planning
from tests.experiment.test_transfer import STUDY, here  # noqa: F401 (fixture)
from tests.support.configuration import changed
from tests.support.one_line import refused

MATRIX = {
    "zero_shot": "transfer",
    "full_shot": "few",
    "baseline": "bm25",
    "pseudo_labels": "pseudo",
    "measure": "RR@100",
}
CURVES = {"systems": "few", "baseline": "bm25", "measure": "RR@100"}
BASE = changed(STUDY, {"matrices": {"table": MATRIX}, "curves": {"few": CURVES}, "comparisons": {}})


def study(changes=None):
    return resolve(changed(BASE, changes or {}), "c.yaml")


def test_a_chain_is_what_a_recipe_learns_from():
    recipes = study().recipes
    pseudo, full = Stage("ir", "bm25", "all"), Stage("common", "human", "all")
    assert chain(recipes, "few-ir-pseudo-32") == (pseudo, Stage("ir", "human", 32))
    assert chain(recipes, "untrained") == ()
    assert called((), "ir") == "scratch"
    assert called((pseudo,), "ir") == "pseudo-labels" and called((pseudo,), "common") == "pseudo-labels of ir"
    assert called((pseudo, full), "ir", {"common": "C"}) == "pseudo-labels, then C"
    assert called((Stage("common", "human", 64),), "ir") == "common (64 queries)"


def test_the_cells_follow_from_what_systems_learnt():
    matrix = study().matrices["table"]
    cells = {(cell.row, cell.target, cell.shot): cell.system for cell in matrix.cells}
    assert list(matrix.rows) == ["models", "ir", "common", "bm25", "pseudo-labels"]
    assert cells["models", "ir", "zero"] == "transfer-full-models"
    assert cells["models", "ir", "full"] == "few-full-models-all"
    assert ("ir", "ir", "zero") not in cells  # on the diagonal nothing is transferred
    assert cells["ir", "ir", "full"] == "few-scratch-all"  # from scratch
    assert cells["pseudo-labels", "ir", "zero"] == "pseudo" and cells["pseudo-labels", "ir", "full"] == "few-pseudo-all"
    assert cells["bm25", "ir", "zero"] == "bm25" and ("bm25", "ir", "full") not in cells
    assert len(cells) == 3 * 2 + 3 * 3 + 3 + 2 * 3
    assert (matrix.alpha, matrix.measure) == (0.01, "RR@100")


def test_a_source_that_was_not_trained_further_and_the_diagonal_of_transfer():
    cells = study({"matrices/table/full_shot": ...}).matrices["table"].cells
    full = {(cell.row, cell.target): cell.system for cell in cells if cell.shot == "full"}
    assert full == {(name, name): f"transfer-full-{name}" for name in STUDY["tasks"]}


def test_the_points_follow_from_what_systems_learnt():
    curves = study().curves["few"]
    points = {(point.start, point.queries): point.system for point in curves.points if point.target == "ir"}
    assert points == {
        ("scratch", 0): "zero-shot", ("scratch", 32): "few-scratch-32", ("scratch", "all"): "few-scratch-all",
        ("pseudo-labels", 0): "pseudo", ("pseudo-labels", 32): "few-pseudo-32",
        ("pseudo-labels", "all"): "few-pseudo-all",
        ("models", 0): "transfer-full-models", ("models", 32): "few-full-models-32",
        ("models", "all"): "few-full-models-all",
        ("common", 0): "transfer-full-common", ("common", 32): "few-full-common-32",
        ("common", "all"): "few-full-common-all",
    }  # fmt: skip
    assert list(curves.starts.values()) == ["from scratch", "pseudo-labels", "models", "ir", "common"]


def test_a_starting_point_that_no_system_ranks_with_has_no_point():
    points = study({"systems/zero-shot": ...}).curves["few"].points
    assert not [point for point in points if (point.start, point.queries) == ("scratch", 0)]


def test_figures_are_named_by_targets_and_by_curves_where_there_are_several():
    one, two = study(), study({"curves/again": CURVES | {"tasks": ["ir", "common"]}})
    assert list(exhibit.names(one)) == ["curves-models", "curves-ir", "curves-common", "curves-all"]
    names = list(exhibit.names(two))
    assert names[0] == "curves-few-models" and names[-1] == "curves-again-all"


def test_the_report_draws_no_system_of_curves_again():
    lone = {"train_on": "ir", "queries": [16, 64], "epochs": 2}
    both = study({"recipes/lone": lone, "systems/lone": {"model": "m", "recipe": "lone"}})
    assert [list(group["systems"]) for group in sizes(both)] == [["lone-lone-16", "lone-lone-64"]]
    drawn = study(
        {"recipes/lone": lone, "systems/lone": {"model": "m", "recipe": "lone"}, "curves/few/systems": "lone"}
    )
    assert sizes(drawn) == []


def test_what_the_jobs_are_given():
    experiment = study()
    settings = planning.curves_settings(experiment, "few")
    whole = next(point for point in settings["points"] if point["system"] == "few-scratch-all")
    assert whole["checkpoint"] == "m/full-models"  # that of the equal training
    timings = planning.curves_timings(experiment, "few")
    assert "results/e/models/m/full-models/seed-2.timing.json" in timings
    assert not [file for file in timings if "-32/" in file]
    metrics = planning.matrix_metrics(experiment, "table")
    assert len(metrics) == len(set(metrics)) and "results/e/metrics/ir/few-scratch-all/seed-2.tsv" in metrics
    fixed = study({"recipes/few/start_seed": 1})
    of = {point["system"]: point for point in planning.curves_settings(fixed, "few")["points"]}
    assert of["few-pseudo-32"]["start_seed"] == 1 and "start_seed" not in of["pseudo"]
    assert "results/e/tables/table.tex" in shown.transfer_tables(experiment)
    assert "results/e/tables/curves-few-answers.tsv" in shown.transfer_tables(experiment)


WRONG = {
    "an untrained source": ({"matrices/table/zero_shot": "zero-shot"}, "matrices.table.zero_shot: zero-shot has no recipe: what is transferred is a model trained on a source"),
    "an unknown entry": ({"matrices/table/full_shot": ["few", "fw"]}, "matrices.table.full_shot: unknown name 'fw' (did you mean 'few'?); systems has bm25, zero-shot, transfer (transfer-full-models, "),
    "few queries as all": ({"matrices/table/full_shot": "few-scratch-32"}, "matrices.table.full_shot: none of these is trained on all queries of a target; leave it out"),
    "an unknown baseline": ({"curves/few/baseline": "bm"}, "curves.few.baseline: unknown name 'bm' (did you mean 'bm25'?); systems has bm25"),
    "several baselines": ({"matrices/table/baseline": "transfer"}, "matrices.table.baseline: transfer became 3 systems; name one of them"),
    "an unknown task": ({"curves/few/tasks": ["x"]}, "curves.few.tasks: unknown name 'x'; tasks has models, ir, common"),
    "a measure that is not computed": ({"matrices/table/measure": "nDCG@3"}, "matrices.table.measure: 'nDCG@3' is not among measures: ['RR@100']"),
    "a measure of which less is better": ({"lower_is_better": ["RR@100"]}, "curves.few.measure: a lower value of RR@100 is better; expected a measure of which a higher value is better"),
    "one target": ({"matrices/table/tasks": ["ir"]}, "matrices.table: has 'ir' alone of the targets that its systems are trained for or transferred to; expected at least two"),
    "a baseline without a run": ({"systems/bm25/tasks": ["ir", "common"], "curves": {}}, "matrices.table.baseline: bm25 has no run for task 'models'; list other tasks"),
    "labels of others": (
        {"matrices/table/pseudo_labels": "few-scratch-all"},
        "matrices.table.pseudo_labels: few-scratch-all is not trained on pseudo-labels of models when it ranks 'models'",
    ),
    "two systems in a cell": (
        {"matrices/table/zero_shot": ["transfer", "elsewhere"]},
        "matrices.table.zero_shot: transfer-full-ir and elsewhere-ir would be the same cell: ir on task 'models'; name one",
    ),
    "no sizes": ({"curves/few/systems": "transfer"}, "curves.few.systems: no target has systems trained on its own dataset with at least two numbers of queries"),
    "a size twice": (
        {"curves/few/systems": ["few", "twice"], "systems/twice": {"model": "m", "recipe": {"name": "few", "dataset": "target"}}},
        "curves.few.systems: few-scratch-32 and twice-scratch-32 are both 32 queries on task 'models', starting point "
        "scratch; name one",
    ),
    "the name of another table": ({"matrices/comparisons": MATRIX}, "matrices.comparisons: tables/comparisons.tsv is the name of another table; rename it"),
    "the name of a table of curves": ({"matrices/curves-x": MATRIX}, "matrices.curves-x: tables/curves-x.tsv is the name of another table; rename it"),
    "the name of answers": ({"curves/x-answers": CURVES}, "curves.x-answers: tables/curves-x-answers.tsv is the name of another table; rename it"),
    "the name of a figure": (
        {"comparisons": {"curves-x": {"control": "bm25", "treatment": "pseudo", "measure": "RR@100"}}},
        "comparisons.curves-x: names that begin with 'curves-' are reserved for the curves over training queries",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), WRONG.values(), ids=WRONG)
def test_mistakes_are_one_line(changes, said):
    with refused(start=f"c.yaml: {said}"):
        study(changes)


def test_two_figures_of_one_name_are_a_mistake():
    tasks = {name: Task(name, name, "test", name, "beir", ()) for name in ("b-c", "c")}
    curves = {
        name: Curves(name, (), {}, (target,), "bm25", "RR", 0.05, "range", "")
        for name, target in (("a", "b-c"), ("a-b", "c"))
    }
    with pytest.raises(UserError, match=r"^c.yaml: curves.a-b: two figures of curves would be called 'curves-a-b-c'"):
        exhibit.check(Checker({}, "c.yaml"), replace(study(), curves=curves, tasks=tasks))
