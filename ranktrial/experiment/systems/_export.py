"""Systems that rank with a torch checkpoint exported to ONNX: their keys, checks and descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import LEFT_OUT
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.index_records import Export
from ranktrial.models.adapters import adapters, exports

NAMES = {"onnx": "ONNX", "openvino": "OpenVINO"}


@dataclass(frozen=True, kw_only=True)
class ExportKeys:
    """The keys of the export of a torch checkpoint."""

    backend: Annotated[
        Literal["torch", "onnx", "openvino"] | None,
        "onnx, openvino: the checkpoint, trained or not, is exported to ONNX and ranks with onnxruntime or "
        "OpenVINO on the CPU; torch (default): the backend that the model names",
        LEFT_OUT,
    ] = None
    precision: Annotated[
        Literal["fp32", "int8"] | None,
        "precision of the weights with backend: onnx (which int8 implies) or openvino: fp32 (default), or int8, "
        "quantised by onnxruntime",
        LEFT_OUT,
    ] = None


def export_settings(check: Checker, name: str, entry: ExportKeys, model: str, system_type: str) -> Export | None:
    """Return the export of a system's checkpoint, or None. Raises UserError if the export is impossible."""
    key, given = f"systems.{name}", entry.precision
    for of_searches, what in (("embeddings", "has quantised vectors"), ("approximate", "can be approximate")):
        if getattr(entry, of_searches, None) and system_type != "retrieve":
            raise check.fail(f"{key}.{of_searches}", f"only a search of the whole corpus {what}; leave it out")
    backend = entry.backend or ("onnx" if given == "int8" else "torch")
    if backend == "torch":
        if given:
            problem = f"{given} is of backend: onnx or openvino; torch computes in bf16 on a GPU that can, else in fp32"
            raise check.fail(f"{key}.precision", problem)
        return None
    said, used = "backend" if entry.backend else "precision", check.config.models[model]
    if used.backend == "onnx":
        problem = f"model {model} is in ONNX already, as it is in its file; leave it out"
        raise check.fail(f"{key}.{said}", problem)
    if not exports(used.type):
        able = ", ".join(f"{model_type}s" for model_type in adapters() if exports(model_type))
        raise check.fail(f"{key}.{said}", f"a {used.type} ranks by torch only; {able} can be exported to ONNX")
    return Export(backend, given or "fp32")


def export_text(export: Export | None) -> str:
    """Return the export as part of a system's description; empty without one."""
    return f"{NAMES[export.backend]} {export.precision}" if export else ""
