"""Prediction-powered inference: humans judge the queries of a random sample, a model those and all others.

With d the difference of two systems on the n queries that humans judged, f by the model's judgements, and N further
queries with f alone (PPI++; Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453)

    D = mean_n(d) + weight (mean_N(f) - mean_n(f))
    V = var_n(d - weight f) / n + weight^2 var_N(f) / N
    weight = cov_n(d, f) / (var_{n+N}(f) (1 + n / N)), within 0 and 1.

The model may be wrong in any way: D is unbiased for a given weight, and a poor model has a weight near 0, which leaves
the effect of the human judgements alone. The same is done to each system's values: value - weight (f of the query -
mean_N(f)), so that the difference of their means is D. Reads and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LEAST = 30  # queries with human judgements, below which the weight and the variance are too rough


@dataclass(frozen=True)
class ModelScores:
    """A task's scores by a model's judgements, of shape (queries, seeds): of the queries that humans judged as well, in
    their order, and of the `further` ones. `undefined` says why no effect can be had of them, such as too few queries.
    """

    control: np.ndarray
    treatment: np.ndarray
    further_control: np.ndarray
    further_treatment: np.ndarray
    undefined: str | None = None


class PredictionPowered(NamedTuple):
    """The part of a model in a task's effect: its weight, its further queries, and the variance that these add."""

    weight: float
    further: int
    variance: float


def weight_of(human: np.ndarray, model: np.ndarray, further: np.ndarray) -> float:
    """The weight of the model's differences with the least variance, within 0 and 1; 0 where it knows nothing more."""
    if len(further) < 2 or len(human) < 2:
        return 0.0
    variance = np.concatenate([model, further]).var(ddof=1)
    if variance == 0:
        return 0.0
    covariance = ((human - human.mean()) * (model - model.mean())).mean()
    return float(np.clip(covariance / (variance * (1 + len(human) / len(further))), 0, 1))


def prediction_powered(
    control: np.ndarray, treatment: np.ndarray, model: ModelScores
) -> tuple[np.ndarray, np.ndarray, PredictionPowered]:
    """Control and treatment, of shape (queries, seeds), with the model's part in each value, and what that part is."""
    human = treatment.mean(axis=1) - control.mean(axis=1)
    same = model.treatment.mean(axis=1) - model.control.mean(axis=1)
    further = model.further_treatment.mean(axis=1) - model.further_control.mean(axis=1)
    weight = weight_of(human, same, further)
    added = weight**2 * float(further.var(ddof=1)) / len(further) if weight else 0.0
    powered = PredictionPowered(weight, len(further), added)
    if not weight:
        return control, treatment, powered
    return (
        control - weight * (model.control - model.further_control.mean(axis=0)),
        treatment - weight * (model.treatment - model.further_treatment.mean(axis=0)),
        powered,
    )
