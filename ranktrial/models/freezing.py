"""The weights that training changes if `freeze` names a part of the model. Reads and writes no files.

With `encoder`, these are the prediction head and the parts that were initialised because the weights lack them. Frozen
weights stay the same bit for bit; their dropout is applied as in any training.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ranktrial.common.errors import UserError

if TYPE_CHECKING:
    import torch


def freeze_encoder(model: torch.nn.Module, head: Iterable[torch.nn.Parameter], new: Iterable[torch.nn.Module]) -> None:
    """Make only the `head` and the `new` modules trainable. Raises UserError if there are none."""
    model.requires_grad_(False)
    learning = [*head, *(parameter for module in new for parameter in module.parameters())]
    for parameter in learning:
        parameter.requires_grad_(True)
    if not learning:
        raise UserError("freeze: this model has no prediction head, so nothing would be trained; leave it out")


def is_partly_frozen(model: torch.nn.Module) -> bool:
    """Whether training changes only some of a model's parameters."""
    return not all(parameter.requires_grad for parameter in model.parameters())
