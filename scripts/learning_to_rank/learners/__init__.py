"""The learners of rankings: what each is given, what it declares and what it gives back.

Each module of this folder is one learner, found by its name; it states what `Learner` lists. It loads its library
inside its functions, since planning reads what it declares. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from scripts.common import plugins
from scripts.common.errors import UserError

LEARNERS = "scripts.learning_to_rank.learners"
Value = float | None  # of a parameter; None: no limit
Parameters = Mapping[str, Value]
HIGHEST_GRADE = 30  # of a learner with the gain 2^grade - 1, as LightGBM and XGBoost hold it


@dataclass(frozen=True)
class Parameter:
    """A numeric parameter of a learner: its default (None: no limit) and what it may be."""

    about: str
    default: Value
    least: float
    most: float
    whole: bool = False

    def mistake(self, value: Any) -> str | None:
        """What is wrong with a value; None if it fits."""
        kind = int if self.whole else int | float
        if isinstance(value, kind) and not isinstance(value, bool) and self.least <= value <= self.most:
            return None
        return f"{value!r}: expected {'a whole' if self.whole else 'a'} number from {self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Lists:
    """Queries with their candidates in the order of the first stage: rows of a query stand together.

    Of `values` each row is a candidate and each column a feature. The grade of a candidate that nobody judged is 0.
    """

    features: list[str]
    queries: list[str]
    sizes: np.ndarray  # candidates of each query
    documents: list[str]
    grades: np.ndarray
    values: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        """Where the rows of each query end."""
        return np.cumsum(self.sizes)


def check_gains(name: str, *of: Lists) -> None:
    """Raise UserError for a grade whose gain, 2^grade - 1, a learner of this name does not hold."""
    if max(lists.grades.max() for lists in of) > HIGHEST_GRADE:
        raise UserError(f"{name} takes grades up to {HIGHEST_GRADE}; map others with the dataset's grades")


class Model(Protocol):
    """A learnt ranker."""

    rounds: int | None  # trees of a boosted ensemble that early stopping kept; None for other learners

    def scores(self, values: np.ndarray) -> np.ndarray:
        """One score per row: higher is better, within a query."""

    def text(self) -> str:
        """The model in the library's own text or JSON form, or in ours, described where it is made."""

    def gain(self) -> np.ndarray | None:
        """What each feature's splits gained in training together; None if nothing is split."""

    def shap(self, values: np.ndarray) -> np.ndarray | None:
        """The SHAP value of each row and feature; None if the library has no routine for them."""


class Learner(Protocol):
    """What the module of a learner states."""

    NAME: str
    DESCRIPTION: str  # for the report
    LIBRARY: str  # the package that learns
    PARAMETERS: dict[str, Parameter]

    def draws(self, parameters: Parameters) -> bool:
        """Whether its models differ from seed to seed."""

    def fit(self, train: Lists, dev: Lists | None, parameters: Parameters, cutoff: int, seed: int) -> Model:
        """Learn from `train`; stop early by nDCG@cutoff on `dev` where models grow. UserError for what cannot be.

        Without `dev` nothing stops: a boosted ensemble has all `trees`.
        """

    def read(self, text: str) -> Model:
        """A model from its text."""


def learner(name: str) -> Learner:
    """The learner of this name alone."""
    return cast(Learner, plugins.load(LEARNERS, name))


def known() -> dict[str, Learner]:
    """All learners by name."""
    return cast(dict[str, Learner], plugins.load_all(LEARNERS))
