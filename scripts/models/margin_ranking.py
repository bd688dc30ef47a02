"""The pairwise margin loss of cross-encoders: a relevant document is to score higher than another by a margin.

    mean over triplets of max(0, margin - (s(query, relevant) - s(query, other)))

The formula is that of torch's MarginRankingLoss with target 1. Training compares pairs of documents; at inference each
is scored alone, as with any loss. sentence-transformers has no such loss for cross-encoders.
"""

from __future__ import annotations

import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.util import batch_to_device

MARGIN = 1.0


class MarginRankingLoss(torch.nn.Module):
    """Takes triplets of texts: queries, a relevant document of each, another of each."""

    def __init__(self, model: CrossEncoder, margin: float = MARGIN) -> None:
        super().__init__()
        self.model = model
        self.margin = margin

    def forward(
        self,
        inputs: list[list[str]],
        labels: torch.Tensor | None = None,
        prompt: str | None = None,
        task: str | None = None,
    ) -> torch.Tensor:
        # The trainer leaves out the prompt, with no more than a warning, where a loss does not take both of these.
        queries, relevant, others = inputs
        pairs = list(zip(queries * 2, relevant + others, strict=True))
        features = batch_to_device(self.model.preprocess(pairs, prompt=prompt, task=task), self.model.device)
        of_relevant, of_others = self.model(features)["scores"].view(-1).chunk(2)
        return torch.relu(self.margin - (of_relevant - of_others)).mean()

    def get_config_dict(self) -> dict[str, float]:
        return {"margin": self.margin}
