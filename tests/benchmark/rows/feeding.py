"""What a graphics card waits for: pairs of 128 tokens become batches, 1,000 candidates per query, without any model's
computing. The library's `preprocess` of 32 pairs at a time, and ours by tokens, 65,536 a batch."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmark import inputs
from tests.benchmark.row import Result, Work
from tests.benchmark.rows import reranking

TITLE = "pairs made ready for a cross-encoder, against its preprocess"
UNIT = "pairs"


def prepare(folder: Path, small: bool) -> int:
    inputs.write_cross_encoder(folder / "model")
    return reranking.write_pairs(folder, *((100, 1, 1) if small else (1000, 3, 30)))


def loaded(folder: Path) -> tuple[Any, list[tuple[str, str]]]:
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder / "model"), max_length=inputs.MAX_LENGTH)
    model.max_seq_length = inputs.MAX_LENGTH
    return model, [tuple(pair) for pair in inputs.read_texts(folder)["pairs"]]


def reported(ids: Any) -> np.ndarray:
    """A number for the tokens of each pair, in which their order counts; padding is 0."""
    return (np.asarray(ids) * np.arange(1, ids.shape[1] + 1)).sum(axis=1)


def plain(folder: Path) -> Work:
    model, pairs = loaded(folder)

    def work() -> Result:
        rows = np.zeros(len(pairs), np.int64)
        order = np.argsort([-len(query) - len(document) for query, document in pairs])
        for first in range(0, len(pairs), reranking.BATCH):
            batch = order[first : first + reranking.BATCH]
            rows[batch] = reported(model.preprocess([pairs[place] for place in batch])["input_ids"])
        return {"tokens": rows}

    return work


def ours(folder: Path) -> Work:
    from ranktrial.models.token_batches import Tokenised, batches

    model, pairs = loaded(folder)

    def work() -> Result:
        rows = np.zeros(len(pairs), np.int64)
        tokens = Tokenised(model, pairs, "")
        for batch in batches(tokens.lengths, reranking.BATCH, inputs.TOKENS):
            rows[batch] = reported(tokens.preprocess([pairs[place] for place in batch])["input_ids"])
        assert tokens.trusted
        return {"tokens": rows}

    return work


SIDES = {"plain": plain, "ours": ours}


def agree(side: str, plain: Result, ours: Result) -> str:
    assert np.array_equal(plain["tokens"], ours["tokens"]), "other tokens"
    return "the same tokens"
