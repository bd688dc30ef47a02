"""Export a checkpoint to ONNX, in fp32 or quantised to int8, with which a system ranks on the processor.

Reads a checkpoint in safetensors, trained or not; writes a folder as `backend: onnx` reads it. Its output in fp32 is
compared with torch on texts of several lengths and batches, and a graph with other output is refused.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.inference.encoding_settings import ExportSettings as Settings
from ranktrial.models.adapters import Adapter, adapter
from ranktrial.models.kernels import choose

TEXTS = ["ice", "The  price of oats, in 1846?", "a b c d e f g h", "Ströme; 河 \u0301!", "word " * 350 + "end " * 350]
BATCHES = (1, 2, 5)
TOLERANCE = 1e-4  # relative to torch's largest number: some rounding errors of fp32


def outputs(model_type: Adapter, folder: Path, model: Any, max_length: int, backend: str) -> np.ndarray:
    """The output for the texts in several batches, concatenated; `model` is loaded from the checkpoint."""
    made = []
    for size in BATCHES:
        if model_type.SEARCHES:
            encoded = [model_type.encode(model, TEXTS, size, role) for role in ("query", "document")]
            made += [numbers(rows) for rows in encoded]
        else:
            scorer = model_type.load_scorer(folder, max_length, size, backend)
            made.append(scorer.score([(text, other) for text in TEXTS for other in TEXTS]))
    return np.concatenate(made)


def numbers(encoded: Any) -> np.ndarray:
    """The output of `encode`, also if sparse or a list of vectors per text, as rows of numbers."""
    if isinstance(encoded, list):
        return np.concatenate(encoded)
    return encoded.toarray() if scipy.sparse.issparse(encoded) else encoded


def difference(model_type: Adapter, checkpoint: Path, model: Any, exported: Path, max_length: int) -> float:
    """The largest difference of an exported checkpoint's output from torch's, relative to the largest number."""
    expected = outputs(model_type, checkpoint, model, max_length, "torch")
    found = outputs(
        model_type, exported, model_type.load(exported, max_length) if model_type.SEARCHES else None, max_length, "onnx"
    )
    if found.shape != expected.shape:  # a different number of tokens
        return float("inf")
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-9))


def export_checkpoint(model_type: Adapter, checkpoint: Path, target: Path, settings: Settings) -> float:
    """Write a checkpoint in ONNX into an empty folder; return the difference of its fp32 output from torch.

    Raises UserError if the model cannot be exported, or its graph has other output.
    """
    from ranktrial.models.onnx_export import export, quantise
    from ranktrial.models.onnx_session import FILE

    model = model_type.load(checkpoint, settings.max_length).to("cpu")
    export(model_type.exportable(model, target), target)
    apart = difference(model_type, checkpoint, model, target, settings.max_length)
    if not apart <= TOLERANCE:
        problem = f"the graph differs from torch by {apart:.1e} of the largest number; at most {TOLERANCE:.0e} is right"
        raise UserError(f"cannot be exported to ONNX: {problem}")
    if settings.precision == "int8":
        quantise(target / FILE)
    return apart


def export(checkpoint: Path, exported: Path, settings: Settings) -> None:
    """Export a checkpoint to ONNX, in fp32 or quantised to int8, with which a system ranks on the processor."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # torch is compared in fp32 on the processor, like onnxruntime
    choose(settings.kernels)
    model_type = adapter(settings.type)
    with atomic_folder(exported) as target:
        try:
            apart = export_checkpoint(model_type, checkpoint, target, settings)
        except UserError as error:
            place = "" if str(checkpoint) in str(error) else f"{checkpoint}: "
            raise UserError(f"{place}{error}") from None
    form = f"for onnx in {settings.precision}"
    print(f"{checkpoint}: exported {form}, {apart:.1e} from torch in fp32", file=sys.stderr)


if __name__ == "__main__":
    job(export)
