"""A corpus is encoded by a bi-encoder (all-MiniLM-L6-v2, 128 tokens, batches of 32): `SentenceTransformer.encode`, and ours.

In int8 batches have one text, so that no vector depends on those beside it."""

from pathlib import Path

import numpy as np

from tests.benchmark import inputs, limits
from tests.benchmark.row import Result, Work

TITLE = "bi-encoder encoding, against SentenceTransformer.encode"
UNIT = "documents"
BATCH = 32
TOLERANCE = 1e-4  # of a unit vector: roundings of fp32 in another order
LEAST_COSINE = {"int8": 0.97, "bf16": 0.999}  # on average


def prepare(folder: Path, small: bool) -> int:
    texts = inputs.documents(1)[:64] if small else inputs.documents(len(inputs.DOMAINS) if limits.on_gpu() else 2)
    inputs.write_texts(folder, documents=texts)
    return len(texts)


def plain(folder: Path, precision: str = "fp32") -> Work:
    from sentence_transformers import SentenceTransformer

    given = inputs.read_texts(folder)
    model = SentenceTransformer(given["checkpoint"])
    model.max_seq_length = inputs.MAX_LENGTH
    if precision == "bf16":  # as its documentation proposes for speed
        model.bfloat16()
    model.encode(given["documents"][:BATCH])
    return lambda: {"vectors": model.encode(given["documents"], batch_size=BATCH, normalize_embeddings=True)}


def ours(folder: Path) -> Work:
    return by(Path(inputs.read_texts(folder)["checkpoint"]), folder, BATCH)


def ours_int8(folder: Path) -> Work:
    return by(inputs.exported("bi-encoder", Path(inputs.read_texts(folder)["checkpoint"]), folder), folder, 1)


def by(checkpoint: Path, folder: Path, batch_size: int) -> Work:
    """Encoding as a job does it, by a checkpoint in one form."""
    from ranktrial.models.adapters import adapter
    from ranktrial.models.batch_sizes import BATCHES, texts_per_batch
    from ranktrial.models.gpu import at_once
    from ranktrial.models.loaded import rank_fast, size_batches
    from ranktrial.models.running import is_module

    kind, texts = adapter("bi-encoder"), inputs.read_texts(folder)["documents"]
    model = kind.load(checkpoint, inputs.MAX_LENGTH)
    rank_fast(model)
    size_batches(kind, model, None)
    size = BATCHES * texts_per_batch(BATCH, None, inputs.MAX_LENGTH)
    if is_module(model):
        size = at_once(model, size)
    kind.encode(model, texts[:BATCH], batch_size, "document")

    def work() -> Result:  # chunk by chunk
        chunks = [texts[first : first + size] for first in range(0, len(texts), size)]
        encoded = [kind.encode(model, chunk, batch_size, "document") for chunk in chunks]
        return {"vectors": np.concatenate(encoded)}

    return work


SIDES = {"plain": plain, "ours": ours, "ours, int8": ours_int8}


def operations(folder: Path) -> float:
    given = inputs.read_texts(folder)
    checkpoint = Path(given["checkpoint"])
    return limits.of_encoder(checkpoint, limits.tokens(checkpoint, given["documents"], inputs.MAX_LENGTH))


def agree(side: str, plain: Result, ours: Result) -> str:
    if side == "ours, int8" or limits.on_gpu():
        precision = "int8" if side == "ours, int8" else "bf16"
        cosine = float((plain["vectors"] * ours["vectors"]).sum(axis=1).mean())
        assert cosine > LEAST_COSINE[precision], f"mean cosine {cosine:.3f} of {precision}"
        return f"mean cosine {cosine:.4f} of {precision}"
    apart = float(np.abs(plain["vectors"] - ours["vectors"]).max())
    assert apart < TOLERANCE, f"vectors are {apart:.1e} apart"
    return f"vectors at most {apart:.0e} apart"
