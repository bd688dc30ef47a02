"""Faster ranking on a CPU, in the same fp32 arithmetic.

On processors with AVX-512, oneDNN multiplies matrices with a model's weights, which are packed once, and applies the
following GELU: a fifth to a quarter faster than MKL, torch's default. Without AVX-512, MKL is as fast or faster, and
nothing changes. Packed weights are a copy, so a model takes up to twice the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ranktrial.models.kernels import fast

LARGEST = 2 << 30  # bytes of weights that are packed; a second copy of a larger model may exceed the memory
MANY = 512  # rows multiplied with the same columns; for fewer, packing takes longer than it saves
EXACT, APPROXIMATE = "none", "tanh"  # names of GELU variants in oneDNN and torch


class PackedLinear(torch.nn.Linear):
    """A linear layer and its following GELU, computed by oneDNN; inputs other than fp32 are left to torch.

    It replaces the class of an existing layer (see `pack`), so the layer's parameters stay the same.
    """

    packed: torch.Tensor
    gelu: str | None  # the variant of the following GELU, if there is one

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if inputs.dtype != torch.float32 or not inputs.numel():
            outputs = super().forward(inputs)
            return outputs if self.gelu is None else torch.nn.functional.gelu(outputs, approximate=self.gelu)
        follows, way = ("none", "") if self.gelu is None else ("gelu", self.gelu)
        return torch.ops.mkldnn._linear_pointwise(inputs, self.packed, self.bias, follows, [], way)


def product(rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Dot products, by oneDNN, of rows (…, width) and columns (m, width), plus a bias (m,): shape (…, m)."""
    return torch.ops.mkldnn._linear_pointwise(rows, columns, bias, "none", [], "")


def packs() -> bool:
    """Whether packed weights are faster on this processor and the fast kernels are enabled."""
    return fast() and torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() == "AVX512"


def multiplier(columns: torch.Tensor, rows: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function from rows (n, width) to their dot products with all columns (m, width): shape (n, m), on their device.

    `rows` is the total number of rows; if it is large, the columns are packed first.
    """
    if columns.device.type != "cpu" or columns.dtype != torch.float32 or not len(columns) or not rows or not packs():
        return lambda these: these @ columns.T
    packed = torch.ops.mkldnn._reorder_linear_weight(columns) if rows >= MANY else columns
    return lambda these: product(these, packed)


def speed_up(model: torch.nn.Module) -> None:
    """Make a loaded model that is not trained any further use packed weights if these are faster."""
    linear = [module for module in model.modules() if type(module) is torch.nn.Linear and _fits(module)]
    if not packs() or sum(module.weight.nbytes for module in linear) > LARGEST:
        return
    for module in linear:
        pack(module)
    for module in model.modules():
        way = _gelu(getattr(module, "intermediate_act_fn", None))
        if way is not None and type(getattr(module, "dense", None)) is PackedLinear:
            module.dense.gelu, module.intermediate_act_fn = way, torch.nn.Identity()


def pack(module: torch.nn.Linear) -> None:
    """Turn a linear layer into a PackedLinear, in place."""
    module.__class__ = PackedLinear
    with torch.inference_mode(False), torch.no_grad():
        module.packed = torch.ops.mkldnn._reorder_linear_weight(module.weight)
    module.gelu = None


def _fits(module: torch.nn.Linear) -> bool:
    return module.weight.device.type == "cpu" and module.weight.dtype == torch.float32 and module.weight.numel() > 0


def _gelu(activation: Any) -> str | None:
    """The variant of GELU that a library activation computes; None if it is not a GELU, or another variant."""
    from transformers.activations import GELUActivation, GELUTanh

    if type(activation) is torch.nn.GELU:
        return activation.approximate
    if type(activation) is GELUTanh:
        return APPROXIMATE
    return EXACT if type(activation) is GELUActivation else None
