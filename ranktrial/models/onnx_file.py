"""Reading an ONNX file with the onnx package before a runtime loads it: validity, and the precision of its weights."""

from __future__ import annotations

from collections import Counter
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from ranktrial.common.errors import UserError

if TYPE_CHECKING:
    import onnx

# Keys are the numbers of onnx.TensorProto.DataType.
PRECISIONS = {1: "fp32", 2: "int8", 3: "int8", 10: "fp16", 11: "fp64", 16: "bf16", 17: "fp8", 21: "int4", 22: "int4"}


def read_onnx(file: Path) -> onnx.ModelProto:
    """The model in a file, without external weights. Raises UserError unless it has a graph and operators."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        model = ModelProto.FromString(file.read_bytes())
    except DecodeError:
        model = ModelProto()
    if not model.HasField("graph") or not model.opset_import:
        raise UserError(f"{file}: not an ONNX file, or damaged")
    return model


def precision(file: Path) -> str:
    """The data type of most of a model's weights: fp32, fp16, int8 …; `unknown` if the file contains none."""
    sizes: Counter[str] = Counter()
    for tensor in read_onnx(file).graph.initializer:
        sizes[PRECISIONS.get(tensor.data_type, "unknown")] += prod(tensor.dims)
    return sizes.most_common(1)[0][0] if sizes else "unknown"
