"""Studies of transfer in a page of YAML: references by rule, systems that are trained for each target, equal trainings."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment import job_files
from ranktrial.experiment.descriptions import datasets_learnt, describe
from ranktrial.experiment.resolution import resolve
from scripts.synthesis.planning import comparison_settings
from scripts.synthesis.planning_seeds import checkpoints
from scripts.training import planning as training
from tests.support.configuration import changed

STARTS = [None, {"recipe": "pseudo", "dataset": "same"}, {"recipe": "full", "dataset": "others"}]
STUDY = {
    "experiment": "e",
    "measures": ["RR@100"],
    "datasets": {name: {"format": "beir", "location": f"tests/{name}"} for name in ("models", "ir", "common")},
    "models": {"m": {"type": "bi-encoder", "weights": "data"}},
    "recipes": {
        "pseudo": {"train_on": ["models", "ir", "common"], "labels": "bm25"},
        "full": {"train_on": ["models", "ir", "common"]},
        "few": {"train_on": ["models", "ir", "common"], "start_from": STARTS, "queries": [32, "all"]},
    },
    "systems": {
        "bm25": {"type": "bm25"},
        "zero-shot": {"model": "m"},
        "transfer": {"model": "m", "recipe": "full"},
        "pseudo": {"model": "m", "recipe": {"name": "pseudo", "dataset": "target"}},
        "few": {"model": "m", "recipe": {"name": "few", "dataset": "target"}, "seeds": 2},
        "elsewhere": {"model": "m", "recipe": {"name": "full", "dataset": "others"}},
    },
    "tasks": ["models", "ir", "common"],
    "comparisons": {
        "labels": {"control": "bm25", "treatment": "pseudo", "measure": "RR@100"},
        "few": {"control": "starting-point", "treatment": "few", "measure": "RR@100"},
    },
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    for name in STUDY["datasets"]:
        (tmp_path / "tests" / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


def study(**changes):
    return resolve(changed(STUDY, {key.replace("__", "/"): value for key, value in changes.items()}), "c.yaml")


def test_a_recipe_starts_from_the_training_on_the_same_dataset_and_from_each_on_others():
    recipes = study().recipes
    starts = {name: recipe.start_from for name, recipe in recipes.items() if name.startswith("few-ir")}
    assert starts == {
        "few-ir-scratch-32": None,
        "few-ir-pseudo-32": "pseudo-ir",
        "few-ir-pseudo-all": "pseudo-ir",
        "few-ir-full-models-32": "full-models",
        "few-ir-full-models-all": "full-models",
        "few-ir-full-common-32": "full-common",
        "few-ir-full-common-all": "full-common",
    }
    assert len(recipes) == 3 + 3 + 3 * 7


def test_a_training_that_two_recipes_mean_is_one():
    experiment = study()
    assert "few-ir-scratch-all" not in experiment.recipes
    assert experiment.systems["few-scratch-all"].recipe_on("ir") == "full-ir"
    other = study(recipes__few__learning_rate=1e-3)
    assert other.systems["few-scratch-all"].recipe_on("ir") == "few-ir-scratch-all"


def test_samples_are_another_training_only_where_a_sample_is_drawn():
    again = {"train_on": "ir", "start_seed": 3}
    assert (
        study(recipes__again=again, systems__again={"model": "m", "recipe": "again"}).systems["again"].recipe
        == "full-ir"
    )
    assert "again" in study(recipes__again=again | {"epochs": 2}).recipes


def test_a_system_is_trained_for_each_target_apart():
    experiment = study()
    few = experiment.systems["few-full-models-32"]
    assert few.tasks == ("ir", "common") and few.seeds == (1, 2)
    assert few.recipes == ("few-ir-full-models-32", "few-common-full-models-32")
    task = experiment.tasks["ir"]
    assert (
        job_files.encoded(experiment, few, task, 2)[0]
        == "results/e/embeddings/ir/m/few-ir-full-models-32/seed-2.vectors"
    )
    assert datasets_learnt(experiment, few, "ir") == ["ir", "models"]
    assert "few-ir-full-models-32 for ir, few-common-full-models-32 for common" in describe(experiment, few)


def test_transfer_ranks_all_tasks_or_those_of_other_datasets():
    systems = study().systems
    assert [systems[f"transfer-full-{name}"].tasks for name in STUDY["tasks"]] == [None] * 3
    assert systems["elsewhere-ir"].tasks == ("models", "common")
    assert systems["elsewhere-ir"].recipe_on("common") == "full-ir"


def test_a_comparison_with_the_starting_point():
    compared = study().comparisons
    assert compared["few-few-scratch-32"].control == "zero-shot"
    assert compared["few-few-pseudo-32"].control == "pseudo"
    assert compared["few-few-full-ir-32"].control == "transfer-full-ir"
    assert compared["few-few-full-ir-32"].tasks == ("models", "common")
    assert study().figures["few-pseudo"] == ("few-few-pseudo-32", "few-few-pseudo-all")


def test_the_seed_of_the_starting_point():
    experiment = study()
    start = "results/e/models/m/pseudo-ir/seed-2"
    assert training.training_inputs(experiment, "m", "few-ir-pseudo-32", "2")["start"] == start
    fixed = study(recipes__few__start_seed=1)
    assert training.training_inputs(fixed, "m", "few-ir-pseudo-32", "2")["start"] == start.replace("seed-2", "seed-1")
    assert (
        training.training_inputs(fixed, "m", "few-ir-scratch-32", "2")["start"] == "results/e/models/m/untrained/seed-0"
    )


def test_seed_effects_are_common_only_to_tasks_that_share_checkpoints():
    experiment = study()
    assert checkpoints(experiment, experiment.comparisons["labels"]) == {
        "treatment": {"models": "pseudo-models", "ir": "pseudo-ir", "common": "pseudo-common"}
    }
    assert comparison_settings(experiment, "labels")["checkpoints"]["treatment"]["ir"] == "pseudo-ir"
    shared = study(comparisons__t={"control": "bm25", "treatment": "transfer-full-ir", "measure": "RR@100"})
    assert "checkpoints" not in comparison_settings(shared, "t")


NUMBERS = "table\trow\tcolumn\tprinted\tcomparison\ttask\tsystem\tquantity\tfactor\tnote\n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("t\tr\tc\t1\t\tir\tpseudo\tRR@100\t1\t", None),
        ("t\tr\tc\t1\t\tir/train\t\tqueries\t1\t", None),
        ("t\tr\tc\t1\tlabels\t\t\teffect\t1\t", None),
        ("t\tr\tc\t1\t\tir\tnone\tRR@100\t1\t", "system 'none'"),
        ("t\tr\tc\t1\t\tnone\tpseudo\tRR@100\t1\t", "task 'none'"),
        ("t\tr\tc\t1\t\tir\telsewhere-ir\tRR@100\t1\t", "run of 'elsewhere-ir' on 'ir'"),
        ("t\tr\tc\t1\t\tnone/train\t\tqueries\t1\t", "dataset 'none'"),
        ("t\tr\tc\t1\tnone\t\t\teffect\t1\t", "comparison 'none'"),
    ],
)
def test_the_places_of_published_numbers_are_looked_for_before_anything_runs(tmp_path, row, said):
    (tmp_path / "p.tsv").write_text(f"# a source\n{NUMBERS}{row}\n")
    if said is None:
        study(published={"file": "p.tsv"})
        return
    with pytest.raises(UserError) as error:
        study(published={"file": "p.tsv"})
    assert str(error.value) == f"c.yaml: published.file: p.tsv:3: there is no {said} in this experiment"


WRONG = {
    "a circle": ({"recipes__few__start_from": {"recipe": "few", "dataset": "same"}}, "c.yaml: recipes.few: refers to itself: few -> few"),
    "an unknown rule": (
        {"recipes__few__start_from": {"recipe": "full", "dataset": "all"}},
        "c.yaml: recipes.few.start_from: unknown rule; expected {recipe: a recipe, dataset: same or others}",
    ),
    "an unknown recipe in a rule": (
        {"recipes__few__start_from": {"recipe": "ful", "dataset": "same"}},
        "c.yaml: recipes.few.start_from.recipe: unknown name 'ful' in recipes (did you mean 'full'?)",
    ),
    "no training on the same dataset": ({"recipes__pseudo__train_on": "ir"}, "c.yaml: recipes.few.start_from: pseudo has no training on it for the one on 'models' to start from"),
    "no system of the starting point": (
        {"systems__pseudo": ..., "comparisons__labels": ...},
        "c.yaml: comparisons.few.control (in few-few-pseudo-32): no system ranks as few-pseudo-32 does with what its training starts "
        "from: pseudo-models, pseudo-ir, pseudo-common; expected one, or treatments without few-pseudo-32",
    ),
    "a starting point of BM25": ({"comparisons__few__treatment": "bm25"}, "c.yaml: comparisons.few.control: starting-point is of a trained system, but bm25 has no recipe"),
    "a task without a recipe": (
        {"systems__pseudo__recipe": {"each": {"ir": "pseudo-ir"}}, "systems__pseudo__tasks": ["models"]},
        "c.yaml: systems.pseudo.tasks: no recipe for 'models'; its recipes are for ir",
    ),
    "a selected seed": ({"systems__few__select_seed": {"task": "ir/dev"}}, "c.yaml: systems.few.select_seed (in few-scratch-32): only valid with one recipe for all tasks"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), WRONG.values(), ids=WRONG)
def test_mistakes_are_one_line(changes, said):
    with pytest.raises(UserError) as error:
        study(**changes)
    assert str(error.value) == said
