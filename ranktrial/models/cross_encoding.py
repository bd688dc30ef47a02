"""Parts of cross-encoders: the last layer for the first token only, one score of several labels, pairwise losses.

The first token is all that a head reads. In the last layer, the first token attends to all others, so their keys and
values are computed, but their own queries, outputs and feed-forward are not. This saves a seventh of the work with six
layers and a fourteenth with twelve. The scores are the same.

A cross-encoder with several labels gives one score per pair (see labels.py), in ranking, training and export. It is
saved unchanged, with all its labels.

By a pairwise loss, a relevant document should score higher than another document of its query.

    MarginRankingLoss     mean over triplets of max(0, margin - (s(query, relevant) - s(query, other)))
    PairwiseSoftmaxLoss   mean over triplets of 1 - softmax(s(query, relevant), s(query, other))[relevant]

The first is torch's MarginRankingLoss with target 1; the second is the loss of CEDR (MacAvaney et al. 2019) and
OpenNIR. Training compares pairs of documents; at inference, each document is scored by itself, as with any loss.
sentence-transformers has neither for cross-encoders. Its RankNetLoss, for one relevant and one other document, is -log2
of that softmax.
"""

from __future__ import annotations

import sys
from types import MethodType
from typing import Any

import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.util import batch_to_device

from ranktrial.models.kernels import fast
from ranktrial.models.labels import Relevance

# Classes of transformers whose head reads the first token -> class of their layers, which share one structure.
FAMILIES = ("Bert", "Roberta", "XLMRoberta", "Camembert", "Electra")
MODELS = {f"{family}ForSequenceClassification": f"{family}Layer" for family in FAMILIES}


def first_token_alone(whole: Any) -> bool:
    """Make a transformers model compute its last layer for the first token only. Returns False if not supported."""
    if not fast():
        return False
    expected = MODELS.get(type(whole).__name__)
    encoder = getattr(getattr(whole, whole.base_model_prefix, None), "encoder", None)
    layers = getattr(encoder, "layer", None)
    if expected is None or not layers or type(layers[-1]).__name__ != expected or whole.config.is_decoder:
        return False
    layers[-1].forward = MethodType(_of_first_token, layers[-1])
    return True


def _of_first_token(layer: Any, hidden: torch.Tensor, attention_mask: torch.Tensor | None = None, *others, **options):
    """The layer's output for the first token: shape (texts, 1, dimensions), from hidden (texts, tokens, dimensions)."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    attention, first = layer.attention.self, hidden[:, :1]
    eager = sys.modules[type(layer).__module__].eager_attention_forward
    attend = ALL_ATTENTION_FUNCTIONS.get_interface(attention.config._attn_implementation, eager)
    heads = [
        project(states).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for project, states in ((attention.query, first), (attention.key, hidden), (attention.value, hidden))
    ]
    mask = attention_mask[:, :, :1] if attention_mask is not None and attention_mask.dim() == 4 else attention_mask
    attended, _ = attend(attention, *heads, mask, dropout=0.0, scaling=attention.scaling)
    return layer.feed_forward_chunk(layer.attention.output(attended.flatten(2), first))


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
