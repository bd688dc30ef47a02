"""OpenVINO runs what onnxruntime runs: every kind that is exported, in fp32 and int8, with the same numbers."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from ranktrial.models.adapters import adapter, adapters, exports
from ranktrial.models.onnx_export import quantise
from ranktrial.models.onnx_session import EXPORTED, FILE, open_graph
from scripts.inference.export import Settings, export_checkpoint, outputs
from tests.support.tiny_bert import build, build_masked

WORDS = ["ash elm fig oak yew", "the price of oats in august", "rain"]
MAX_LENGTH = 24


def checkpoint(kind: str, folder: Path) -> Path:
    """A tiny checkpoint of a kind, in torch."""
    if kind == "sparse-encoder":
        return build_masked(folder / "start", WORDS, seed=1)
    start = build(folder / "start", WORDS, seed=1)
    if kind == "bi-encoder":
        return start
    model = adapter(kind).load(start, MAX_LENGTH, to_train=True)
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return folder / "model"


def computed(kind: str, folder: Path, backend: str) -> np.ndarray:
    module = adapter(kind)
    return outputs(module, folder, module.load(folder, MAX_LENGTH) if module.SEARCHES else None, MAX_LENGTH, backend)


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(name for name in adapters() if exports(name)))
def test_every_kind_gives_the_same_by_both(kind, tmp_path):
    first = tmp_path / "openvino-fp32"
    first.mkdir()
    settings = Settings(kind, MAX_LENGTH, "fp32", "openvino")
    assert export_checkpoint(adapter(kind), checkpoint(kind, tmp_path), first, settings) < 1e-5
    record = json.loads((first / EXPORTED).read_text())
    assert record.pop("backend") == "openvino"
    made = {("openvino", "fp32"): computed(kind, first, "openvino")}
    for backend, precision in (("onnx", "fp32"), ("onnx", "int8"), ("openvino", "int8")):
        folder = shutil.copytree(first, tmp_path / f"{backend}-{precision}")
        (folder / EXPORTED).write_text(json.dumps({**record, "backend": backend}))
        if precision == "int8":
            quantise(folder / FILE)
        made[backend, precision] = computed(kind, folder, backend)
    whole, small = made["onnx", "fp32"], made["onnx", "int8"]
    largest = np.abs(whole).max()
    np.testing.assert_allclose(made["openvino", "fp32"], whole, rtol=0, atol=1e-4 * largest)
    # An activation on the border of two of its 256 steps may be rounded to either: the same size of error, not the same.
    lost, other = np.abs(small - whole).max(), np.abs(made["openvino", "int8"] - whole).max()
    assert 0 < other <= 2 * lost


def test_what_cannot_be_run_is_one_line(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_bytes(b"no graph")
    for backend in ("onnx", "openvino"):
        with pytest.raises(UserError, match=r"model\.onnx: cannot be loaded: ") as error:
            open_graph(file, backend)
        assert "\n" not in str(error.value)
    with pytest.raises(UserError, match="is to be run by 'tensorrt'; known are onnx, openvino"):
        open_graph(file, "tensorrt")


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
    runtime, _ = open_graph(tmp_path / "model.onnx", "onnx", threads=1)
    (sums,) = runtime.run(["sums"], {"given": given})
    np.testing.assert_array_equal(sums, given.astype(np.int32) @ weights.astype(np.int32))
