"""A cross-encoder with several labels that gives one score per pair (see labels.py), in ranking, training and export.

It is saved unchanged, with all its labels.
"""

from __future__ import annotations

from typing import Any

import torch
from sentence_transformers import CrossEncoder

from ranktrial.models.labels import Relevance


class OneScore(CrossEncoder):
    """Replaces the class of a loaded model (see `give_one_score`)."""

    relevance: Relevance

    @property
    def num_labels(self) -> int:
        """The number of scores per pair, as queried by the library."""
        return 1

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        found = super().forward(features, **options)
        return {**found, "scores": score(found["scores"], self.relevance)}


def give_one_score(model: CrossEncoder, of: Relevance) -> None:
    """Make a loaded model give the score of one label, in place."""
    model.__class__ = OneScore
    model.relevance = of


def score(logits: torch.Tensor, of: Relevance) -> torch.Tensor:
    """Scores from logits of shape (pairs, labels): fp32 of shape (pairs, 1)."""
    logits = logits.float()
    own = logits[:, of.label : of.label + 1]
    if not of.softmax:
        return own
    others = torch.cat([logits[:, : of.label], logits[:, of.label + 1 :]], dim=1)
    return own - torch.logsumexp(others, dim=1, keepdim=True)
