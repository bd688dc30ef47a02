"""Multi-vector models in ONNX against sentence-transformers itself: which tokens count, and ColBERT's queries."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference.indices import weights_sha256
from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from ranktrial.models.adapters import adapter
from scripts.inference.export import Settings, export_checkpoint
from tests.support.tiny_bert import build

WORDS = ["ash elm fig oak yew", "the price of oats in august", "rain , ."]
TEXTS = ["Oak", "yew , ash . elm", "the price of oats in august rain fig " * 3, "zebra! oak", "ash " * 90, "elm"]
PROMPTS = {"query": "price of ", "document": "rain fig "}  # of equally many tokens
MAX_LENGTH = 24
FILLED = {"strategy": "fixed", "attend": False, "length": 16}
MODELS = {
    "every token": {},
    "skipped in documents": {"skipped": [",", ".", "elm"]},
    "skipped in both": {"skipped": ["the", "."], "skiplist_tasks": ["query", "document"]},
    "kept alone": {"kept": ["[CLS]", "oak", "ash", "rain"]},
    "the mean over a query's tokens": {"similarity": "meanmaxsim"},
    "filled and not attended to": {"expansion": FILLED, "skipped": ["."]},
    "filled and attended to": {"expansion": {**FILLED, "attend": True}},
    "filled where shorter": {"expansion": {**FILLED, "strategy": "min", "length": 9, "attend": True}},
    "filled with another token": {"expansion": {**FILLED, "strategy": "min", "length": 9, "token": "rain"}},
}


def built(folder: Path, skipped=(), kept=None, expansion=None, similarity="maxsim", **of_mask) -> Path:
    """A tiny multi-vector model, saved; all have the same weights."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    kind = adapter("multi-vector")
    torch.manual_seed(2)
    model = kind.load(build(folder / "start", WORDS, seed=1), MAX_LENGTH, to_train=True)
    tokens = None if kept is None else [model.tokenizer.convert_tokens_to_ids(word) for word in kept]
    mask = MultiVectorMask(list(skipped), keep_only_token_ids=tokens, **of_mask)
    modules = [mask if isinstance(module, MultiVectorMask) else module for module in model]
    model[0].query_expansion = expansion
    whole = MultiVectorEncoder(modules=modules, prompts=PROMPTS, similarity_fn_name=similarity, device="cpu")
    whole.save_pretrained(str(folder / "model"), create_model_card=False)
    return folder / "model"


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    """The model in ONNX: tracing it is what takes long, and its graph is the same whichever tokens count."""
    folder = tmp_path_factory.mktemp("exported")
    settings = Settings(type="multi-vector", max_length=MAX_LENGTH, precision="fp32")
    assert export_checkpoint(adapter("multi-vector"), built(folder / "torch"), folder, settings) < 1e-5
    return folder


@pytest.mark.parametrize("facts", MODELS.values(), ids=MODELS)
def test_the_vectors_that_count_are_those_of_the_library(exported, tmp_path, facts):
    from sentence_transformers import MultiVectorEncoder

    kind, folder = adapter("multi-vector"), built(tmp_path, **facts)
    shutil.copytree(exported, tmp_path / "out", ignore=shutil.ignore_patterns("torch"))
    record = kind.exportable(kind.load(folder, MAX_LENGTH), tmp_path).record
    (tmp_path / "out" / "exported.json").write_text(json.dumps(record))
    library = MultiVectorEncoder(str(folder), device="cpu")
    library.max_seq_length = MAX_LENGTH
    model = kind.load(tmp_path / "out", MAX_LENGTH)
    assert kind.prompts(model) == PROMPTS and kind.facts(model)["precision"] == "fp32"
    counts = []
    for role, encode in (("query", library.encode_query), ("document", library.encode_document)):
        expected = encode(TEXTS, convert_to_numpy=True)
        mean = role == "query" and "similarity" in facts
        for size in (1, 3, 6):
            for rows, of_library in zip(kind.encode(model, TEXTS, size, role), expected, strict=True):
                assert rows.dtype == np.float32
                np.testing.assert_allclose(rows * (len(rows) if mean else 1), of_library, rtol=0, atol=1e-4)
        counts.append([len(rows) for rows in expected])
    queries, documents = counts
    assert max(documents) <= MAX_LENGTH and min(queries) >= (facts.get("expansion") or {}).get("length", 0)
    of_both = not {"kept", "expansion"} & set(facts) and ("skipped" not in facts or "skiplist_tasks" in facts)
    assert (queries == documents) == of_both


def test_int8_is_near_and_an_index_of_one_is_not_searched_with_the_other(exported, tmp_path):
    from ranktrial.models.onnx_export import quantise

    kind = adapter("multi-vector")
    shutil.copytree(exported, tmp_path / "int8", ignore=shutil.ignore_patterns("torch"))
    quantise(tmp_path / "int8" / "model.onnx")
    whole, small = kind.load(exported, MAX_LENGTH), kind.load(tmp_path / "int8", MAX_LENGTH)
    assert kind.facts(small)["precision"] == "int8"
    expected, found = (np.concatenate(kind.encode(model, TEXTS, 1, "document")) for model in (whole, small))
    assert 0.95 < (expected * found).sum(axis=1).min() < 0.99999
    assert len({weights_sha256(folder) for folder in (exported, tmp_path / "int8", exported / "torch" / "model")}) == 3


def test_others_and_those_that_merge_tokens_are_refused(exported, tmp_path):
    from sentence_transformers.multi_vector_encoder.modules.token_pooling import HierarchicalTokenPooling

    kind = adapter("multi-vector")
    shutil.copytree(exported, tmp_path / "out", ignore=shutil.ignore_patterns("torch"))
    (tmp_path / "out" / "exported.json").write_text("{}")
    with pytest.raises(UserError, match="not a multi-vector model that was exported here"):
        kind.load(tmp_path / "out", MAX_LENGTH)
    model = kind.load(built(tmp_path), MAX_LENGTH)
    model.append(HierarchicalTokenPooling(2))
    with pytest.raises(UserError, match="cannot be exported to ONNX: it merges tokens"):
        kind.exportable(model, tmp_path)
