"""The number of texts or pairs that a model gets at a time."""

from __future__ import annotations

CHUNK = 1024  # pairs scored between two progress lines; sorted by length among themselves to reduce padding
BATCHES = 32  # batches per chunk: its texts are sorted by length among themselves to reduce padding


def texts_per_batch(batch_size: int, batch_tokens: int | None, max_length: int) -> int:
    """The number of texts of at most `max_length` tokens in a batch."""
    return batch_size if batch_tokens is None else max(1, batch_tokens // max_length)
