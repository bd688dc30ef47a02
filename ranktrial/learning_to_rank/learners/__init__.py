"""Learners of rankings: their inputs, declarations and outputs.

Each module of this folder is one learner, found by its name; it defines what `Learner` lists. It imports its library
only inside functions, since planning reads its declarations. Reads and writes no files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from ranktrial.common import plugins
from ranktrial.common.errors import UserError

LEARNERS = "ranktrial.learning_to_rank.learners"
Value = float | None  # of a parameter; None means no limit
Parameters = Mapping[str, Value]
HIGHEST_GRADE = 30  # for the gain 2^grade - 1 in LightGBM and XGBoost


@dataclass(frozen=True)
class Parameter:
    """A numeric parameter of a learner: its default (None: no limit) and its range."""

    about: str
    default: Value
    least: float
    most: float
    whole: bool = False

    def mistake(self, value: Any) -> str | None:
        """The problem with a value; None if it is valid."""
        kind = int if self.whole else int | float
        if isinstance(value, kind) and not isinstance(value, bool) and self.least <= value <= self.most:
            return None
        return f"{value!r}: expected {'a whole' if self.whole else 'a'} number from {self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Lists:
    """Queries with their candidates in the order of the first stage; the rows of a query are adjacent.

    In `values`, each row is a candidate and each column a feature. The grade of an unjudged candidate is 0.
    """

    features: list[str]
    queries: list[str]
    sizes: np.ndarray  # number of candidates of each query
    documents: list[str]
    grades: np.ndarray
    values: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        """The end of each query's rows (exclusive)."""
        return np.cumsum(self.sizes)


def check_gains(name: str, *of: Lists) -> None:
    """Raise UserError for a grade whose gain, 2^grade - 1, exceeds the range of this learner."""
    if max(lists.grades.max() for lists in of) > HIGHEST_GRADE:
        raise UserError(f"{name} takes grades up to {HIGHEST_GRADE}; map others with the dataset's grades")


class Model(Protocol):
    """A learnt ranker."""

    rounds: int | None  # number of trees of a boosted ensemble after early stopping; None for other learners

    def scores(self, values: np.ndarray) -> np.ndarray:
        """One score per row; within a query, higher is better."""

    def text(self) -> str:
        """The model in the library's own text or JSON format, or in ours, described in the learner's module."""

    def gain(self) -> np.ndarray | None:
        """The total gain of each feature's splits in training; None if there are no splits."""

    def shap(self, values: np.ndarray) -> np.ndarray | None:
        """The SHAP value of each row and feature; None if the library has no routine for them."""


class Learner(Protocol):
    """The interface of a learner's module."""

    NAME: str
    DESCRIPTION: str  # for the report
    LIBRARY: str  # the package that implements it
    PARAMETERS: dict[str, Parameter]

    def draws(self, parameters: Parameters) -> bool:
        """Whether its models differ between seeds."""

    def fit(self, train: Lists, dev: Lists | None, parameters: Parameters, cutoff: int, seed: int) -> Model:
        """Learn from `train`, with early stopping by nDCG@cutoff on `dev` for boosted ensembles.

        Without `dev` there is no early stopping: a boosted ensemble has all `trees`. Raises UserError for impossible
        input.
        """

    def read(self, text: str) -> Model:
        """The model given by its text."""


def learner(name: str) -> Learner:
    """The learner of this name."""
    return cast(Learner, plugins.load(LEARNERS, name))


def known() -> dict[str, Learner]:
    """All learners, by name."""
    return cast(dict[str, Learner], plugins.load_all(LEARNERS))
