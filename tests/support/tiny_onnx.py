"""Small ONNX files for tests, built by the onnx package's helpers."""

from pathlib import Path

import numpy as np
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from onnx.helper import make_node as node
from onnx.helper import make_tensor_value_info as value

FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64


def tensor(name: str, values: np.ndarray) -> TensorProto:
    return numpy_helper.from_array(values, name)


def model(
    nodes: list[NodeProto], weights: list[TensorProto], inputs: list[ValueInfoProto], outputs: list[ValueInfoProto]
) -> bytes:
    """A model of the operators' version 13."""
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


def placed(
    file: Path, embeddings: np.ndarray, positions: np.ndarray, kind: int = INT64, masked: bool = True, **names: str
) -> Path:
    """Write a model that gives each token its embedding and that of its position, both float32 of shape (…, width).

    It takes `input_ids` and `position_ids`, under other names where `names` has them, as whole numbers of a kind; and
    where it is `masked` an attention mask, which decides nothing of a token's vector.
    """
    free, width = ("batch", "tokens"), embeddings.shape[1]
    ids, places = (names.get(name, name) for name in ("input_ids", "position_ids"))
    nodes = [
        node("Gather", ["embeddings", ids], ["words"]),
        node("Gather", ["positions", places], ["places"]),
        node("Add", ["words", "places"], ["token_embeddings"]),
    ]
    weights = [tensor("embeddings", embeddings), tensor("positions", positions)]
    taken = dict.fromkeys([ids, places, *["attention_mask"] * masked])
    inputs = [value(name, kind, free) for name in taken]
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
    weights = [tensor("embeddings", embeddings)]
    nodes, output = [node("Gather", ["embeddings", "input_ids"], ["token_embeddings"])], "token_embeddings"
    shape: tuple[int | str, ...] = (*free, width)
    if pooled:
        nodes += [
            node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
            node("Unsqueeze", ["mask", "last"], ["column"]),
            node("Mul", ["token_embeddings", "column"], ["kept"]),
            node("ReduceSum", ["kept", "tokens"], ["sentence_embedding"], keepdims=0),
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
        node("Gather", ["embeddings", "input_ids"], ["words"]),
        node("Gather", ["segment", "token_type_ids"], ["segments"]),
        node("Add", ["words", "segments"], ["both"]),
        node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
        node("Unsqueeze", ["mask", "last"], ["column"]),
        node("Mul", ["both", "column"], ["kept"]),
        node("ReduceSum", ["kept", "tokens"], ["sum"], keepdims=0),
        node("MatMul", ["sum", "head"], ["logits"]),
    ]
    axes = {"last": np.array([2]), "tokens": np.array([1])}
    weights = [tensor("embeddings", embeddings), tensor("segment", segment), tensor("head", head)]
    weights += [tensor(name, axis) for name, axis in axes.items()]
    inputs = [value(name, INT64, free) for name in names]
    file.write_bytes(model(nodes, weights, inputs, [value("logits", FLOAT, ("batch", head.shape[1]))]))
    return file
