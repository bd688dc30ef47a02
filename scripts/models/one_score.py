"""A cross-encoder of several labels that gives one score per pair (see labels.py), in ranking, training and export.

It is saved as the model that it is, with all its labels.
"""

from __future__ import annotations

from typing import Any

import torch
from sentence_transformers import CrossEncoder

from scripts.models.labels import Relevance


class OneScore(CrossEncoder):
    """It takes the place of a loaded model's class (see `give_one_score`)."""

    relevance: Relevance

    @property
    def num_labels(self) -> int:
        """What the library asks for the number of scores of a pair."""
        return 1

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        found = super().forward(features, **options)
        return {**found, "scores": score(found["scores"], self.relevance)}


def give_one_score(model: CrossEncoder, of: Relevance) -> None:
    """Let a loaded model give the score of a label, in place."""
    model.__class__ = OneScore
    model.relevance = of


def score(logits: torch.Tensor, of: Relevance) -> torch.Tensor:
    """The scores of logits of shape (pairs, labels): fp32 of shape (pairs, 1)."""
    logits = logits.float()
    own = logits[:, of.label : of.label + 1]
    if not of.softmax:
        return own
    others = torch.cat([logits[:, : of.label], logits[:, of.label + 1 :]], dim=1)
    return own - torch.logsumexp(others, dim=1, keepdim=True)
