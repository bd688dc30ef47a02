"""How much of what the processor can do a row reaches: its useful operations against the measured rate of sgemm."""

from __future__ import annotations

import json
import time
from pathlib import Path

SIZE, ROUNDS = 3072, 5


def sgemm_rate() -> float:
    """Operations a second of a product of square matrices in fp32, by torch, the best of some."""
    import torch

    one, other = torch.rand(SIZE, SIZE), torch.rand(SIZE, SIZE)
    best = float("inf")
    for _ in range(ROUNDS + 1):  # the first warms up
        start = time.perf_counter()
        one @ other
        best = min(best, time.perf_counter() - start)
    return 2 * SIZE**3 / best


def of_encoder(checkpoint: Path, lengths: list[int]) -> float:
    """The operations of a BERT on texts (or pairs) of so many tokens, without padding: a product counts as two.

    A layer multiplies each token with four matrices of its width and two that widen and narrow it, and each token with
    every other twice.
    """
    config = json.loads((checkpoint / "config.json").read_text())
    width, inner = config["hidden_size"], config["intermediate_size"]
    a_token = 2 * (4 * width * width + 2 * width * inner)
    return config["num_hidden_layers"] * sum(length * (a_token + 4 * width * length) for length in lengths)


def tokens(checkpoint: Path, texts: list, max_length: int) -> list[int]:
    """How many tokens of each text, or of each pair, a model keeps."""
    from scripts.models.onnx_session import load_tokenizer

    tokenizer = load_tokenizer(checkpoint, max_length)
    tokenizer.no_padding()
    return [
        len(encoding.ids)
        for encoding in tokenizer.encode_batch([tuple(t) if isinstance(t, list) else t for t in texts])
    ]
