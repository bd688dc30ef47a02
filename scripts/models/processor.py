"""What makes torch fast on a processor: matrix products by oneDNN where MKL is slow, and memory that is kept.

On AMD's processors MKL, with which torch multiplies matrices, uses half of the vector width; oneDNN, which torch has
too, uses all of it and is about twice as fast in the same fp32 arithmetic.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import torch
from torch.nn.functional import linear

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h


def speed_up(model: torch.nn.Module) -> None:
    """Make a model that is on the processor compute faster; its parameters and how it is saved do not change."""
    keep_memory()
    if torch.backends.mkldnn.is_available() and is_amd():
        for module in model.modules():
            if type(module) is torch.nn.Linear and module.bias is not None:
                module.__class__ = OneDnnLinear


def is_amd() -> bool:
    """Whether this is an AMD processor, as far as Linux tells."""
    try:
        return "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def keep_memory() -> None:
    """Tell glibc to keep freed memory: handing large tensors back and fetching them again costs a fifth of the time."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, 1 << 30)
        library.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def product(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """`inputs` (…, n) times the transposed `weight` (m, n), plus `bias` (m), by oneDNN: shape (…, m)."""
    return linear(inputs.to_mkldnn(), weight, bias).to_dense()


class _Product(torch.autograd.Function):
    """`product` with gradients: the library's own would keep a second copy of every input."""

    @staticmethod
    def forward(context, inputs, weight, bias):
        of_weight = context.needs_input_grad[1]  # a frozen weight, as below an adapter, needs no input kept
        context.save_for_backward(inputs if of_weight else None, weight)
        return product(inputs, weight, bias)

    @staticmethod
    def backward(context, gradient):
        inputs, weight = context.saved_tensors
        for_inputs, for_weight, for_bias = context.needs_input_grad
        flat = gradient.flatten(0, -2)
        of_inputs = product(gradient, weight.t().contiguous()) if for_inputs else None
        of_weight = None
        if for_weight:
            of_weight = product(flat.t().contiguous(), inputs.flatten(0, -2).t().contiguous())
        return of_inputs, of_weight, flat.sum(0) if for_bias else None


class OneDnnLinear(torch.nn.Linear):
    """A linear layer that oneDNN computes in fp32; anything else is left to torch."""

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if inputs.device.type != "cpu" or inputs.dtype != torch.float32 or inputs.dim() < 2 or not inputs.numel():
            return super().forward(inputs)
        return _Product.apply(inputs, self.weight, self.bias)
