"""The Matryoshka loss of bi-encoders from sentence-transformers (Kusupati et al. 2022, NeurIPS).

It applies a loss to vectors truncated to several numbers of dimensions at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ranktrial.common.errors import UserError

if TYPE_CHECKING:
    import torch


def of_dimensions(dimensions: list[int], loss: torch.nn.Module, model: Any) -> torch.nn.Module:
    """The sum of a loss over vectors truncated to these dimensions. Raises UserError if the model has fewer."""
    from sentence_transformers.sentence_transformer.losses import MatryoshkaLoss

    whole = model.get_embedding_dimension()
    if whole is not None and max(dimensions) > whole:
        raise UserError(f"matryoshka_dims: {max(dimensions)}, but this model's vectors have {whole} dimensions")
    made: torch.nn.Module = MatryoshkaLoss(model, loss, dimensions)
    return made
