"""Sparse encoders in a configuration: their files and jobs, and what each mistake says."""

from scripts.inference import planning as inference
from scripts.training import planning as training
from tests.experiment.test_config import resolved
from tests.support.one_line import each_is_one_line

MODEL = {"models/splade": {"type": "sparse-encoder", "weights": "org/splade"}}
SEARCH = MODEL | {"systems/sparse": {"model": "splade"}}
TRAINED = MODEL | {"systems/sparse": {"model": "splade", "recipe": "s"}, "recipes/s": {"train_on": "d", "epochs": 2}}
AGAIN = {"model": "splade", "rerank": {"first_stage": "bm25"}}


def test_it_searches_an_index_of_its_own_and_re_ranks_without_one():
    experiment = resolved(SEARCH | {"systems/again": AGAIN})
    assert experiment.systems["sparse"].type == "retrieve"
    searching = inference.ranking_inputs(experiment, "runs/d", "sparse", "0")
    assert searching["index"] == "results/e/embeddings/d/splade/untrained/seed-0.terms"
    assert "index" not in inference.ranking_inputs(experiment, "runs/d", "again", "0")


def test_models_of_the_hub_are_planned_by_their_ids():
    hub = {"splade": "naver/splade-v3", "small": "prithivida/Splade_PP_en_v2"}
    hub["routed"] = "opensearch-project/opensearch-neural-sparse-encoding-doc-v3-distill"
    models = {f"models/{name}": {"type": "sparse-encoder", "weights": where} for name, where in hub.items()}
    experiment = resolved(models | {f"systems/{name}": {"model": name} for name in hub})
    assert [training.weights_source(experiment, name) for name in hub] == [(where, "main") for where in hub.values()]


def test_a_training_is_given_the_weights_of_regularizers_that_its_recipe_gives():
    weights = {"document_regularizer_weight": 1e-3, "query_regularizer_weight": 0}
    given = resolved(TRAINED | {"recipes/s": {"train_on": "d", "epochs": 2, **weights}})
    reported = training.training_settings(given, "splade", "s", "1")
    assert {name: reported[name] for name in weights} == weights
    usual = training.training_settings(resolved(TRAINED), "splade", "s", "1")
    assert usual == {name: value for name, value in reported.items() if name not in weights}


MISTAKES = {
    "onnx": (SEARCH | {"models/splade/backend": "onnx"}, "c.yaml: models.splade: backend onnx ranks with"),
    "passages": (SEARCH | {"systems/sparse/long_documents": "passages"},
     "c.yaml: systems.sparse.long_documents: a sparse-encoder compares whole texts; leave it out"),
    "vectors of the corpus": (MODEL | {"systems/sparse": AGAIN | {"rerank": {"first_stage": "bm25", "vectors": "corpus"}}},
     "c.yaml: systems.sparse.rerank.vectors: a model with more than one vector per text encodes the candidates; leave it out"),
    "weights of another kind": ({"recipes/r/document_regularizer_weight": 0.1},
     "c.yaml: recipes.r.document_regularizer_weight: loss auto has none here; SpladeLoss of a sparse-encoder has"),
    "a weight below 0": (TRAINED | {"recipes/s/document_regularizer_weight": -1}, "c.yaml: recipes.s.document_regularizer"),
}  # fmt: skip


test_each_mistake_is_one_line_that_names_file_and_key = each_is_one_line(MISTAKES, resolved)
