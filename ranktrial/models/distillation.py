"""Losses on a teacher's scores: KL divergence over lists for cross-encoders, and a scale for student similarities.

The teacher's scores are logits of a cross-encoder, with a range of about twenty, whereas a cosine has a range of two.
MarginMSELoss and the KL-divergence losses of sentence-transformers compare plain dot products with such logits.
Therefore the student's similarity is the one by which it ranks (the cosine, if it uses that), times a scale.

KL divergence over lists, for each query with the documents of its row (Hinton et al. 2015, Distilling the Knowledge in
a Neural Network; Lin et al. 2020 for rankings):

    T² sum over documents of p log(p / q), with p = softmax(teacher / T), q = softmax(student / T); the mean over rows

The formula is that of the library's DistillKLDivLoss for bi-encoders; the library has none for cross-encoders.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.util import batch_to_device, pairwise_cos_sim, pairwise_dot_score

from ranktrial.models.teaching import COSINE_SCALE


def scale_of(model: Any, given: float | None) -> float:
    """The factor of a student's similarities; if none is given, only cosines are scaled."""
    if given is not None:
        return given
    return COSINE_SCALE if getattr(model, "similarity_fn_name", None) == "cosine" else 1.0


class Scaled:
    """A similarity times a scale, for the library's losses, which call it with vectors (and masks)."""

    def __init__(self, similarity: Callable[..., torch.Tensor], scale: float) -> None:
        self.similarity, self.scale = similarity, scale

    def __call__(self, *vectors: torch.Tensor, **masks: torch.Tensor) -> torch.Tensor:
        return self.similarity(*vectors, **masks) * self.scale

    def get_config_dict(self) -> dict[str, Any]:
        return {"similarity_fct": self.similarity.__name__, "scale": self.scale}


def similarity_of(model: Any, scale: float | None) -> Scaled:
    """The scaled query-document similarity of a model with one vector per text, the same by which it ranks."""
    pairwise = pairwise_cos_sim if model.similarity_fn_name == "cosine" else pairwise_dot_score
    return Scaled(pairwise, scale_of(model, scale))


def softened(temperature: float | None) -> dict[str, float]:
    """The temperature argument of a loss; empty if the loss keeps its default."""
    return {} if temperature is None else {"temperature": temperature}


class DistillKLDivLoss(torch.nn.Module):
    """Takes lists of texts (queries, a positive for each, negatives for each) and a teacher's scores of documents."""

    def __init__(self, model: CrossEncoder, temperature: float = 1.0) -> None:
        super().__init__()
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature must be a positive finite number, got {temperature}.")
        self.model = model
        self.temperature = temperature

    def forward(
        self,
        inputs: list[list[str]],
        labels: torch.Tensor | list[torch.Tensor],
        prompt: str | None = None,
        task: str | None = None,
    ) -> torch.Tensor:
        # The trainer drops the prompt with only a warning unless a loss takes both `prompt` and `task`.
        queries, *documents = inputs
        pairs = [pair for column in documents for pair in zip(queries, column, strict=True)]
        features = batch_to_device(self.model.preprocess(pairs, prompt=prompt, task=task), self.model.device)
        scores = self.model(features)["scores"].view(len(documents), len(queries)).T
        teacher = torch.stack(labels) if isinstance(labels, list) else labels
        teacher = teacher.detach().to(scores)
        student = torch.log_softmax(scores / self.temperature, dim=1)
        target = torch.softmax(teacher / self.temperature, dim=1)
        return torch.nn.functional.kl_div(student, target, reduction="batchmean") * self.temperature**2

    def get_config_dict(self) -> dict[str, float]:
        return {"temperature": self.temperature}
