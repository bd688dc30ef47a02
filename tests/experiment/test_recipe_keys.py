"""The keys of recipes for studies of few queries and pairwise training: what they mean, and what each mistake says."""

import json
from pathlib import Path

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.common.keys import stated
from ranktrial.common.settings import read_settings
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.configuration.reading import complete, resolved_text
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.configuration.sections.recipe import epochs_of, epochs_text, with_text_keys
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.resolution import resolve
from ranktrial.training.training_settings import Settings
from scripts.bm25.planning import NEGATIVES_DEPTH
from scripts.inference import planning as inference
from scripts.training import planning
from scripts.training.planning import examples_name
from tests.experiment.test_config import changed, resolved
from tests.support.one_line import each_is_one_line

ROOT = Path(__file__).parents[2]
BY_SIZE = {32: 32, 128: 8, "all": 1}
DRAWN = {"from": "bm25", "per_query": 1, "sampling_strategy": "random", "range_max": 100, "draw": "epoch"}
CROSS = {"systems/tuned": {"model": "ce", "recipe": "r", "rerank": {"first_stage": "bm25"}}}


@pytest.mark.parametrize(("queries", "epochs"), [(1, 32), (32, 32), (127, 32), (128, 8), (100000, 8), ("all", 1)])
def test_epochs_are_those_of_the_largest_listed_size_not_above(queries, epochs):
    recipe = resolved({"recipes/r/epochs": BY_SIZE, "recipes/r/queries": queries}).recipes["r"]
    assert recipe.epochs == epochs
    assert recipe.epochs_rule == (None if queries == "all" else "32 epochs from 32 queries, 8 from 128, 1 with all")


def test_rules_as_text():
    assert epochs_text({"64": 1}) == "1 epoch from 64 queries"
    assert epochs_text({"all": 0.5}) == "0.5 epochs with all"


def test_a_size_list_makes_recipes_each_with_its_own_epochs():
    recipes = resolved({"recipes/r/epochs": BY_SIZE, "recipes/r/queries": [32, 256, "all"]}).recipes
    assert {name: recipe.epochs for name, recipe in recipes.items()} == {"r-32": 32, "r-256": 8, "r-all": 1}


def test_all_queries_have_one_sample_and_settings_as_if_nothing_had_been_said():
    plain = resolved({"recipes/r/epochs": 1})
    rich = resolved({"recipes/r": {"train_on": "d", "epochs": BY_SIZE, "samples": 3, "sampling": "independent"}})
    assert rich.recipes == plain.recipes
    for seed in ("1", "2"):
        assert (
            planning.training_inputs(rich, "m", "r", seed)["negatives"]
            == planning.training_inputs(plain, "m", "r", seed)["negatives"]
        )


def test_epochs_by_size_and_a_plain_number_are_one_training():
    both = {
        "r": {"train_on": "d", "queries": 32, "epochs": BY_SIZE},
        "s": {"train_on": "d", "queries": 32, "epochs": 32},
    }
    assert list(resolved({"recipes": both}).recipes) == ["r"]


def test_numbers_as_keys_are_read_from_files_and_survive_being_written(tmp_path):
    file = tmp_path / "c.yaml"
    config = changed({"recipes/r/epochs": BY_SIZE, "recipes/r/queries": 32})
    file.write_text(yaml.safe_dump(config, sort_keys=False))
    assert "32: 32" in file.read_text()
    read = read_yaml(file)
    assert read["recipes"]["r"]["epochs"] == {"32": 32, "128": 8, "all": 1}
    assert resolve(read, "c.yaml").recipes == resolve(config, "c.yaml").recipes
    again = yaml.safe_load(resolved_text(config, "c.yaml"))
    assert resolve(again, "c.yaml").recipes == resolve(config, "c.yaml").recipes
    # an archive's settings are sorted JSON
    stored = json.loads(json.dumps(with_text_keys(config, "c.yaml"), sort_keys=True))
    assert complete(stored, "c.yaml")[0]["recipes"] == complete(config, "c.yaml")[0]["recipes"]
    for key, said in (("010", "the key 010 is a number"), ("1.5", "the key 1.5 is a number")):
        file.write_text(f"recipes: {{r: {{epochs: {{{key}: 3}}}}}}\n")
        with pytest.raises(UserError, match=said):
            read_yaml(file)
    file.write_text("tasks: {1: a}\n")
    with pytest.raises(UserError, match="the key 1 is a number to YAML"):
        read_yaml(file)


def test_seeds_learn_from_samples_in_turn():
    few = resolved({"recipes/r/queries": 64, "recipes/r/samples": 3})
    files = [
        planning.training_inputs(few, "m", "r", str(seed))["negatives"][0].rsplit("/", 1)[1] for seed in (1, 2, 3, 4)
    ]
    words = "human-labels_3-bm25-negatives_64-queries"
    assert files == [f"{words}.tsv", f"{words}_sample-2.tsv", f"{words}_sample-3.tsv", f"{words}.tsv"]
    assert planning.examples_settings(few, "d", f"{words}_sample-3")["sample"] == 3
    one = resolved({"recipes/r/queries": 64})
    assert planning.examples_settings(few, "d", words) == planning.examples_settings(one, "d", words)
    assert planning.examples_settings(one, "d", words) == {
        "from": "bm25", "per_query": 3, "exclude_evaluation": True, "labels": "human", "queries": 64, "seed": 42,
        "sampling_strategy": "top", "range_min": 0, "positives": "all", "among_candidates": False,
    }  # fmt: skip


def test_examples_that_differ_have_names_that_differ_and_settings_that_say_how():
    positives = {"per_query": 1, "among_candidates": True}
    more = {"queries": 64, "samples": 2, "sampling": "independent", "epochs": BY_SIZE}
    experiment = resolved({"recipes/r": {"train_on": "d", "negatives": DRAWN, "positives": positives, **more}})
    name = examples_name(experiment.recipes["r"], 2)
    assert name == ("human-labels_1-bm25-negatives_64-queries_random-of-0-100_1-positives_among-candidates_32-draws_"
                    "independent-sample-2")  # fmt: skip
    assert planning.examples_settings(experiment, "d", name) == {
        "from": "bm25", "per_query": 1, "exclude_evaluation": True, "sampling_strategy": "random",
        "range_min": 0, "range_max": 100,
        "labels": "human", "queries": 64, "seed": 42, "positives": 1, "among_candidates": True, "epochs": 32,
        "sample": 2, "sampling": "independent",
    }  # fmt: skip
    assert planning.training_settings(experiment, "m", "r", "1")["draw"] == "epoch"
    variants = [{}, {"positives": {"per_query": 2}}, {"positives": {"among_candidates": True}}]
    variants += [{"negatives": {key: value}} for key, value in
                 (("range_max", 50), ("range_min", 5), ("sampling_strategy", "random"), ("exclude_evaluation", False),
                  ("from", "random"), ("per_query", 4))]  # fmt: skip
    variants += [{"negatives": DRAWN, "epochs": 2}, {"negatives": DRAWN, "epochs": 3}, {"labels": "bm25"}]
    variants += [{"queries": 9}, {"queries": 9, "sampling": "independent"}]
    recipes = [resolved({"recipes/r": {"train_on": "d", **variant}}).recipes["r"] for variant in variants]
    names = [examples_name(recipe) for recipe in recipes]
    assert len(set(names)) == len(variants)
    random_among = {"negatives": {"from": "random", "range_max": 50}, "positives": {"among_candidates": True}}
    experiment = resolved({"recipes/r": {"train_on": "d", **random_among}})
    name = examples_name(experiment.recipes["r"])
    assert planning.examples_inputs(experiment, "d", name)["first_stage"] == "results/e/bm25/d/train.trec.gz"


def test_defaults_that_are_written_change_no_job():
    """Neither names nor settings of examples, trainings and rankings."""
    recipe = {"train_on": "d", "samples": 1, "sampling": "nested", "head_learning_rate": None, "margin": None}
    recipe |= {"positives": {"per_query": "all", "among_candidates": False}}
    recipe |= {"negatives": {"sampling_strategy": "top", "range_min": 0, "range_max": None, "draw": "once"}}
    written = resolved({"recipes/r": recipe, "models/m/max_query_length": None, "models/m/max_document_length": None})
    plain = resolved({})
    assert written.recipes == plain.recipes and written.models == plain.models
    assert planning.training_settings(plain, "m", "r", "1") == {"type": "bi-encoder", "max_length": 128, "seed": 1}
    assert inference.encoding_settings(plain, "d", "m") == {"type": "bi-encoder", "max_length": 128, "batch_size": 32}
    assert describe(plain, plain.systems["tuned"]) == (
        "bi-encoder m (org/m, 128 tokens; training data of the weights not stated), fine-tuned with recipe r on d, 2 seeds"
    )


def test_lengths_reach_training_encoding_and_ranking():
    both = {"max_query_length": 16, "max_document_length": 100}
    experiment = resolved({f"models/m/{key}": value for key, value in both.items()})
    assert both.items() <= planning.training_settings(experiment, "m", "r", "1").items()
    assert both.items() <= inference.ranking_settings(experiment, "runs/d", "tuned", "1").items()
    encoding = inference.encoding_settings(experiment, "d", "m")
    assert encoding["max_document_length"] == 100 and "max_query_length" not in encoding
    assert "128 tokens, 16 of a query, 100 of a document;" in describe(experiment, experiment.systems["tuned"])


def test_a_system_says_by_which_rule_it_was_trained():
    few = resolved({"recipes/r/epochs": BY_SIZE, "recipes/r/queries": 64, "recipes/r/samples": 2})
    rule = "(64 queries, 2 nested samples, epochs: 32 by the rule 32 epochs from 32 queries, 8 from 128, 1 with all)"
    assert f"with recipe r on d {rule}, 2 seeds" in describe(few, few.systems["tuned"])


def test_the_published_training_reaches_the_job():
    written = read_yaml(ROOT / "config/transfer.yaml")
    left = {key: value for key, value in written["recipes"]["few"].items() if key not in ("bm25", "start_from")}
    recipe, model = left | {"train_on": "d", "queries": 32}, written["models"]["bert"] | {"weights": "org/ce"}
    experiment = resolved({"recipes/r": recipe, "models/ce": model} | CROSS)
    settings = stated(read_settings(Settings, planning.training_settings(experiment, "ce", "r", "1")))
    assert {"epochs": 32, "batch_size": 16, "learning_rate": 2e-5, "head_learning_rate": 2e-4, "warmup": 0.2,
            "weight_decay": 1e-7, "schedule": "linear", "loss": "MarginRankingLoss", "draw": "epoch",
            "max_query_length": 64, "max_document_length": 445, "max_length": 512}.items() <= settings.items()  # fmt: skip


def test_the_deepest_range_is_that_of_the_run_of_the_training_queries():
    negatives = entry_of(schema(), "recipes")["properties"]["negatives"]["properties"]
    assert negatives["range_max"]["anyOf"][0]["maximum"] == NEGATIVES_DEPTH
    assert negatives["range_min"]["maximum"] == NEGATIVES_DEPTH - 1


RANDOM = {"from": "random"}
MISTAKES = {
    "epochs that rise": ({"recipes/r/epochs": {32: 8, 128: 9}, "recipes/r/queries": 32}, "recipes.r.epochs: rise from 8 at 32 to 9 at 128"),
    "epochs that rise for all": ({"recipes/r/epochs": {32: 8, "all": 9}}, "rise from 8 at 32 to 9 at all"),
    "sizes that do not rise": ({"recipes/r/epochs": {128: 8, 32: 32}, "recipes/r/queries": 32}, "recipes.r.epochs: 128, 32 do not rise"),
    "a size twice": ({"recipes/r/epochs": {32: 8, "32": 8}, "recipes/r/queries": 32}, "recipes.r.epochs: a number of queries is listed twice"),
    "a size of zero": ({"recipes/r/epochs": {0: 8}}, "recipes.r.epochs: bad name '0'"),
    "a size that is a word": ({"recipes/r/epochs": {"few": 8}}, "expected a whole number of training queries above 0, or all"),
    "a size with a fraction": ({"recipes/r/epochs": {1.5: 8}}, "the key 1.5: is not text"),
    "no sizes": ({"recipes/r/epochs": {}}, "recipes.r.epochs: is empty"),
    "zero epochs": ({"recipes/r/epochs": {32: 0}}, "recipes.r.epochs.32: 0 is too small"),
    "no entry for all": ({"recipes/r/epochs": {32: 8}}, "recipes.r.epochs: has no entry all"),
    "only an entry for all": ({"recipes/r/epochs": {"all": 8}, "recipes/r/queries": 32}, "recipes.r.epochs: has no number of queries"),
    "no samples": ({"recipes/r/samples": 0}, "recipes.r.samples: 0 is too small"),
    "sampling": ({"recipes/r/sampling": "mixed"}, "recipes.r.sampling: unknown value 'mixed'"),
    "strategy of random": ({"recipes/r/negatives": RANDOM | {"sampling_strategy": "random"}}, "recipes.r.negatives.sampling_strategy: not together with from: random"),
    "range_min of random": ({"recipes/r/negatives": RANDOM | {"range_min": 1}}, "recipes.r.negatives.range_min: not together with from: random"),
    "range_max of random": ({"recipes/r/negatives": RANDOM | {"range_max": 9}}, "negatives.range_max: only valid with from: bm25, to whose"),
    "range too deep": ({"recipes/r/negatives/range_max": 201}, "negatives.range_max: 201 is too large"),
    "range too narrow": ({"recipes/r/negatives": {"range_min": 8, "range_max": 10}}, "negatives.per_query: 3 are more than the 2 candidates"),
    "range the wrong way": ({"recipes/r/negatives": {"range_min": 9, "range_max": 5}}, "3 are more than the 0 candidates from range_min 9 to range_max 5"),
    "nothing to draw": ({"recipes/r/negatives": {"draw": "epoch"}}, "recipes.r.negatives.draw: only valid with sampling_strategy: random or from: random or positives.per_query"),
    "part of an epoch": ({"recipes/r/negatives": DRAWN, "recipes/r/epochs": 1.5}, "recipes.r.epochs: 1.5 with draw: epoch; expected a whole number"),
    "draws of passages": ({"recipes/r/negatives": DRAWN, "recipes/r/long_documents": "passages"}, "recipes.r.negatives.draw: not together with long_documents: passages"),
    "no positives": ({"recipes/r/positives": {"per_query": 0}}, "recipes.r.positives.per_query: 0 is too small"),
    "unknown key of positives": ({"recipes/r/positives": {"among": True}}, "recipes.r.positives: unknown key 'among'"),
    "margin without use": ({"recipes/r/margin": 2}, "recipes.r.margin: loss auto has none; of these models' losses"),
    "margin of another loss": ({"recipes/r/margin": 2, "recipes/r/loss": "CoSENTLoss"}, "recipes.r.margin: loss CoSENTLoss has none"),
    "margin of nothing": ({"recipes/r/margin": 0}, "recipes.r.margin: 0 is too small"),
    "head of a bi-encoder": ({"recipes/r/head_learning_rate": 1e-3}, "recipes.r.head_learning_rate: a bi-encoder has no prediction head"),
    "frozen bi-encoder": ({"recipes/r/freeze": "encoder"}, "recipes.r.freeze: a bi-encoder has no prediction head; leave it out"),
    "frozen head": ({"recipes/r/freeze": "head"}, "recipes.r.freeze: 'head' is text; expected 'encoder' or null"),
    "frozen twice": (CROSS | {"recipes/r/freeze": "encoder", "recipes/r/lora": {}}, "recipes.r.freeze: not together with lora"),
    "a rate of the head alone": (CROSS | {"recipes/r/freeze": "encoder", "recipes/r/head_learning_rate": 1e-3}, "recipes.r.freeze: not together with head_learning_rate"),
    "no steps": ({"recipes/r/steps_per_epoch": 0}, "recipes.r.steps_per_epoch: 0 is too small"),
    "steps of drawn epochs": ({"recipes/r/steps_per_epoch": 32, "recipes/r/negatives": DRAWN, "recipes/r/epochs": 2}, "recipes.r.steps_per_epoch: not together with negatives.draw: epoch"),
    "rate of zero": ({"recipes/r/head_learning_rate": 0}, "recipes.r.head_learning_rate: 0 is too small"),
    "pairwise loss of a bi-encoder": ({"recipes/r/loss": "MarginRankingLoss"}, "it is for a cross-encoder"),
    "lengths of a pair": ({"models/ce/max_query_length": 64, "models/ce/max_document_length": 64}, "models.ce: max_query_length 64 and max_document_length 64 leave no room for special tokens within max_length 128"),
    "length of a text": ({"models/m/max_document_length": 128}, "models.m: max_document_length 128 leave no room"),
    "length of nothing": ({"models/m/max_query_length": 0}, "models.m.max_query_length: 0 is too small"),
}  # fmt: skip


test_each_mistake_is_one_line_before_anything_runs = each_is_one_line(MISTAKES, resolved)


@pytest.mark.parametrize(
    "changes",
    [
        {"recipes/r/margin": 2, "recipes/r/loss": "TripletLoss"},
        CROSS | {"recipes/r/margin": 2, "recipes/r/loss": "MarginRankingLoss", "recipes/r/head_learning_rate": 1e-3},
        CROSS
        | {"recipes/r/loss": "PairwiseSoftmaxLoss", "recipes/r/freeze": "encoder", "recipes/r/steps_per_epoch": 32},
        {"recipes/r/negatives": RANDOM | {"draw": "epoch"}, "recipes/r/epochs": 2},
        {"recipes/r/positives": {"per_query": 1}, "recipes/r/negatives": {"draw": "epoch"}},
        {"models/m/max_query_length": 100, "models/m/max_document_length": 100},
    ],
)
def test_what_goes_together_is_accepted(changes):
    resolved(changes)


def test_epochs_of_a_size():
    assert epochs_of({"32": 4.5, "all": 0.5}, "all", "x") == 0.5
    assert epochs_of({"128": 8, "32": 32}, 64, "x") == 32  # however the entries are sorted
