"""Multi-vector models in a configuration: their files and jobs, and what each mistake says."""

from ranktrial.experiment.systems.retrieve import TYPE as SEARCHING
from scripts.inference import planning as inference
from scripts.training import planning as training
from tests.experiment.test_config import resolved
from tests.support.one_line import each_is_one_line

HUB = {
    "stanford": "colbert-ir/colbertv2.0",
    "small": "answerdotai/answerai-colbert-small-v1",
    "modern": "lightonai/GTE-ModernColBERT-v1",
}
MODEL = {"models/mv": {"type": "multi-vector", "weights": "org/mv"}}
SEARCH = MODEL | {"systems/late": {"model": "mv"}}
TRAINED = MODEL | {"systems/late": {"model": "mv", "recipe": "r"}}
AGAIN = {"model": "mv", "rerank": {"first_stage": "bm25"}}


def test_it_searches_an_index_of_its_own_and_re_ranks_without_one():
    experiment = resolved(SEARCH | {"systems/again": AGAIN})
    assert experiment.systems["late"].type == SEARCHING.name
    read = {name: inference.ranking_inputs(experiment, "runs/d", name, "1") for name in ("late", "again", "tuned")}
    assert read["late"]["index"] == "results/e/embeddings/d/mv/untrained/seed-0.token-vectors"
    assert "index" not in read["again"] and read["tuned"]["index"] == "results/e/embeddings/d/m/r/seed-1.vectors"
    assert inference.encoding_settings(experiment, "d", "mv")["type"] == "multi-vector"


def test_models_of_the_hub_are_planned_by_their_ids():
    models = {f"models/{name}": {"type": "multi-vector", "weights": hub} for name, hub in HUB.items()}
    experiment = resolved(models | {f"systems/{name}": {"model": name} for name in HUB})
    for name, hub in HUB.items():
        assert training.weights_source(experiment, name) == (hub, "main")
        index = inference.ranking_inputs(experiment, "runs/d", name, "0")["index"]
        assert index.endswith(f"/d/{name}/untrained/seed-0.token-vectors")


def test_one_mines_and_is_fused_and_has_its_seed_selected():
    others = {
        "datasets/other": {"format": "beir", "location": "docs"},
        "tasks": ["d", "other"],
        "recipes/mined": {"train_on": "d", "negatives": {"from": "late", "relative_margin": 0.05}},
        "systems/mined": {"model": "m", "recipe": "mined"},
        "systems/both": {"type": "fusion", "systems": ["bm25", "late"]},
        "systems/late": {"model": "mv", "recipe": "r", "seeds": 2, "select_seed": {"task": "d/dev"}},
    }
    experiment = resolved(MODEL | others)
    assert experiment.systems["both"].seeds == (1, 2) and experiment.systems["late"].selection
    assert inference.ranking_inputs(experiment, "runs/d", "late", "2")["checkpoint"] == "results/e/models/mv/r/seed-2"


def test_its_token_vectors_can_be_coded_and_are_searched_in_codes():
    coded = {"systems/late/approximate": {"index": "IVF4096,PQ32", "nprobe": 4}}
    experiment = resolved(SEARCH | coded)
    read = inference.ranking_inputs(experiment, "runs/d", "late", "0")
    assert read["index"] == "results/e/embeddings/d/mv/untrained/seed-0.IVF4096_PQ32"
    assert read["vectors"] == "results/e/embeddings/d/mv/untrained/seed-0.token-vectors"
    of_index = {"dataset": "d", "model": "mv", "recipe": "untrained", "seed": "0", "made": "IVF4096_PQ32"}
    assert inference.vectors_coded(experiment, **of_index) == read["vectors"]
    made = {"form": "token-codes", "name": "IVF4096,PQ32"}
    assert inference.making_settings(experiment, "mv", "IVF4096_PQ32") == made
    assert "ranktrial/inference/searches/token_codes.py" in inference.ranking_modules(experiment, "runs/d", "late")


MISTAKES = {
    "a graph of tokens": (SEARCH | {"systems/late/approximate": {"index": "HNSW32"}},
     "c.yaml: systems.late.approximate.index: HNSW32 is none for token vectors; expected centroids and residual codes, IVF4096,PQ32"),
    "onnx": (SEARCH | {"models/mv/backend": "onnx"}, "c.yaml: models.mv: backend onnx ranks with"),
    "pooling": (SEARCH | {"models/mv/pooling": "cls"}, "c.yaml: models.mv.pooling: only valid for a bi-encoder"),
    "passages": (SEARCH | {"systems/late/long_documents": "passages"},
     "c.yaml: systems.late.long_documents: a multi-vector compares whole texts; leave it out"),
    "vectors of the corpus": (MODEL | {"systems/late": AGAIN | {"rerank": {"first_stage": "bm25", "vectors": "corpus"}}},
     "c.yaml: systems.late.rerank.vectors: a model with more than one vector per text encodes the candidates; leave it out"),
    "learning from passages": (TRAINED | {"recipes/r/long_documents": "passages"},
     "c.yaml: recipes.r.loss: long_documents: passages makes labelled pairs of passages, and no loss of a multi-vector"),
    "a loss of bi-encoders": (TRAINED | {"recipes/r/loss": "CosineSimilarityLoss", "systems/tuned": ...},
     "c.yaml: recipes.r.loss: loss 'CosineSimilarityLoss' is not one that a multi-vector can be trained with here: it is for a bi-encoder"),
}  # fmt: skip


test_each_mistake_is_one_line_that_names_file_and_key = each_is_one_line(
    MISTAKES, lambda changes: resolved(changes | ({"comparisons": {}} if "systems/tuned" in changes else {}))
)
