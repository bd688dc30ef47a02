"""Recipes that learn from several datasets at once: names, what jobs are given, what is known as seen, mistakes."""

import re
from pathlib import Path

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.configuration.reading import resolved_text
from ranktrial.experiment.descriptions import datasets_learnt, describe, training_columns
from ranktrial.experiment.leakage import learnt_from
from ranktrial.experiment.resolution import resolve
from scripts.training import planning
from scripts.training.planning import all_examples
from tests.experiment.test_config import changed
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import refused

BEIR, OTHER = {"format": "beir", "location": "tests"}, {"format": "beir", "location": "scripts"}
TWO = {"datasets": {"d": BEIR, "e": OTHER, "f": {"format": "beir", "location": "rules"}}, "tasks": ["d", "e", "f"]}


def resolved(train_on, **changes):
    return of_base(TWO | {"recipes/r/train_on": train_on}, **changes)


def test_a_list_makes_recipes_and_a_list_within_it_one_training():
    alone = resolved([["d", "e"]])
    assert list(alone.recipes) == ["r"] and alone.recipes["r"].train_on == ("d", "e")
    several = resolved(["d", ["d", "e"], ["e", "d"]])
    assert list(several.recipes) == ["r-d", "r-d-e", "r-e-d"]
    assert [recipe.train_on for recipe in several.recipes.values()] == ["d", ("d", "e"), ("e", "d")]
    assert [name for name in several.systems if name != "bm25"] == ["tuned-r-d", "tuned-r-d-e", "tuned-r-e-d"]


def test_the_job_is_given_the_files_of_each_and_how_they_alternate():
    experiment = resolved([["d", "e"]], recipes__r__negatives={"from": "bm25", "per_query": 2})
    name = "human-labels_2-bm25-negatives_all-queries"
    assert list(all_examples(experiment)) == [("d", name), ("e", name)]
    assert planning.training_inputs(experiment, "m", "r", "1")["corpus"] == [
        "results/e/data/d/corpus.jsonl",
        "results/e/data/e/corpus.jsonl",
    ]
    assert planning.training_inputs(experiment, "m", "r", "1")["queries"] == [
        f"results/e/data/{one}/queries/train.jsonl" for one in "de"
    ]
    assert planning.training_inputs(experiment, "m", "r", "1")["negatives"] == [
        f"results/e/negatives/{one}/{name}.tsv" for one in "de"
    ]
    assert planning.examples_inputs(experiment, "e", name)["first_stage"] == "results/e/bm25/e/train.trec.gz"
    read = planning.examples_inputs(experiment, "e", name)["evaluation_qrels"]
    assert read == [f"results/e/data/e/qrels/{split}.qrels" for split in ("dev", "test")]
    settings = planning.training_settings(experiment, "m", "r", "1")
    assert settings["datasets"] == ["d", "e"] and "multi_dataset_batch_sampler" not in settings
    given = resolved([["d", "e"]], recipes__r__multi_dataset_batch_sampler="round_robin")
    assert planning.training_settings(given, "m", "r", "1")["multi_dataset_batch_sampler"] == "round_robin"
    one = resolved("d")
    assert "datasets" not in planning.training_settings(one, "m", "r", "1")
    assert planning.training_inputs(one, "m", "r", "1")["corpus"] == ["results/e/data/d/corpus.jsonl"]


def test_a_system_mines_in_each_and_a_sample_is_of_each():
    given = {"systems__z": {"model": "m"}, "recipes__r__negatives": {"from": "z"}, "recipes__r__queries": 32}
    experiment = resolved([["d", "e"]], **given)
    assert list(experiment.selection_tasks) == ["d/train", "e/train"]
    names = [name for _, name in all_examples(experiment)]
    for dataset, name in zip("de", names, strict=True):
        assert planning.examples_inputs(experiment, dataset, name)["runs"] == [
            f"results/e/runs/{dataset}-train/z/seed-0.trec.gz"
        ]
        assert planning.examples_settings(experiment, dataset, name)["queries"] == 32
    assert planning.mining_records(experiment) == [f"results/e/negatives/{one}/{names[0]}.mining.json" for one in "de"]


def test_both_are_known_as_seen_and_named():
    experiment = resolved([["d", "e"]], datasets__e__label="Echo")
    tuned = experiment.systems["tuned"]
    assert datasets_learnt(experiment, tuned, "f") == ["d", "e"]
    assert learnt_from(experiment, "tuned", "d") == {("d", "train"), ("e", "train")}
    words = "fine-tuned with recipe r on d and e, whose batches come in proportion to their size"
    assert words in describe(experiment, tuned)
    assert training_columns(experiment) == {"r": "d + Echo"}
    in_turn = resolved([["d", "e", "f"]], recipes__r__multi_dataset_batch_sampler="round_robin")
    assert "on d, e and f, whose batches come in turn" in describe(in_turn, in_turn.systems["tuned"])


def test_rules_of_reference_take_a_training_on_both_for_either():
    recipes = {"first": {"train_on": [["d", "e"], "f"]}, "r": ...}
    systems = {"bm25": {"type": "bm25"}, "own": {"model": "m", "recipe": {"name": "first", "dataset": "target"}}}
    config = {**TWO, "recipes": {"first": recipes["first"]}, "systems": systems, "comparisons": {}}
    own = of_base(config).systems["own"]
    assert own.recipe_of == {"d": "first-d-e", "e": "first-d-e", "f": "first-f"}
    systems["own"]["recipe"]["dataset"] = "others"
    others = of_base(config).systems
    assert set(others["own-d-e"].recipe_of) == {"f"} and set(others["own-f"].recipe_of) == {"d", "e"}
    config["recipes"]["first"]["train_on"] = ["d", ["d", "e"]]
    systems["own"]["recipe"]["dataset"] = "target"
    with pytest.raises(UserError, match=r"^c.yaml: systems.own.recipe: first-d and first-d-e are both trained on 'd'"):
        of_base(config)


def test_the_resolved_configuration_means_the_same():
    given = changed(TWO | {"recipes/r": {"train_on": [["d", "e"]], "multi_dataset_batch_sampler": "round_robin"}})
    again = yaml.safe_load(resolved_text(given, "c.yaml"))
    assert resolve(again, "c.yaml").recipes == resolve(given, "c.yaml").recipes


def test_the_document_shows_recipes_that_are_right():
    text = (Path(__file__).parents[2] / "docs/training.md").read_text()
    block = next(part for part in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "train_on: [[" in part)
    datasets = {"scifact": BEIR, "nfcorpus": OTHER}
    given = {"datasets": datasets, "tasks": list(datasets), "systems/tuned/recipe": "both"}
    recipes = of_base(given | {"recipes": yaml.safe_load(block)["recipes"]}).recipes
    assert list(recipes) == ["both", "turns", "apart-scifact"]  # the other of apart is equal to both
    assert recipes["turns"].multi_dataset_batch_sampler == "round_robin"


@pytest.mark.parametrize(
    ("train_on", "changes", "said"),
    [
        ([["d"]], {}, "recipes.r.train_on: has 1 of the 2 entries that are expected at least"),
        ([["d", "d"]], {}, "recipes.r.train_on: duplicate entry 'd'; expected each entry once"),
        ([["d", "nope"]], {}, "recipes.r.train_on: unknown name 'nope'; datasets has d, e, f"),
        ([["d", ["e"]]], {}, "recipes.r.train_on: a list or mapping within a list"),
        ("d", {"recipes__r__multi_dataset_batch_sampler": "round_robin"},
         "recipes.r.multi_dataset_batch_sampler: only valid with several datasets in train_on"),
        ([["d", "e"]], {"recipes__r__multi_dataset_batch_sampler": "in turn"}, "recipes.r.multi_dataset_batch_sampler: "),
        ([["d", "e"]], {"datasets__e": {"format": "scores", "measure": "acc"}}, "recipes.r.train_on: e has format scores: no texts to learn from"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(train_on, changes, said):
    with refused(start=f"c.yaml: {said}"):
        resolved(train_on, **changes)
