"""The interval by the normal distribution (Sertkan et al. 2023, equations 10 and 11); reads and writes nothing."""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.heterogeneity import weighted_mean
from ranktrial.statistics.least_squares import Fit
from ranktrial.statistics.summaries import Part, Summary, normal_summary

NAME = "normal"
DESCRIPTION = "from the normal distribution"
LABEL = "normal interval"


def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
    """M +- z(1 - alpha/2) / sqrt(sum W*), W* = 1 / (V + tau2)."""
    weights = 1 / (variances + tau2)
    return normal_summary(weighted_mean(y, weights), 1 / weights.sum(), alpha)


def of_fit(fit: Fit) -> tuple[Part, ...]:
    """The variance of the model, and its degrees of freedom, for dependent tasks."""
    return (Part(fit.variance, math.inf),)
