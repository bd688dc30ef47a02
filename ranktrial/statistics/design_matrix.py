"""Moderators as the columns of a regression's design, and why a design cannot be fitted; reads and writes nothing.

A numeric moderator is one column. A categorical moderator has one indicator column for each level except the first
(treatment contrasts, as in R); levels are in the order of first occurrence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Value = float | str
INTERCEPT = "intercept"
SPARE_TASKS = 2  # tasks more than coefficients: with one, tau2 would be estimated from a single residual
FEWEST = 2 + SPARE_TASKS  # with an intercept and one coefficient

_DEPENDENT = 1e-8  # the residual share of a centred column, below which it is a combination of the others


@dataclass(frozen=True)
class Design:
    """A design (k, p), whose first column is ones, and the names of the coefficients."""

    terms: tuple[str, ...]
    matrix: np.ndarray


def is_category(values: Sequence[Value]) -> bool:
    """Whether a moderator is categorical."""
    return any(isinstance(value, str) for value in values)


def levels(values: Sequence[Value]) -> list[str]:
    """The levels of a categorical moderator, in the order of the tasks."""
    return list(dict.fromkeys(map(str, values)))


def design_of(moderators: Mapping[str, Sequence[Value]]) -> Design:
    """The design of moderators, each the values of k tasks, by label."""
    k = len(next(iter(moderators.values())))
    terms, columns = [INTERCEPT], [np.ones(k)]
    for label, values in moderators.items():
        if is_category(values):
            for level in levels(values)[1:]:
                terms.append(f"{label}: {level}")
                columns.append(np.array([float(value == level) for value in values]))
        else:
            terms.append(label)
            columns.append(np.array(values, dtype=float))
    return Design(tuple(terms), np.column_stack(columns))


def obstacle(moderators: Mapping[str, Sequence[Value]]) -> str | None:
    """Why the moderators cannot be fitted, as text; None if they can."""
    if (tasks := len(next(iter(moderators.values())))) < FEWEST:
        return f"{tasks} tasks have an effect; a moderator needs at least {FEWEST}"
    for label, values in moderators.items():
        if len(set(values)) < 2:
            return f"{label} is the same on all tasks"
    matrix = design_of(moderators).matrix
    k, p = matrix.shape
    if k < p + SPARE_TASKS:
        return f"{k} tasks are too few for {p} coefficients: at least {p + SPARE_TASKS} are needed"
    centred = matrix[:, 1:] - matrix[:, 1:].mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    if (np.abs(np.diag(np.linalg.qr(centred / size)[1])) < _DEPENDENT).any():
        return f"{' and '.join(moderators)} are collinear: one follows from the others"
    return None
