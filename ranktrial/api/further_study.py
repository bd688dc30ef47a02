"""What a further study could detect: from the variances of a comparison, or from assumed ones."""

from __future__ import annotations

import numbers as numbers_of
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from ranktrial.api import files
from ranktrial.api.findings import Findings
from ranktrial.api.found import LABELS
from ranktrial.common.errors import UserError, shortened
from ranktrial.common.extras import names_extras
from ranktrial.common.wording import hint
from ranktrial.configuration.sections.comparison import Assumed
from ranktrial.records.comparison import table_of
from ranktrial.records.study_design import PlanRecord
from ranktrial.reports.study_design_text import designs, remarks, sentence
from ranktrial.statistics.effects import effect_named
from ranktrial.study_design import (
    Basis,
    Settings,
    Systems,
    assumed_basis,
    found_basis,
    planned,
    trained_values,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUERIES, COLLECTIONS, SEEDS = (25, 50, 100, 200, 400, 800, 1600), (3, 5, 7, 10, 15, 20, 30), (1, 3, 5, 10)


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The designs of a further study; `power` makes them."""

    record: PlanRecord

    @property
    def table(self) -> pd.DataFrame:
        """One row per design (queries of a collection, collections, seeds) with its variance, smallest detectable
        effect and expected half-width of the interval, in units of the effect.
        """
        return designs([self.record])

    def sentence(self) -> str:
        """What the present design detects, and which design is enough for the target; then what this assumes."""
        return " ".join([sentence(self.record), *remarks(self.record, LABELS)])

    def __repr__(self) -> str:
        return self.sentence()

    @names_extras()
    def figure(self, path: str | Path | None = None) -> Figure:
        """The detectable effect by queries, collections and seeds; written to `path` (.pdf, .svg, .png) if given."""
        from ranktrial.reports.figures.study_design import contour_figure

        return files.saved(contour_figure(self.record, LABELS), path)


@names_extras()
def power(
    found: Findings | None = None,
    *,
    comparison: str | None = None,
    effect: float | None = None,
    half_width: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    queries: Sequence[int] = QUERIES,
    collections: Sequence[int] = COLLECTIONS,
    seeds: Sequence[int] = SEEDS,
    query_sd: float | None = None,
    collection_sd: float = 0.0,
    seed_sd: float = 0.0,
    trained: Literal[0, 1, 2] = 1,
) -> Plan:
    """Plan a further study: what each design detects with this power, and the cheapest for a target.

    Formulas and their source: docs/formulas.md, "Planning a study".

    Args:
        found: a comparison, whose variances are used; without one, standard deviations are assumed.
        comparison: its name, where `found` has several.
        effect: the smallest effect of interest, in units of the effect; or
        half_width: the wanted half-width of the interval.
        power: probability that the effect is detected.
        alpha: level of significance, two-sided.
        queries: of a collection; the designs, ascending.
        collections: their numbers, ascending.
        seeds: their numbers, ascending.
        query_sd: standard deviation of the difference over queries.
        collection_sd: of the true effect between collections.
        seed_sd: between the seeds of a trained system.
        trained: the number of trained systems.

    Returns:
        The designs, which print as a sentence.

    Raises:
        UserError: for numbers outside their bounds, and a comparison without values per query or a difference.
    """
    if found is not None and not isinstance(found, Findings):
        raise UserError(f"power: expected findings of compare, not {shortened(found)}")
    _check(power=power, alpha=alpha, effect=effect, half_width=half_width, query_sd=query_sd)
    if power <= alpha:
        raise UserError(f"power: power: {power:g} is what chance alone gives at alpha {alpha:g}; expected more")
    for name, sd in (("collection_sd", collection_sd), ("seed_sd", seed_sd)):
        if sd != 0:
            _check(**{name: sd})
    if trained not in (0, 1, 2):
        raise UserError(f"power: trained: {trained!r}; expected 0, 1 or 2 systems")
    for name, numbers, least in (("queries", queries, 2), ("collections", collections, 2), ("seeds", seeds, 1)):
        given = list(numbers)
        whole = given and all(isinstance(number, int | np.integer) for number in given)
        if not whole or given != sorted(set(given)) or min(given) < least:
            raise UserError(f"power: {name}: {given}; expected ascending whole numbers from {least}")
    if effect is not None and half_width is not None:
        raise UserError("power: effect and half_width are two targets; expected one")
    if found is None:
        if query_sd is None:
            raise UserError("power: expected a comparison, or query_sd, a standard deviation to assume")
        name = "Assumed variances"
        sds = Assumed(query_sd=query_sd, collection_sd=collection_sd, seed_sd=seed_sd, trained=trained)
        basis = assumed_basis(sds)
    else:
        name = _name(found, comparison)
        basis = _basis(found, name)
    settings = Settings(
        plan=name,
        alpha=alpha,
        power=power,
        queries=tuple(map(int, queries)),
        collections=tuple(map(int, collections)),
        seeds=tuple(map(int, seeds)),
        effect=effect,
        half_width=half_width,
    )
    return Plan(planned(settings, basis))


def _check(**numbers: float | None) -> None:
    for name, value in numbers.items():
        most = 1 if name in ("power", "alpha") else float("inf")
        if value is not None and (not isinstance(value, numbers_of.Real) or not 0 < value < most):
            raise UserError(f"power: {name}: {value!r}; expected a number above 0{' and below 1' if most == 1 else ''}")


def _name(found: Findings, comparison: str | None) -> str:
    names = list(found.comparisons)
    if comparison is None and len(names) == 1:
        return names[0]
    if comparison not in names:
        there = f"there are {', '.join(names)}" if names else "all pairs were compared; name a control"
        raise UserError(f"power: comparison: {comparison!r}{hint(str(comparison), names)}; {there}")
    return comparison


def _basis(found: Findings, name: str) -> Basis:
    """The variances of a comparison."""
    if found.scored is None or found.scored.of_tasks:
        given = "effects from a paper" if found.scored is None else "scores of tasks"
        raise UserError(f"power: {given} have no variance of a query; give query_sd and collection_sd")
    one = found.comparisons[name]
    if not effect_named(one.meta.effect_type).HAS_DIFFERENCE:
        raise UserError(f"power: {name} has effect {one.meta.effect_type}: there is no difference to detect")
    control, treatment = one.meta.control, one.meta.treatment
    several = [system for system in (control, treatment) if found.scored.several(system) > 1]
    systems = Systems(control, treatment, several, [one for one in (control, treatment) if one not in several])
    of_both = (
        {task: of_task[system] for task, of_task in found.scored.tables.items()} for system in (control, treatment)
    )
    return found_basis(systems, one.meta, table_of(one.effects), trained_values(systems, *of_both), pd.DataFrame())
