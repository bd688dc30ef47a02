"""onnxruntime: what it cannot load is one line, and its sums of int8 products are whole on every processor."""

import numpy as np
import onnx
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from ranktrial.models.onnx_session import open_graph


def test_what_cannot_be_run_is_one_line(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_bytes(b"no graph")
    with pytest.raises(UserError, match=r"model\.onnx: cannot be loaded: ") as error:
        open_graph(file)
    assert "\n" not in str(error.value)


def test_products_of_eight_bits_are_added_up_whole_on_every_processor(tmp_path):
    """Pairs of 255 x 127 do not fit into 16 bits, in which processors without VNNI add them up unless told not to."""
    rng = np.random.default_rng(7)
    weights = rng.choice(np.array([-128, 127], dtype=np.int8), size=(64, 16))
    given = rng.choice(np.array([0, 255], dtype=np.uint8), size=(5, 64))
    node = onnx.helper.make_node("MatMulInteger", ["given", "weights"], ["sums"])
    sides = [("given", onnx.TensorProto.UINT8, [5, 64]), ("sums", onnx.TensorProto.INT32, [5, 16])]
    inputs, outputs = ([onnx.helper.make_tensor_value_info(*side)] for side in sides)
    graph = onnx.helper.make_graph(
        [node], "products", inputs, outputs, [onnx.numpy_helper.from_array(weights, "weights")]
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "model.onnx")
    runtime, _ = open_graph(tmp_path / "model.onnx", threads=1)
    (sums,) = runtime.run(["sums"], {"given": given})
    np.testing.assert_array_equal(sums, given.astype(np.int32) @ weights.astype(np.int32))
