"""Small ONNX files for tests, written as protocol buffers by hand: the onnx package is not needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FLOAT, INT32, INT64 = 1, 6, 7
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64, np.dtype(np.float16): 10, np.dtype(np.int8): 3}


def varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name: str, values: np.ndarray, packed: bool = False) -> bytes:
    """A TensorProto; its dimensions `packed` into one field or each in its own, which readers must both know."""
    shape = field(1, b"".join(map(varint, values.shape))) if packed else b"".join(field(1, n) for n in values.shape)
    return shape + field(2, TYPES[values.dtype]) + field(8, name) + field(9, values.tobytes())


def value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    """A ValueInfoProto; a dimension given as text is free."""
    sizes = b"".join(field(1, field(1 if isinstance(one, int) else 2, one)) for one in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes)))


def node(kind: str, inputs: list[str], output: str, **attributes: int) -> bytes:
    parts = [field(1, name) for name in inputs] + [field(2, output), field(4, kind)]
    parts += [field(5, field(1, name) + field(3, number) + field(20, 2)) for name, number in attributes.items()]
    return b"".join(parts)


def model(nodes: list[bytes], weights: list[bytes], inputs: list[bytes], outputs: list[bytes]) -> bytes:
    """A ModelProto of the operators' version 13."""
    graph = [field(1, one) for one in nodes] + [field(2, "tiny")] + [field(5, one) for one in weights]
    graph += [field(11, one) for one in inputs] + [field(12, one) for one in outputs]
    return field(1, 8) + field(7, b"".join(graph)) + field(8, field(1, "") + field(2, 13))


def placed(file: Path, embeddings: np.ndarray, positions: np.ndarray, kind: int = INT64, **names: str) -> Path:
    """Write a model that gives each token its embedding and that of its position, both float32 of shape (…, width).

    It takes `input_ids` and `position_ids`, under other names where `names` has them, as whole numbers of a kind.
    """
    free, width = ("batch", "tokens"), embeddings.shape[1]
    ids, places = (names.get(name, name) for name in ("input_ids", "position_ids"))
    nodes = [
        node("Gather", ["embeddings", ids], "words"),
        node("Gather", ["positions", places], "places"),
        node("Add", ["words", "places"], "token_embeddings"),
    ]
    weights = [tensor("embeddings", embeddings), tensor("positions", positions)]
    inputs = [value(name, kind, free) for name in (ids, places)]
    file.write_bytes(model(nodes, weights, inputs, [value("token_embeddings", FLOAT, (*free, width))]))
    return file


def bi_encoder(
    file: Path,
    embeddings: np.ndarray,
    pooled: bool = False,
    free: tuple[int | str, ...] = ("batch", "tokens"),
    mask: int = INT64,
) -> Path:
    """Write a model that gives each token its embedding or, `pooled`, each text the sum of its tokens' ones.

    `embeddings` is float32 of shape (vocabulary, width). `free` are the dimensions of what it takes, `mask` is the type
    of the attention mask.
    """
    width = embeddings.shape[1]
    weights = [tensor("embeddings", embeddings, packed=True)]
    nodes, output = [node("Gather", ["embeddings", "input_ids"], "token_embeddings")], "token_embeddings"
    shape: tuple[int | str, ...] = (*free, width)
    if pooled:
        nodes += [
            node("Cast", ["attention_mask"], "mask", to=FLOAT),
            node("Unsqueeze", ["mask", "last"], "column"),
            node("Mul", ["token_embeddings", "column"], "kept"),
            node("ReduceSum", ["kept", "tokens"], "sentence_embedding", keepdims=0),
        ]
        weights += [tensor(name, np.array([axis])) for name, axis in (("last", 2), ("tokens", 1))]
        output, shape = "sentence_embedding", ("batch", width)
    inputs = [value(name, kind, free) for name, kind in (("input_ids", INT64), ("attention_mask", mask))]
    file.write_bytes(model(nodes, weights, inputs, [value(output, FLOAT, shape)]))
    return file


def cross_encoder(file: Path, embeddings: np.ndarray, head: np.ndarray, segment: np.ndarray) -> Path:
    """Write a model whose logit is the sum, over the tokens that are no padding, of (embedding + segment) @ head.

    `embeddings` is float32 of shape (vocabulary, width), `head` (width, outputs), `segment` (2, width).
    """
    free = ("batch", "tokens")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    nodes = [
        node("Gather", ["embeddings", "input_ids"], "words"),
        node("Gather", ["segment", "token_type_ids"], "segments"),
        node("Add", ["words", "segments"], "both"),
        node("Cast", ["attention_mask"], "mask", to=FLOAT),
        node("Unsqueeze", ["mask", "last"], "column"),
        node("Mul", ["both", "column"], "kept"),
        node("ReduceSum", ["kept", "tokens"], "sum", keepdims=0),
        node("MatMul", ["sum", "head"], "logits"),
    ]
    axes = {"last": np.array([2]), "tokens": np.array([1])}
    weights = [tensor("embeddings", embeddings, packed=True), tensor("segment", segment), tensor("head", head)]
    weights += [tensor(name, axis) for name, axis in axes.items()]
    inputs = [value(name, INT64, free) for name in names]
    file.write_bytes(model(nodes, weights, inputs, [value("logits", FLOAT, ("batch", head.shape[1]))]))
    return file
