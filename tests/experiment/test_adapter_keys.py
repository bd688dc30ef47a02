"""Adapters, Matryoshka losses and truncated vectors in a configuration: jobs, names, words, and what mistakes say."""

import re
from pathlib import Path

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.common.keys import stated
from ranktrial.experiment.system_types import system_type
from ranktrial.models.training_keys import Lora
from scripts.inference import planning as inference
from scripts.training import planning as training
from tests.experiment.test_config import resolved as made
from tests.support.one_line import refused

FULL = {"r": 8, "lora_alpha": 16, "lora_dropout": 0, "target_modules": "all-linear", "merge": False}
SYSTEM = {"model": "m", "recipe": "r"}


def test_a_training_is_given_what_its_recipe_says_and_nothing_where_it_says_nothing():
    usual = training.training_settings(made(), "m", "r", "1")
    assert not {"lora", "precision", "matryoshka_dims", "gradient_checkpointing"} & usual.keys()
    assert training.training_settings(made(recipes__r__gradient_checkpointing=False), "m", "r", "1") == usual
    reported = training.training_settings(
        made(recipes__r__lora={}, recipes__r__gradient_checkpointing=True, recipes__r__matryoshka_dims=[64, 32]),
        *("m", "r", "1"),
    )
    assert reported == usual | {"lora": {}, "gradient_checkpointing": True, "matryoshka_dims": [64, 32]}
    assert training.training_settings(made(recipes__r__precision="bf16"), "m", "r", "1") == usual | {
        "precision": "bf16"
    }


def test_a_training_that_several_processes_share_is_given_so_and_asks_for_as_many_cards():
    usual = training.training_settings(made(), "m", "r", "1")
    assert not {"gpus", "nodes"} & usual.keys() and training.gpus(made(), "r") == 1
    assert training.training_settings(made(recipes__r__gpus=4), "m", "r", "1") == usual | {"gpus": 4}
    assert training.gpus(made(recipes__r__gpus=4), "r") == 4
    several = made(recipes__r__gpus=4, recipes__r__nodes=2)
    assert training.training_settings(several, "m", "r", "1") == usual | {"gpus": 4, "nodes": 2}
    assert (training.gpus(several, "r"), training.nodes(several, "r"), training.nodes(made(), "r")) == (4, 2, 1)


def test_lists_of_layers_and_dimensions_are_one_value_and_a_list_of_ranks_makes_recipes():
    given = {"r": [4, 16], "target_modules": ["query", "value"]}
    experiment = made(recipes__r__lora=given, recipes__r__matryoshka_dims=[64, 32])
    assert set(experiment.recipes) == {"r-4", "r-16"}
    for name, rank in (("r-4", 4), ("r-16", 16)):
        assert stated(experiment.recipes[name].lora) == FULL | {"r": rank, "target_modules": ["query", "value"]}
        assert experiment.recipes[name].matryoshka_dims == (64, 32)


def test_one_checkpoint_and_its_encoded_corpus_serve_systems_of_several_dimensions():
    experiment = made(systems__tuned=SYSTEM, systems__short=SYSTEM | {"truncate_dim": [128, 64]})
    names = ("tuned", "short-128", "short-64")
    assert [experiment.systems[name].truncate_dim for name in names] == [None, 128, 64]
    assert len({inference.ranking_inputs(experiment, "runs/d", name, "1")["checkpoint"] for name in names}) == 1
    assert len({inference.ranking_inputs(experiment, "runs/d", name, "1")["index"] for name in names}) == 1
    reported = [inference.ranking_settings(experiment, "runs/d", name, 1) for name in names]
    assert "truncate_dim" not in reported[0] and [one["truncate_dim"] for one in reported[1:]] == [128, 64]


def test_systems_of_other_dimensions_are_compared_and_of_the_same_ones_are_not():
    short = {"systems__short": SYSTEM | {"truncate_dim": 64}, "systems__tuned": SYSTEM}
    comparison = {"control": "tuned", "treatment": "short", "measure": "nDCG@10"}
    assert made(**short, comparisons__x=comparison).comparisons["x"]
    again = short | {"systems__tuned": SYSTEM | {"truncate_dim": 64}}
    with pytest.raises(UserError, match="are one system under two names"):
        made(**again, comparisons__x=comparison)


def test_the_starting_point_of_truncated_vectors_is_truncated_alike():
    systems = {"systems__short": SYSTEM | {"truncate_dim": 64}, "systems__zero": {"model": "m"}}
    comparison = {"control": "starting-point", "treatment": "short", "measure": "nDCG@10"}
    with pytest.raises(UserError, match="no system ranks as short does"):
        made(**systems, comparisons__x=comparison)
    fitting = systems | {"systems__zero-short": {"model": "m", "truncate_dim": 64}}
    assert made(**fitting, comparisons__x=comparison).comparisons["x"].control == "zero-short"


def test_words_and_provenance_tell_of_it():
    experiment = made(
        recipes__r__lora={"merge": True},
        recipes__r__matryoshka_dims=[64, 32],
        systems__short=SYSTEM | {"truncate_dim": 64},
    )
    system = experiment.systems["short"]
    words = system_type(system).describe(experiment, system)
    assert ", by a LoRA adapter of rank 8 that is merged, for the first 64, 32 dimensions (Matryoshka), 1 seed" in words
    assert words.endswith(", the first 64 dimensions of its vectors")
    stage = system_type(system).provenance(experiment, system)
    assert stage["truncate_dim"] == 64 and stage["training"]["lora"] == FULL | {"merge": True}


def test_the_lines_of_the_documentation_are_a_configuration():
    page = (Path(__file__).parents[2] / "docs/training.md").read_text()
    written = yaml.safe_load(re.search(r"```yaml\n(recipes:\n  small:.*?)```", page, re.DOTALL)[1])
    changes = {f"systems/{name}": entry | {"model": "m", "recipe": "r"} for name, entry in written["systems"].items()}
    experiment = made(changes | {"recipes/r": written["recipes"]["small"] | {"train_on": "d"}})
    assert {"whole", "short-128", "short-64"} <= set(experiment.systems)
    assert experiment.recipes["r"].lora == Lora() and experiment.recipes["r"].matryoshka_dims == (384, 128, 64)


CROSS = {"models/ce": {"type": "cross-encoder", "weights": "org/ce"}}
SPARSE = {"models/s": {"type": "sparse-encoder", "weights": "org/s"}}
RERANK = {"first_stage": "bm25", "depth": 10}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (CROSS | {"systems/x": {"model": "ce", "rerank": RERANK, "truncate_dim": 64}},
         "systems.x.truncate_dim: a cross-encoder has no vectors to truncate; bi-encoders and bi-encoder-endpoints do"),
        (SPARSE | {"systems/x": {"model": "s", "truncate_dim": 64}},
         "systems.x.truncate_dim: a sparse-encoder has no vectors to truncate; bi-encoders and bi-encoder-endpoints do"),
        (SPARSE | {"systems/x": {"model": "s", "recipe": "r"}, "systems/tuned": {"model": "m"}, "recipes/r/matryoshka_dims": [64]},
         "recipes.r.matryoshka_dims: a sparse-encoder has no vectors whose first dimensions could be trained"),
        ({"recipes/r/matryoshka_dims": []}, "recipes.r.matryoshka_dims"),
        ({"recipes/r/matryoshka_dims": [64, 64]}, "recipes.r.matryoshka_dims"),
        ({"recipes/r/matryoshka_dims": 0}, "recipes.r.matryoshka_dims"),
        ({"recipes/r/lora/r": 0}, "recipes.r.lora.r"),
        ({"recipes/r/lora": {"rank": 8}}, "recipes.r.lora"),
        ({"recipes/r/lora/target_modules": "query"}, "recipes.r.lora.target_modules"),
        ({"recipes/r/lora/target_modules": ["(a+)+"]}, "recipes.r.lora.target_modules"),
        ({"recipes/r/gpus": 0}, "recipes.r.gpus"),
        ({"recipes/r/gpus": 1.5}, "recipes.r.gpus"),
        ({"recipes/r/nodes": 0}, "recipes.r.nodes"),
        ({"recipes/r/gradient_checkpointing": "yes please"}, "recipes.r.gradient_checkpointing"),
        ({"recipes/r/precision": "int8"}, "recipes.r.precision"),
        ({"systems/x": {"type": "bm25", "truncate_dim": 64}}, "truncate_dim"),
    ],
)  # fmt: skip
def test_mistakes_are_reported_in_a_line_before_anything_runs(changes, said):
    with refused(said):
        made(changes)
