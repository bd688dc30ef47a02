"""Linear layers trained on a CPU: oneDNN computes their products, forward and backward, in fp32.

torch uses MKL, which does not use AVX-512 on AMD processors. Where packed weights are faster for ranking (see
processor.py), oneDNN is also faster for training: as weights change at each step, nothing is packed here.
"""

from __future__ import annotations

from typing import Any

import torch

from ranktrial.models.processor import packs, product
from ranktrial.models.running import device


class LinearProducts(torch.autograd.Function):
    """The output of a linear layer, and its gradients: those of inputs, weights and bias that are needed."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(inputs, weight)
        return product(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor):
        inputs, weight = ctx.saved_tensors
        of_inputs, of_weight, of_bias = ctx.needs_input_grad
        above = gradients[0].reshape(-1, weight.shape[0])
        rows = inputs.reshape(-1, weight.shape[1])
        return (
            product(above, weight.T).reshape(inputs.shape) if of_inputs else None,
            product(above.T, rows.T) if of_weight else None,
            above.sum(dim=0) if of_bias else None,
        )


class TrainedLinear(torch.nn.Linear):
    """A linear layer computed by oneDNN; what is not fp32 is left to torch.

    It replaces the class of an existing layer (see `train_fast`), so the layer's parameters stay the same.
    """

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        plain = inputs.dtype == self.weight.dtype == torch.float32 and inputs.device.type == "cpu"
        if not plain or not inputs.numel() or torch.is_autocast_enabled("cpu"):
            return super().forward(inputs)
        return LinearProducts.apply(inputs, self.weight, self.bias)


def train_fast(model: torch.nn.Module) -> None:
    """Make a loaded model that is about to be trained use oneDNN if that is faster."""
    if device() != "cpu" or not packs():
        return
    for module in model.modules():
        if type(module) is torch.nn.Linear:
            module.__class__ = TrainedLinear
