"""Export of a loaded torch model to an ONNX checkpoint for `backend: onnx`: graph, tokenizer.json and records.

The graph covers everything between tokens and output: for a bi-encoder, also pooling, dense layers and normalisation.
It is traced by torch's exporter with dynamic numbers of texts and tokens. For int8, onnxruntime quantises the weights,
with a range per column of a matrix, and the activations at run time (dynamic quantisation). One of the eight bits is
left unused (`reduce_range`), so that sums of products fit into 16 bits: processors without VNNI would otherwise
saturate them, and results would differ between processors.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.models.onnx_session import EXPORTED, FILE, INPUTS

OUTPUT = "output"
LARGEST = 2_000_000_000  # bytes of weights: an ONNX file is one protocol buffer, limited to 2 GiB


@dataclass(frozen=True)
class Exportable:
    """A model to export: `compute` returns a tensor with one row per text for inputs such as the example `features`.

    `record` is stored in the checkpoint beside the graph: prompts and, for vectors, their similarity.
    """

    model: torch.nn.Module
    compute: Callable[[torch.nn.Module, dict[str, torch.Tensor]], torch.Tensor]
    features: dict[str, Any]
    tokenizer: Any
    record: dict[str, Any]


class _Graph(torch.nn.Module):
    """The traced module: tensors in, one tensor out."""

    def __init__(self, exportable: Exportable) -> None:
        super().__init__()
        self.model, self.compute = exportable.model, exportable.compute

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None) -> torch.Tensor:
        given = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        return self.compute(self.model, {name: tensor for name, tensor in given.items() if tensor is not None})


def export(exportable: Exportable, folder: Path) -> None:
    """Write the fp32 checkpoint into a folder. Raises UserError for a model that cannot be exported."""
    tensors = {name: value for name, value in exportable.features.items() if isinstance(value, torch.Tensor)}
    if unknown := sorted(set(tensors) - set(INPUTS)):
        raise UserError(f"cannot be exported to ONNX: it takes {', '.join(unknown)}; known are {', '.join(INPUTS)}")
    if exportable.tokenizer is None:
        raise UserError("cannot be exported to ONNX: it has no fast tokenizer (tokenizer.json)")
    weights = sum(parameter.numel() * 4 for parameter in exportable.model.parameters())
    if weights > LARGEST:
        raise UserError(f"cannot be exported to ONNX: {weights / 1e9:.1f} GB of weights in fp32; at most 2 GB fit")
    trace(exportable, tensors, folder / FILE)
    save_tokenizer(exportable.tokenizer, folder)
    write_json(folder / EXPORTED, {**exportable.record, "backend": "onnx"}, ensure_ascii=False, sort_keys=True)


def trace(exportable: Exportable, tensors: dict[str, torch.Tensor], file: Path) -> None:
    """Write a model's graph in fp32, without the exporter's metadata about source files and lines."""
    import onnx

    graph = _Graph(exportable).float().eval()
    free = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), torch.inference_mode(), plain_attention(graph):
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                graph,
                (),
                kwargs=tensors,
                dynamo=True,
                dynamic_shapes={name: free for name in tensors},
                input_names=list(tensors),
                output_names=[OUTPUT],
                external_data=False,
                verbose=False,
            )
    except Exception as error:  # exceptions of torch, its exporter and onnx, which share no base class
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(f"cannot be exported to ONNX: torch's exporter says {lines[0]}") from None
    model = program.model_proto
    for part in (model, model.graph, *model.graph.node, *model.graph.initializer, *model.functions):
        del part.metadata_props[:]
    del model.graph.value_info[:]  # shapes of intermediate values, which onnxruntime's own inference contradicts
    onnx.save(model, file)


@contextmanager
def plain_attention(model: torch.nn.Module) -> Iterator[None]:
    """Make a model use eager attention within this context.

    For torch's fused attention, the exporter creates a graph that also checks each layer for rows without any token.
    Without that check, a text takes a sixth less time.
    """
    inner = [module for module in model.modules() if hasattr(module, "set_attn_implementation")]
    before = [(module, module.config._attn_implementation) for module in inner]
    for module in inner:
        module.set_attn_implementation("eager")
    try:
        yield
    finally:
        for module, way in before:
            module.set_attn_implementation(way)


def quantise(file: Path) -> None:
    """Quantise the weights of an ONNX file to int8, in place, by onnxruntime's dynamic quantisation."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.getLogger().setLevel(logging.ERROR)  # it recommends pre-processing at each call
    quantize_dynamic(onnx.load(file), file, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write the fast tokenizer of a transformers tokenizer, with its padding token.

    onnx_session reads the padding token from this file if it is not a common one.
    """
    from tokenizers import Tokenizer

    backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    if tokenizer.truncation_side == "left":  # the length does not matter; onnx_session reads the side
        backend.enable_truncation(LARGEST, direction="left")
    if tokenizer.pad_token is not None:
        backend.enable_padding(pad_id=tokenizer.pad_token_id, pad_token=tokenizer.pad_token)
    backend.save(str(folder / "tokenizer.json"))
