"""A loss of bi-encoders that counts for several numbers of first dimensions at once (Matryoshka representations:
Kusupati et al. 2022, NeurIPS), by sentence-transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scripts.common.errors import UserError

if TYPE_CHECKING:
    import torch


def of_dimensions(dimensions: list[int], loss: torch.nn.Module, model: Any) -> torch.nn.Module:
    """The sum of a loss over vectors of these first dimensions. Raises UserError where the model's have fewer."""
    from sentence_transformers.sentence_transformer.losses import MatryoshkaLoss

    whole = model.get_embedding_dimension()
    if whole is not None and max(dimensions) > whole:
        raise UserError(f"matryoshka_dims: {max(dimensions)}, but this model's vectors have {whole} dimensions")
    made: torch.nn.Module = MatryoshkaLoss(model, loss, dimensions)
    return made
