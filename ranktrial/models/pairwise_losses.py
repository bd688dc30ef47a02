"""Pairwise losses for cross-encoders: a relevant document should score higher than another document of its query.

    MarginRankingLoss     mean over triplets of max(0, margin - (s(query, relevant) - s(query, other)))
    PairwiseSoftmaxLoss   mean over triplets of 1 - softmax(s(query, relevant), s(query, other))[relevant]

The first is torch's MarginRankingLoss with target 1; the second is the loss of CEDR (MacAvaney et al. 2019) and
OpenNIR. Training compares pairs of documents; at inference, each document is scored by itself, as with any loss.
sentence-transformers has neither for cross-encoders. Its RankNetLoss, for one relevant and one other document, is -log2
of that softmax.
"""

from __future__ import annotations

import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.util import batch_to_device

MARGIN = 1.0


class PairwiseLoss(torch.nn.Module):
    """Takes triplets of texts: queries, a relevant document for each, another document for each."""

    def __init__(self, model: CrossEncoder) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        inputs: list[list[str]],
        labels: torch.Tensor | None = None,
        prompt: str | None = None,
        task: str | None = None,
    ) -> torch.Tensor:
        # The trainer drops the prompt with only a warning unless a loss takes both `prompt` and `task`.
        queries, relevant, others = inputs
        pairs = list(zip(queries * 2, relevant + others, strict=True))
        features = batch_to_device(self.model.preprocess(pairs, prompt=prompt, task=task), self.model.device)
        of_relevant, of_others = self.model(features)["scores"].view(-1).chunk(2)
        return self.of_differences(of_relevant - of_others).mean()

    def of_differences(self, differences: torch.Tensor) -> torch.Tensor:
        """The loss of each triplet, from s(query, relevant) - s(query, other)."""
        raise NotImplementedError


class MarginRankingLoss(PairwiseLoss):
    """The hinge loss: zero if the relevant document leads by the margin."""

    def __init__(self, model: CrossEncoder, margin: float = MARGIN) -> None:
        super().__init__(model)
        self.margin = margin

    def of_differences(self, differences: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.margin - differences)

    def get_config_dict(self) -> dict[str, float]:
        return {"margin": self.margin}


class PairwiseSoftmaxLoss(PairwiseLoss):
    """The softmax probability of the other document: a sigmoid of the difference of the scores."""

    def of_differences(self, differences: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(-differences)

    def get_config_dict(self) -> dict[str, float]:
        return {}
