"""Prediction-powered inference: humans judge the queries of a random sample, a model those and all others.

With d the difference of two systems on the n queries that humans judged, f by the model's judgements, and N further
queries with f alone (PPI++; Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453)

    D = mean_n(d) + weight (mean_N(f) - mean_n(f))
    V = var_n(d - weight f) / n + weight^2 var_N(f) / N
    weight = cov_n(d, f) / (var_{n+N}(f) (1 + n / N)), within 0 and 1.

The model may be wrong in any way: D is unbiased for a given weight, and a poor model has a weight near 0, which leaves
the effect of the human judgements alone. The same is done to each system's values: value - weight (f of the query -
mean_N(f)), so that the difference of their means is D. V is by independent queries; where clusters of queries contain
both kinds, it is the sum of squared sums of influence by cluster (observed_tasks.py), e_j = (d_j - weight f_j - mean) /
n of a query that humans judged and weight (f_j - mean_N(f)) / N of a further one.

Where the n queries were chosen with known probabilities p, each stands for 1 / p queries (active statistical
inference; Zrnic and Candès 2024, arXiv:2403.03208): over all M = n + N queries, with w = 1 / p scaled to a sum of M and
0 for those that humans did not judge, means by w in place of mean_n, mean_M(f) in place of mean_N(f), and

    V = var_M(weight f + w (d - weight f - mean_w(d - weight f))) / M,

with the weight within 0 and 1 for which V is least. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LEAST = 30  # queries with human judgements, below which the weight and the variance are too rough


@dataclass(frozen=True)
class ModelScores:
    """A task's scores by a model's judgements, of shape (queries, seeds): of the queries that humans judged as well, in
    their order, and of the `further` ones. `undefined` says why no effect can be had of them, such as too few queries.
    `probabilities`, shape (queries,), are those with which humans' queries were chosen; None for a random sample.
    `further_queries` are the ids of the further ones; by default their positions after the humans' queries.
    """

    control: np.ndarray
    treatment: np.ndarray
    further_control: np.ndarray
    further_treatment: np.ndarray
    undefined: str | None = None
    probabilities: np.ndarray | None = None
    further_queries: Sequence[str] | None = None

    @property
    def further_ids(self) -> list[str]:
        """The ids of the further queries."""
        n, others = len(self.control), len(self.further_control)
        return list(self.further_queries or map(str, range(n, n + others)))


class PredictionPowered(NamedTuple):
    """A model's weight in a task's effect, its further queries, the variance of the effect for independent queries, and
    the influence of each query on it, of shape (n + N,) with the humans' queries first.
    """

    weight: float
    further: int
    variance: float
    influence: np.ndarray


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
    control: np.ndarray, treatment: np.ndarray, model: ModelScores, ddof: int = 1
) -> tuple[np.ndarray, np.ndarray, PredictionPowered]:
    """Control and treatment, of shape (queries, seeds), with the model's part in each value, and what that part is.

    The variance over the humans' queries divides by n - `ddof`.
    """
    if model.probabilities is not None:
        return _chosen(control, treatment, model, model.probabilities)
    human = treatment.mean(axis=1) - control.mean(axis=1)
    same = model.treatment.mean(axis=1) - model.control.mean(axis=1)
    further = model.further_treatment.mean(axis=1) - model.further_control.mean(axis=1)
    weight = weight_of(human, same, further)
    rest, n = human - weight * same, len(human)
    variance = float(rest.var(ddof=ddof)) / n if n > ddof else 0.0
    influence = (rest - rest.mean()) / n
    if weight:
        variance += weight**2 * float(further.var(ddof=1)) / len(further)
    if len(further):
        influence = np.append(influence, weight * (further - further.mean()) / len(further))
    powered = PredictionPowered(weight, len(further), variance, influence)
    if not weight:
        return control, treatment, powered
    return (
        control - weight * (model.control - model.further_control.mean(axis=0)),
        treatment - weight * (model.treatment - model.further_treatment.mean(axis=0)),
        powered,
    )


def _chosen(
    control: np.ndarray, treatment: np.ndarray, model: ModelScores, probabilities: np.ndarray
) -> tuple[np.ndarray, np.ndarray, PredictionPowered]:
    """The same where queries were chosen with these probabilities."""
    n, every = len(control), len(control) + len(model.further_control)
    weights = every * (1 / probabilities) / (1 / probabilities).sum()
    human = (treatment - control).mean(axis=1)
    same = (model.treatment - model.control).mean(axis=1)
    further = (model.further_treatment - model.further_control).mean(axis=1)
    of_humans, of_model = (_centred(values, weights, len(further)) for values in (human, same))
    known = np.concatenate([same, further]) - of_model
    least = -np.cov(of_humans, known)[0, 1] / known.var(ddof=1) if known.var() > 0 else 0.0
    weight = float(np.clip(least, 0, 1))
    influence = of_humans + weight * known
    influence = (influence - influence.mean()) / every
    variance = float((influence**2).sum()) * every / (every - 1)

    def adjusted(values: np.ndarray, by_model: np.ndarray, of_further: np.ndarray) -> np.ndarray:
        mean = np.concatenate([by_model, of_further]).mean(axis=0)
        share = (weights * n / every)[:, None]
        made: np.ndarray = share * (values - weight * by_model) + weight * mean
        return made

    x = adjusted(treatment, model.treatment, model.further_treatment)
    y = adjusted(control, model.control, model.further_control)
    return y, x, PredictionPowered(weight, len(further), variance, influence)


def _centred(values: np.ndarray, weights: np.ndarray, further: int) -> np.ndarray:
    """w (value - mean by w) of each query, 0 for the further ones."""
    return np.concatenate([weights * (values - np.average(values, weights=weights)), np.zeros(further)])
