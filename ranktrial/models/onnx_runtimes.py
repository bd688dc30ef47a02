"""The runtimes that compute an ONNX graph on the CPU, according to the `backend` of a system: onnxruntime or OpenVINO.

Both read the same file. onnxruntime also quantises files, and runs those that were not exported by ranktrial; a record
beside an exported file states whether OpenVINO is used instead.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.models.instructions import WHOLE_SUMS, has

WHOLE_NUMBERS = {"i64": "int64", "i32": "int32"}  # OpenVINO's name of a type -> onnxruntime's


class Output(NamedTuple):
    """An output tensor of a graph; dynamic dimensions are not integers."""

    name: str
    shape: list


class Runtime(Protocol):
    """A loaded graph."""

    CONCURRENT: bool  # whether several threads may run it at once
    inputs: dict[str, str]  # input name -> type
    outputs: list[Output]

    def run(self, outputs: list[str], given: dict[str, np.ndarray]) -> list[np.ndarray]:
        """The named outputs for the given inputs."""


class OnnxRuntime:
    """A graph in onnxruntime."""

    CONCURRENT = True

    def __init__(self, file: Path, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # errors are raised
        if not has(WHOLE_SUMS):
            # Without VNNI, sums of int8 products saturate unless this is set, so scores would depend on the machine.
            # On other processors, it takes nearly twice the time for the same numbers.
            options.add_session_config_entry("session.x64quantprecision", "1")
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        types = {node.name: node.type for node in self.session.get_inputs()}
        self.inputs = {name: stated.removeprefix("tensor(").removesuffix(")") for name, stated in types.items()}
        self.outputs = [Output(node.name, node.shape) for node in self.session.get_outputs()]

    def run(self, outputs: list[str], given: dict[str, np.ndarray]) -> list[np.ndarray]:
        return self.session.run(outputs, given)


class OpenVino:
    """A graph in OpenVINO, computed in fp32 even on processors that are faster in bf16."""

    CONCURRENT = False

    def __init__(self, file: Path, threads: int) -> None:
        import openvino

        settings = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        if threads:
            settings["INFERENCE_NUM_THREADS"] = str(threads)
        self.graph = openvino.Core().compile_model(str(file), "CPU", settings)
        types = {node.get_any_name(): node.get_element_type().get_type_name() for node in self.graph.inputs}
        self.inputs = {name: WHOLE_NUMBERS.get(stated, stated) for name, stated in types.items()}
        self.outputs = [Output(node.get_any_name(), list(node.get_partial_shape())) for node in self.graph.outputs]

    def run(self, outputs: list[str], given: dict[str, np.ndarray]) -> list[np.ndarray]:
        found = self.graph(given)
        return [np.array(found[name]) for name in outputs]


RUNTIMES: dict[str, type[OnnxRuntime] | type[OpenVino]] = {"onnx": OnnxRuntime, "openvino": OpenVino}


def open_graph(file: Path, backend: str, threads: int | None = None) -> tuple[Runtime, int]:
    """A file's graph in a backend's runtime, and its number of threads: OMP_NUM_THREADS, or the number of cores.

    Raises UserError if there is no such backend, or if it cannot load the file.
    """
    if backend not in RUNTIMES:
        raise UserError(f"{file}: is to be run by {backend!r}; known are {', '.join(RUNTIMES)}")
    threads = threads or int(os.environ.get("OMP_NUM_THREADS", 0))
    try:
        return RUNTIMES[backend](file, threads), threads or os.cpu_count() or 1
    except Exception as error:  # the runtimes' own exceptions, which share no base class
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(f"{file}: cannot be loaded: {lines[0]}") from None
