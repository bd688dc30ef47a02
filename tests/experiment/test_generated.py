"""Generated queries in a configuration: what their job is given, what recipes learn from them, and what each mistake says."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import describe
from scripts.datasets import planning
from scripts.training.planning import Examples, examples_name, settings_of
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import each_is_one_line

CHANGES = {
    "models/writer": {"type": "query-generator", "weights": "org/writer", "max_length": 256},
    "datasets/g": {"format": "generated", "corpus": "d", "generator": "writer", "sampled_documents": 50},
    "recipes/r": {"train_on": "g", "labels": "generated"},
}


def experiment(**further):
    return of_base(CHANGES, **further)


def test_what_its_job_is_given():
    resolved = experiment()
    assert planning.generated(resolved) == ["g"]
    assert "g" not in [*planning.whole(resolved), *planning.without_corpus(resolved)]
    assert planning.generation_settings(resolved, "g") == {
        **{"type": "query-generator", "max_length": 256, "batch_size": 32, "seed": resolved.seed},
        **{"sampled_documents": 50, "queries_per_document": 3},
    }
    asked = planning.generation_settings(experiment(datasets__g__prompt="Text: {document}\nQuery:"), "g")
    assert asked["prompt"] == "Text: {document}\nQuery:"
    assert planning.generator_checkpoint(resolved, "g").endswith("models/writer/untrained/seed-0")
    assert any("data/g/" in file for file in planning.statistics(resolved))
    assert not any("data/g/" in file for file in planning.fetched_statistics(resolved))


def test_what_a_recipe_says_of_them():
    finding = {"positives": {"found_within": 1}, "negatives": {"cross_encoder": "ranker"}}
    systems = {"systems__ranker": {"model": "ce", "rerank": {"first_stage": "bm25"}}}
    resolved = experiment(recipes__r={**CHANGES["recipes/r"], **finding}, **systems)
    recipe = resolved.recipes["r"]
    assert "generated-labels" in examples_name(recipe) and "found-within-1" in examples_name(recipe)
    assert settings_of(resolved, Examples(recipe, 1))["found_within"] == 1 and recipe.negatives.mined
    assert "fine-tuned with recipe r on g" in describe(resolved, resolved.systems["tuned"])


CASES = {
    "human labels": ({"recipes/r": {"train_on": "g"}}, "recipes.r.labels: human, but a model writes the training queries of g"),
    "of other data": ({"recipes/r": {"train_on": "d", "labels": "generated"}}, "recipes.r.labels: d is not of format generated"),
    "no corpus": ({"datasets/g": {"format": "generated", "generator": "writer"}}, "datasets.g.corpus: is needed"),
    "a location": ({"datasets/g/location": "x"}, "datasets.g: a dataset of format generated cannot have 'location'"),
    "splits": ({"datasets/g/splits": {"dev": 0.1}}, "datasets.g: a dataset of format generated cannot have 'splits'"),
    "a prompt without a document": ({"datasets/g/prompt": "write"}, "datasets.g.prompt: has no {document}"),
    "a model that ranks": ({"datasets/g/generator": "m"}, "datasets.g.generator: m is of type bi-encoder, which writes nothing"),
    "no such model": ({"datasets/g/generator": "x"}, "datasets.g.generator: unknown name 'x'"),
    "a writer that ranks": ({"systems/w": {"model": "writer"}}, "systems.w.model: writer is of type query-generator"),
    "tested on": ({"tasks": ["g"]}, "g has no judgements for the split test; its splits are train"),
    "found by nobody": ({"recipes/r/positives": {"found_within": 1}}, "recipes.r.positives.found_within: only valid with negatives.cross_encoder"),
}  # fmt: skip


def test_a_split_that_cannot_be_carved_out_of_written_queries_is_not_recommended():
    with pytest.raises(UserError, match=r"its splits are train$"):
        of_base(CHANGES, tasks=["g"])


test_each_mistake_is_one_line = each_is_one_line(CASES, lambda changes: of_base(CHANGES | changes))
