"""How much of what a machine can do a row reaches: its useful operations against the measured rate of matrix products.

On a processor these are in fp32, on a CUDA device in the precision in which our jobs compute there.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ranktrial.common.timing import now

ROUNDS = {"cpu": 5, "cuda": 200}  # a GPU takes some until its clock is up
# Rows, width and columns of matrices: large ones, and those of a small BERT's layers, which stay in a processor's caches.
SHAPES = {"cpu": [(3072, 3072, 3072), (2048, 384, 1536)], "cuda": [(8192, 8192, 8192)]}
BYTES = {"cpu": 1 << 28, "cuda": 1 << 32}  # copied


def on_gpu() -> bool:
    """Whether rows run on a CUDA device."""
    from ranktrial.models.running import device

    return device() == "cuda"


def best_seconds(work: Callable[[], object]) -> float:
    """The fewest seconds that it takes, of some times; on a CUDA device until it is done there."""
    from ranktrial.models.running import device

    taken = []
    for _ in range(ROUNDS[device()] + 1):  # the first warms up
        start = now()
        work()
        taken.append(now() - start)
    return min(taken[1:])


def product_rate() -> float:
    """Peak GEMM FLOP/s, of the fastest shape, by torch or as ours multiply."""
    import torch

    from ranktrial.models.processor import MANY, multiplier
    from ranktrial.models.running import device

    kind = torch.bfloat16 if on_gpu() and torch.cuda.is_bf16_supported() else torch.float32
    rates = []
    for rows, width, columns in SHAPES[device()]:
        one, other = (torch.rand(count, width, device=device()).to(kind) for count in (rows, columns))
        for work in (lambda one=one, other=other: one @ other.T, partial(multiplier(other, MANY), one)):
            rates.append(2 * rows * width * columns / best_seconds(work))
    return max(rates)


def copy_rate() -> float:
    """Bytes a second that are read, and written, when memory of the device is copied there."""
    import torch

    from ranktrial.models.running import device

    source = torch.zeros(BYTES[device()], dtype=torch.uint8, device=device())
    target = torch.empty_like(source)
    return 2 * BYTES[device()] / best_seconds(lambda: target.copy_(source))


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
    from ranktrial.models.onnx_session import load_tokenizer

    tokenizer = load_tokenizer(checkpoint, max_length)
    tokenizer.no_padding()
    return [
        len(encoding.ids)
        for encoding in tokenizer.encode_batch([tuple(t) if isinstance(t, list) else t for t in texts])
    ]
