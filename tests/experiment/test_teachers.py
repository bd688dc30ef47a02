"""Teachers in a configuration: what their jobs are given, what students have learnt from, and what each mistake says."""

import re
from pathlib import Path

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import datasets_learnt, describe
from ranktrial.experiment.leakage import learnt_from
from scripts.training import planning
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import each_is_one_line

CE = {"model": "ce", "rerank": {"first_stage": "bm25"}}
TAUGHT = {"recipes/r/teacher": "ce", "systems/ce": CE}
OTHER = {"datasets/e": {"format": "beir", "location": "scripts"}, "recipes/there": {"train_on": "e"}}


def resolved(changes):
    return of_base(TAUGHT | changes)


def test_a_teacher_scores_the_examples_and_the_training_takes_its_scores():
    experiment = resolved({"recipes/r/scale": 10, "recipes/r/queries": 16, "recipes/r/samples": 2})
    scores = [planning.training_inputs(experiment, "m", "r", seed)["scores"] for seed in "12"]
    name = "human-labels_3-bm25-negatives_16-queries"
    assert scores == [[f"results/e/teachers/d/{name}{sample}/ce/seed-0.trec.gz"] for sample in ("", "_sample-2")]
    assert planning.training_inputs(experiment, "m", "r", "2")["negatives"] == [
        f"results/e/negatives/d/{name}_sample-2.tsv"
    ]
    settings = planning.training_settings(experiment, "m", "r", "1")
    assert (settings["teacher"], settings["scale"]) == ("ce", 10) and "temperature" not in settings
    assert "distilled from ce" in describe(experiment, experiment.systems["tuned"])


def test_a_teacher_of_several_datasets_scores_the_examples_of_each():
    experiment = resolved({"datasets/e": OTHER["datasets/e"], "recipes/r/train_on": [["d", "e"]]})
    name = "human-labels_3-bm25-negatives_all-queries"
    scores = [f"results/e/teachers/{dataset}/{name}/ce/seed-0.trec.gz" for dataset in "de"]
    assert planning.training_inputs(experiment, "m", "r", "1")["scores"] == scores
    assert datasets_learnt(experiment, experiment.systems["tuned"], "d") == ["d", "e"]


def test_without_a_teacher_no_setting_is_another():
    said = {"recipes/r/teacher": None, "recipes/r/temperature": None, "recipes/r/scale": None}
    assert of_base(said).recipes == of_base({}).recipes
    experiment = of_base(said)
    assert planning.training_inputs(experiment, "m", "r", "1")["scores"] == []
    assert not {"teacher", "scale", "temperature"} & set(planning.training_settings(experiment, "m", "r", "1"))


def test_teachers_make_recipes_and_one_recipe_fits_all_kinds():
    models = {
        "models/s": {"type": "sparse-encoder", "weights": "org/s"},
        "models/l": {"type": "multi-vector", "weights": "org/l"},
    }
    twice = {
        "recipes/r/teacher": ["ce", "ce2"],
        "systems/ce2": CE | {"label": "two", "rerank": {"first_stage": "bm25", "depth": 5}},
    }
    rest = {
        "systems/tuned": {"model": ["m", "s", "l"], "recipe": "r"},
        "comparisons": {},
        "recipes/r/loss": "MarginMSELoss",
    }
    assert list(resolved(models | twice | rest).recipes) == ["r-ce", "r-ce2"]


def test_a_student_has_learnt_from_what_its_teacher_learnt_from():
    trained = {"systems/ce": CE | {"recipe": "there"}}
    experiment = resolved(OTHER | trained)
    assert learnt_from(experiment, "tuned", "d") == {("d", "train"), ("e", "train")}
    assert datasets_learnt(experiment, experiment.systems["tuned"], "d") == ["d", "e"]
    assert learnt_from(resolved({}), "tuned", "d") == {("d", "train")}
    selected = {"systems/ce": CE | {"recipe": "there", "seeds": 2, "select_seed": {"task": "e/dev"}}}
    assert ("e", "dev") in learnt_from(resolved(OTHER | selected), "tuned", "d")
    # a chain of teachers, and one behind the recipe that a training starts from
    more = {"recipes/there/teacher": "first", "systems/first": CE | {"label": "f", "recipe": "third"},
            "datasets/f": {"format": "beir", "location": "docs"}, "recipes/third": {"train_on": "f"},
            "recipes/on": {"train_on": "d", "start_from": "r"}, "systems/on": {"model": "m", "recipe": "on"}}  # fmt: skip
    assert learnt_from(resolved(OTHER | trained | more), "on", "d") == {(name, "train") for name in "def"}


def test_a_system_is_not_zero_shot_where_its_teacher_was_trained():
    """The student learns on e from a teacher that was trained on d: its run on d is no cell of the source e."""
    trained = {"systems/ce": CE | {"recipe": "there"}, "recipes/there": {"train_on": "d"}, "recipes/r/train_on": "e"}
    trained |= {"tasks": ["d", "e"], "recipes/own": {"train_on": "d"}, "systems/own": {"model": "m", "recipe": "own"}}
    matrix = {"matrices": {"x": {"zero_shot": "tuned", "full_shot": "own", "baseline": "bm25", "measure": "nDCG@10"}}}
    for teacher, found in (("ce", False), (None, True)):
        changes = TAUGHT | OTHER | trained | matrix | {"measures": ["nDCG@10"], "recipes/r/teacher": teacher}
        cells = of_base(changes).matrices["x"].cells
        assert any((cell.target, cell.system) == ("d", "tuned") for cell in cells) == found


MISTAKES = {
    "no system": ({"recipes/r/teacher": "x"}, "recipes.r.teacher: unknown name 'x'; systems has bm25, tuned, ce"),
    "a recipe": ({"recipes/r/teacher": "r"}, "recipes.r.teacher: r is a recipe; name a system that re-ranks with it"),
    "a model": ({"recipes/r/teacher": "m"}, "recipes.r.teacher: m is a model; name a system that re-ranks with it"),
    "a bi-encoder": ({"recipes/r/teacher": "z", "systems/z": {"model": "m"}}, "recipes.r.teacher: z is of a bi-encoder; expected a system with a cross-encoder"),
    "bm25": ({"recipes/r/teacher": "bm25"}, "recipes.r.teacher: bm25 is of type bm25, without a model; expected a system with a cross-encoder"),
    "several": ({"systems/ce": CE | {"label": "x", "rerank": {"first_stage": "bm25", "depth": [5, 10]}}}, "recipes.r.teacher: ce became 2 systems; name one of them: ce-5, ce-10"),
    "itself": ({"systems/ce": CE | {"recipe": "r"}}, "recipes.r.teacher: a circle: r -> ce -> r; a student cannot train its own teacher"),
    "trained on from the student": ({"systems/ce": CE | {"recipe": "s"}, "recipes/s": {"train_on": "d", "start_from": "r"}}, "recipes.r.teacher: a circle: r -> ce -> s -> r;"),
    "two that teach each other": ({"systems/ce": CE | {"recipe": "s"}, "recipes/s": {"train_on": "d", "teacher": "two"}, "systems/two": CE | {"label": "2", "recipe": "r"}},
     "recipes.r.teacher: a circle: r -> ce -> s -> two -> r;"),
    "with negatives of its student": ({"systems/ce": CE | {"recipe": "s"}, "recipes/s": {"train_on": "d", "negatives": {"from": "tuned"}}}, "recipes.r.teacher: a circle: r -> ce -> s -> tuned -> r;"),
    "trained elsewhere only": (OTHER | {"systems/ce": CE | {"recipe": {"each": {"e": "there"}}, "tasks": ["e"]}, "tasks": ["d", "e"]}, "recipes.r.teacher: ce has no recipe for d"),
    "a loss without": ({"recipes/r/loss": "TripletLoss"}, "recipes.r.loss: loss 'TripletLoss' takes no teacher's scores; with a teacher use auto or"),
    "a loss of another kind": ({"recipes/r/loss": "MSELoss"}, "loss 'MSELoss' takes no teacher's scores; with a teacher use auto or MarginMSELoss, DistillKLDivLoss"),
    "no teacher": ({"recipes/r/teacher": None, "recipes/r/loss": "MarginMSELoss"}, "recipes.r.loss: loss 'MarginMSELoss' compares with a teacher's scores; name a teacher"),
    "no teacher of a sparse encoder": ({"recipes/r/teacher": None, "recipes/r/loss": "SparseDistillKLDivLoss"}, "compares with a teacher's scores; name a teacher"),
    "a scale for nobody": ({"recipes/r/teacher": None, "recipes/r/scale": 20}, "recipes.r.scale: only valid with teacher"),
    "a temperature of margins": ({"recipes/r/temperature": 2, "recipes/r/loss": "MarginMSELoss"}, "recipes.r.temperature: loss MarginMSELoss has none; DistillKLDivLoss has"),
    "a scale of logits": ({"recipes/r/scale": 2, "systems/tuned": CE | {"label": "t", "recipe": "r"}}, "recipes.r.scale: of a cross-encoder scores are logits, as the teacher's are; leave it out"),
    "a margin": ({"recipes/r/margin": 2}, "recipes.r.margin: loss auto has none"),
    "passages": ({"recipes/r/long_documents": "passages"}, "recipes.r.teacher: not together with long_documents: passages"),
    "a temperature of 0": ({"recipes/r/temperature": 0}, "recipes.r.temperature: 0 is too small"),
}  # fmt: skip


test_each_mistake_is_one_line_before_anything_runs = each_is_one_line(MISTAKES, resolved)


def test_the_example_in_the_documentation_is_a_configuration():
    text = (Path(__file__).parents[2] / "docs/training.md").read_text().split("\n## Distillation\n")[1]
    written = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    written["recipes"]["taught"]["train_on"] = "d"
    given = {f"{section}/{name}": entry for section, entries in written.items() for name, entry in entries.items()}
    experiment = of_base(given)
    scores = planning.training_inputs(experiment, "m", "taught", "1")["scores"]
    assert scores[0].endswith("/human-labels_3-bm25-negatives_all-queries/teacher/seed-0.trec.gz") and len(scores) == 1
    assert planning.training_settings(experiment, "minilm", "taught", "1")["teacher"] == "teacher"


def test_a_filter_trained_for_other_datasets_is_reported_as_well():
    each = CE | {"recipe": {"each": {"e": "there"}}, "tasks": ["e"]}
    changes = {"recipes/r/negatives": {"cross_encoder": "ce", "max_score": 1}, "systems/ce": each, "tasks": ["d", "e"]}
    with pytest.raises(UserError, match=r"negatives\.cross_encoder: ce has no recipe for d"):
        of_base(OTHER | changes)
