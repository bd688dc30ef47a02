"""Candidates are re-ranked by a cross-encoder (MiniLM-L6 with a head that is drawn, 128 tokens): `CrossEncoder.predict`,
and ours. 100 documents per query, on a GPU 1,000."""

import random
from pathlib import Path

import numpy as np

from tests.benchmark import inputs, limits
from tests.benchmark.row import Result, Work

TITLE = "cross-encoder re-ranking, against CrossEncoder.predict"
UNIT = "pairs"
BATCH = 32
TOLERANCE = 1e-4  # of the range of the scores: roundings of fp32 in another order
LEAST_CORRELATION = {"int8": 0.95, "bf16": 0.99}


def prepare(folder: Path, small: bool) -> int:
    """Write the pairs, and the model with its head, which both sides load."""
    inputs.write_cross_encoder(folder / "model")
    return write_pairs(folder, *((1000, 3, 50) if limits.on_gpu() and not small else (100, 1, 1 if small else 15)))


def write_pairs(folder: Path, candidates: int, domains: int, questions: int) -> int:
    """Write so many questions, each with so many drawn answers of some domains; returns the number of pairs."""
    documents, asked = inputs.documents(domains), inputs.queries(domains=1)[:questions]
    drawn = random.Random(1)
    pairs = [(query, document) for query in asked for document in drawn.sample(documents, candidates)]
    inputs.write_texts(folder, pairs=pairs)
    return len(pairs)


def plain(folder: Path, precision: str = "fp32") -> Work:
    from sentence_transformers import CrossEncoder
    from torch.nn import Identity

    pairs = inputs.read_texts(folder)["pairs"]
    model = CrossEncoder(str(folder / "model"), max_length=inputs.MAX_LENGTH)
    if precision == "bf16":  # as its documentation proposes for speed
        model.bfloat16()
    model.predict(pairs[:BATCH])
    return lambda: {"scores": model.predict(pairs, batch_size=BATCH, activation_fn=Identity())}


def ours(folder: Path) -> Work:
    return by(folder, folder / "model", BATCH, "torch")


def ours_int8(folder: Path) -> Work:
    return by(folder, inputs.exported("cross-encoder", folder / "model", folder), 1, "onnx")


def by(folder: Path, checkpoint: Path, batch_size: int, backend: str) -> Work:
    """Ranking as a job does it, by a checkpoint in one form."""
    from ranktrial.inference.ranked import rank_by_pairs
    from ranktrial.models.adapters import adapter

    pairs = inputs.read_texts(folder)["pairs"]
    scorer = adapter("cross-encoder").load_scorer(checkpoint, inputs.MAX_LENGTH, batch_size, backend)
    scorer.score([tuple(pair) for pair in pairs[:BATCH]])
    queries = {query: [query] for query, _ in pairs}
    texts = {document: [document] for _, document in pairs}
    wanted: dict[str, list[str]] = {}
    for query, document in pairs:
        wanted.setdefault(query, []).append(document)

    def work() -> Result:
        ranked = rank_by_pairs(scorer.score, wanted, queries, texts, scorer.at_once)
        return {"scores": np.array([ranked[query][document] for query, document in pairs])}

    return work


SIDES = {"plain": plain, "ours": ours, "ours, int8": ours_int8}


def operations(folder: Path) -> float:
    pairs = inputs.read_texts(folder)["pairs"]
    return limits.of_encoder(folder / "model", limits.tokens(folder / "model", pairs, inputs.MAX_LENGTH))


def agree(side: str, plain: Result, ours: Result) -> str:
    if side == "ours, int8" or limits.on_gpu():
        precision = "int8" if side == "ours, int8" else "bf16"
        correlation = float(np.corrcoef(plain["scores"], ours["scores"])[0, 1])
        assert correlation > LEAST_CORRELATION[precision], f"correlation {correlation:.3f} of {precision}"
        return f"correlation {correlation:.4f} of {precision}"
    apart = float(np.abs(plain["scores"] - ours["scores"]).max() / np.ptp(plain["scores"]))
    assert apart < TOLERANCE, f"scores are {apart:.1e} of their range apart"
    return f"scores at most {apart:.0e} of their range apart"
