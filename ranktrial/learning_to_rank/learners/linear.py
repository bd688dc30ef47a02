"""Baseline: pointwise logistic regression of relevance (a grade above 0) on all features.

Each feature is standardised by its mean and standard deviation over the training candidates (a feature that is constant
there has weight 0). The score is the log odds. SHAP values are exact for a linear model with independent features:
weight times distance from the mean (Lundberg and Lee 2017, A Unified Approach to Interpreting Model Predictions,
NeurIPS, corollary 1). Saved as JSON of these numbers.
"""

from __future__ import annotations

import json

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.learning_to_rank.learners import Lists, Parameter, Parameters

NAME = "linear"
DESCRIPTION = "logistic regression (scikit-learn)"
LIBRARY = "scikit-learn"
PARAMETERS = {"C": Parameter("the inverse of the L2 penalty's weight", 1, 1e-9, 1e9)}
STEPS = 10_000  # maximum number of iterations; the optimiser needs tens


class Linear:
    """Weights of standardised features."""

    rounds: int | None = None

    def __init__(self, mean: list[float], deviation: list[float], weights: list[float], intercept: float) -> None:
        self.mean, self.deviation, self.weights = map(np.array, (mean, deviation, weights))
        self.intercept = intercept

    def scores(self, values: np.ndarray) -> np.ndarray:
        return self.shap(values).sum(axis=1) + self.intercept

    def text(self) -> str:
        parts = {"mean": self.mean.tolist(), "deviation": self.deviation.tolist(), "weights": self.weights.tolist()}
        return json.dumps({"learner": NAME, **parts, "intercept": self.intercept}, indent=1) + "\n"

    def gain(self) -> None:
        return None

    def shap(self, values: np.ndarray) -> np.ndarray:
        return np.asarray((values - self.mean) / self.deviation * self.weights)


def draws(parameters: Parameters) -> bool:
    return False


def fit(train: Lists, dev: Lists | None, parameters: Parameters, cutoff: int, seed: int) -> Linear:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    is_relevant = train.grades > 0
    if is_relevant.all():
        raise UserError("linear separates relevant candidates (a grade above 0) from others, and all are relevant")
    mean, deviation = train.values.mean(axis=0), train.values.std(axis=0)
    varies = deviation > 1e-12 * np.maximum(1, np.abs(mean))
    if not varies.any():
        raise UserError("no feature differs between candidates, so there is nothing to learn from")
    deviation = np.where(varies, deviation, 1.0)
    weights = np.zeros(len(mean))
    with threadpool_limits(1):  # the same data give the same weights
        model = LogisticRegression(C=parameters["C"], max_iter=STEPS, tol=1e-8)
        model.fit(((train.values - mean) / deviation)[:, varies], is_relevant)
    weights[varies] = model.coef_[0]
    return Linear(mean.tolist(), deviation.tolist(), weights.tolist(), float(model.intercept_[0]))


def read(text: str) -> Linear:
    try:
        held = json.loads(text)
        if held.pop("learner") != NAME:
            raise ValueError
        return Linear(**held)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"is not a model of {NAME}") from None
