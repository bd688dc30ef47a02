"""Systems that rank with a checkpoint in ONNX, made from the one in torch: their keys, checks and words."""

from __future__ import annotations

from typing import Any

from scripts.experiment.checker import Checker
from scripts.models.adapters import adapters, exports

KEYS: dict[str, dict[str, Any]] = {
    "backend": {
        "description": "onnx, openvino: the checkpoint, trained or not, is exported to ONNX and ranks by onnxruntime "
        "or OpenVINO on the processor; torch (default) is what the model says",
        "enum": ["torch", "onnx", "openvino"],
    },
    "precision": {
        "description": "of the weights with backend: onnx, which int8 implies, or openvino: fp32 (default), or int8, "
        "quantised by onnxruntime",
        "enum": ["fp32", "int8"],
    },
}
OF_EXPORT = tuple(KEYS)
NAMES = {"onnx": "ONNX", "openvino": "OpenVINO"}


def export_settings(check: Checker, name: str, entry: dict[str, Any], kind: str) -> dict[str, str]:
    """How the checkpoint of a system is exported; empty where it is not. Raises UserError where that cannot be."""
    key, given = f"systems.{name}", entry.get("precision")
    for of_searches, what in (("embeddings", "has quantised vectors"), ("approximate", "can be approximate")):
        if of_searches in entry and kind != "retrieve":
            raise check.fail(f"{key}.{of_searches}", f"only a search of the whole corpus {what}; leave it out")
    backend = entry.get("backend", "onnx" if given == "int8" else "torch")
    if backend == "torch":
        if given:
            problem = f"{given} is of backend: onnx or openvino; torch computes in bf16 on a GPU that can, else in fp32"
            raise check.fail(f"{key}.precision", problem)
        return {}
    said, model = "backend" if "backend" in entry else "precision", check.config["models"][entry["model"]]
    if model["backend"] == "onnx":
        problem = f"model {entry['model']} is in ONNX already, as it is in its file; leave it out"
        raise check.fail(f"{key}.{said}", problem)
    if not exports(model["type"]):
        able = ", ".join(f"{kind}s" for kind in adapters() if exports(kind))
        raise check.fail(f"{key}.{said}", f"a {model['type']} ranks by torch only; {able} can be exported to ONNX")
    return {"backend": backend, "precision": given or "fp32"}


def export_text(settings: dict[str, Any]) -> str:
    """The export of a system, as a part of its description; empty without one."""
    return f"{NAMES[settings['backend']]} {settings['precision']}" if "backend" in settings else ""
