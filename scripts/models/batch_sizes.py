"""How many texts or pairs a model gets at a time."""

from __future__ import annotations

CHUNK = 1024  # pairs scored between two lines of progress; sorted by length among themselves, to pad less
BATCHES = 32  # of a chunk: its texts are sorted by length among themselves, so that padding costs little


def texts_per_batch(batch_size: int, batch_tokens: int | None, max_length: int) -> int:
    """How many texts of at most `max_length` tokens a batch has."""
    return batch_size if batch_tokens is None else max(1, batch_tokens // max_length)
