"""The statistics of a comparison as a caller states them: the keys of a comparison in a configuration, checked.

Reads and writes nothing. docs/configuration.md, `comparisons`, describes the keys.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.keys import Rule, keys_of, stated, values_of
from ranktrial.common.plugins import NoKeys
from ranktrial.common.projection import shared
from ranktrial.common.settings import read_settings
from ranktrial.common.wording import hint
from ranktrial.experiment.synthesis_records import OWN, ComparisonSettings, SeedsOf
from ranktrial.reports.comparison.reading import Looks
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.intervals import interval_named
from ranktrial.statistics.method import RANDOM, Statistics
from ranktrial.statistics.task_intervals import method_for, task_interval_named

WHERE = "compare"
PLUG_INS: dict[str, Callable[[str], object]] = {
    "effect": effect_named,
    "estimator": estimator_named,
    "interval": interval_named,
    "task_interval": task_interval_named,
}
ARGUMENTS = ("control", "treatment", "measure", "lower_is_better", "qrels", "seed")  # of compare itself
OF_FRAMES = ("measure", "clusters")  # keys that callers give in another way


@dataclass(frozen=True)
class Methods:
    """The statistics, with their own keys of effect and interval apart; and what a comparison says of its measure."""

    statistics: Statistics
    own: Mapping[str, Any]
    clusters: str
    lower_is_better: bool
    seed: int

    def settings(
        self, control: str, treatment: str, measure: str, several: Mapping[str, int], of_tasks: bool,
        trained: Mapping[str, dict[str, str]] = MappingProxyType({}),
    ) -> ComparisonSettings:  # fmt: skip
        """The settings of one comparison; by role, `several` are the numbers of seeds, `trained` the names of these."""
        names = {"control": control, "treatment": treatment}
        own_seeds = {role: SeedsOf(OWN, names[role]) for role, seeds in several.items() if seeds > 1}
        return ComparisonSettings(
            control=control,
            treatment=treatment,
            **shared(self.statistics, Statistics) | {"measure": measure, "clusters": self.clusters},
            own=self.own,
            seed=self.seed,
            of_tasks=of_tasks,
            lower_is_better=self.statistics.margin is not None and self.lower_is_better,
            seed_sources=own_seeds if self.statistics.seeds == RANDOM else {},
            checkpoints={role: of_tasks for role, of_tasks in trained.items() if of_tasks},
        )

    @property
    def looks(self) -> Looks:
        """How figures and tables show the comparisons, but for what a caller asks of one."""
        return Looks(alpha=self.statistics.alpha, judged="")


def methods_of(given: Mapping[str, Any], lower_is_better: bool, seed: int) -> Methods:
    """The statistics that a caller states. Raises UserError for an unknown key, and a value that is not allowed."""
    known = keys_of(Statistics)
    for name, load in PLUG_INS.items():
        try:
            load(str(given.get(name, known[name].default)))
        except (ValueError, AttributeError) as error:
            raise UserError(f"{WHERE}: {name}: {error}") from None
    own = _own(given)
    others = {name: value for name, value in given.items() if name not in (*own, "clusters")}
    if unknown := [name for name in others if name not in known or name in OF_FRAMES]:
        question = hint(unknown[0], [*known, *ARGUMENTS])
        raise UserError(f"{WHERE}: unknown key {unknown[0]!r}{question}; expected {', '.join(known)}")
    statistics = read_settings(Statistics, others, WHERE)
    check_bounds(statistics, WHERE)
    effect = effect_named(statistics.effect)
    if effect.HAS_DIFFERENCE and not task_interval_named(statistics.task_interval).fits(effect):
        problem = f"{statistics.task_interval} is not an interval for effect {effect.NAME}; expected another, such as t"
        raise UserError(f"{WHERE}: task_interval: {problem}")
    if statistics.margin is not None and not effect.HAS_DIFFERENCE:
        raise UserError(f"{WHERE}: margin: only with an effect of a difference, such as MD")
    if type(lower_is_better) is not bool or not isinstance(seed, numbers.Integral) or seed < 0:
        raise UserError(f"{WHERE}: expected lower_is_better: True or False, and seed: a whole number from 0")
    clusters = given.get("clusters", "auto")
    if not isinstance(clusters, Mapping) and clusters not in ("auto", "gold-document", "query"):
        raise UserError(f"{WHERE}: clusters: expected auto, gold-document, query or {{task: {{query: cluster}}}}")
    return Methods(statistics, own, clusters if isinstance(clusters, str) else "auto", lower_is_better, seed)


def _own(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that the effect and the interval of tasks declare."""
    effect = effect_named(given.get("effect", "MD"))
    chosen = (effect, task_interval_named(method_for(given.get("task_interval", "t"), effect)))
    records = [getattr(module, "Keys", NoKeys) for module in chosen]
    own: dict[str, Any] = {}
    for record in records:
        read = read_settings(record, {name: given[name] for name in keys_of(record) if name in given}, WHERE)
        check_bounds(read, WHERE)
        own |= stated(read)
    return own


def check_bounds(record: Any, where: str) -> None:
    """Raise UserError for a number outside the bounds of its key."""
    for key, value in values_of(record):
        for rule in [one for one in key.said if isinstance(one, Rule)]:
            if isinstance(value, int | float) and (expected := _outside(value, rule)):
                raise UserError(f"{where}: {key.name}: {value:g}; expected {expected}")


def _outside(value: float, rule: Rule) -> str:
    """What a rule expects in place of a number; empty if the number is within its bounds."""
    bounds = [
        (rule.minimum, "at least", operator.ge),
        (rule.exclusive_minimum, "above", operator.gt),
        (rule.maximum, "at most", operator.le),
        (rule.exclusive_maximum, "below", operator.lt),
    ]
    given = [(f"{words} {bound:g}", bool(holds(value, bound))) for bound, words, holds in bounds if bound is not None]
    return "" if all(holds for _, holds in given) else " and ".join(words for words, _ in given)
