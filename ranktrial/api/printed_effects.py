"""Effects with their variances as papers print them, in place of values per query: combined as a comparison's are.

A table has the columns task (or study), yi and vi, as in R's metafor, and perhaps n, the number of queries. Effects are
independent, each with the normal interval, since a variance alone has no degrees of freedom. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ranktrial.api.findings import Findings
from ranktrial.api.methods import Methods
from ranktrial.common.errors import UserError, shortened
from ranktrial.records.comparison import EffectsRow
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.effects import combined, effect_named, reported_within
from ranktrial.statistics.measure_scale import measure_scale
from ranktrial.statistics.observed_tasks import EffectSize
from ranktrial.statistics.summaries import Summary, SummaryEquivalence, equivalence, normal_summary
from ranktrial.statistics.synthesise import synthesise
from ranktrial.statistics.task_intervals import from_summary, normal
from ranktrial.synthesis.comparison_results import meta_record
from ranktrial.synthesis.one_comparison import Results

EFFECT, VARIANCE = "yi", "vi"
NAMES = ("task", "study", "dataset", "collection", "slab")
QUERIES = ("n", "ni", "queries")
UNNAMED = "effect"
SMALLEST, LARGEST = 1e-200, 1e100  # beyond these, squares and their inverses overflow


def is_effects(data: Any) -> bool:
    """Whether data is a table of effects with variances."""
    return isinstance(data, pd.DataFrame) and {EFFECT, VARIANCE} <= set(data.columns)


def from_effects(
    table: pd.DataFrame, how: Methods, measure: str | None, names: tuple[str, str], stated: Mapping[str, Any]
) -> Findings:
    """The synthesis of a table of effects (yi, treatment minus control) with their variances (vi).

    yi are on the scale on which the effect type is reported (r of a correlation), vi on that of the synthesis (of
    Fisher's z); the scale of the measure is that of yi. Raises UserError, with the row, for an effect that is not a
    number, and a variance that is not above 0.
    """
    settings = replace(
        how.settings(*names, measure or UNNAMED, {}, False), task_interval=normal.NAME, small_tasks="own"
    )
    effect_type = effect_named(settings.effect)
    if settings.margin and not effect_type.IN_UNITS_OF_MEASURE:
        raise UserError(f"compare: margin: {settings.effect} is not in units of the measure; expected effect MD")
    sizes = _sizes(table, settings.effect)
    intervals = {}
    for task, size in sizes.items():
        assert size.estimate is not None and size.variance is not None  # _sizes has checked it
        intervals[task] = from_summary(normal.NAME, normal_summary(size.estimate, size.variance, settings.alpha))
    dependence = Dependence(
        sampling=np.diag([size.variance or 0.0 for size in sizes.values()]),
        degrees=(np.inf,) * len(sizes),
        collections=tuple(range(len(sizes))),
        counts=(None,) * len(sizes),
    )
    found = synthesise(sizes, settings, intervals, dependence)

    def against_margin(summary: Summary | None) -> SummaryEquivalence | None:
        return equivalence(summary, settings.margin, settings.lower_is_better) if summary and settings.margin else None

    margins = {task: against_margin(one.summary) for task, one in intervals.items()}
    reported = reported_within(settings.effect, None)
    counts = next((table[name] for name in QUERIES if name in table), pd.Series(None, table.index, dtype=object))
    queries = [_count(row, n) for row, n in enumerate(counts)]
    rows = [
        EffectsRow(
            task=task,
            n=n,
            effect=size.effect,
            variance=size.variance,
            se=size.se,
            ci_low=reported(intervals[task].ci_low),
            ci_high=reported(intervals[task].ci_high),
            p_value=intervals[task].p_value,
            log10_p=intervals[task].log10_p,
            weight=found.weights[task],
            equivalence_p_value=margin.p_equivalence if (margin := margins[task]) else None,
            non_inferiority_p_value=margin.p_non_inferiority if margin else None,
        )
        for (task, size), n in zip(sizes.items(), queries, strict=True)
    ]
    of_all = against_margin(found.meta.summary if found.meta else None)
    meta = meta_record(found, settings, measure_scale([found.estimates]), equivalence=of_all)
    shown = replace(how.looks, p="interval", correction="none") if effect_type.HAS_DIFFERENCE else how.looks
    return Findings.alone(Results(pd.DataFrame(rows), meta, []), shown, how.lower_is_better, stated)


def _count(row: int, given: Any) -> int | None:
    """The number of a task's queries. Raises UserError for what is none."""
    if pd.isna(given):
        return None
    number = pd.to_numeric(given, errors="coerce")
    if not number >= 1 or number % 1:
        raise UserError(f"row {row}: {shortened(given)} queries; expected a whole number from 1, or none")
    return int(number)


def _sizes(table: pd.DataFrame, effect_type: str) -> dict[str, EffectSize]:
    """The effects by task."""
    name = next((name for name in NAMES if name in table), None)
    tasks = [None if pd.isna(task) else str(task) for task in (table[name] if name else table.index)]
    found: dict[str, EffectSize] = {}
    for row, (task, effect, variance) in enumerate(zip(tasks, table[EFFECT], table[VARIANCE], strict=True)):
        where = f"row {row} (task {task})"
        if task is None:
            raise UserError(f"row {row}: no task in the column {name}; expected a name")
        if task in found:
            raise UserError(f"{where}: the task is given twice; expected one effect per task")
        numbers = pd.to_numeric(pd.Series([effect, variance]), errors="coerce").to_numpy(dtype=float)
        if not np.isfinite(numbers).all():
            problem = f"yi {shortened(effect)} and vi {shortened(variance)}"
            raise UserError(
                f"{where}: {problem}; expected a finite effect and its variance, the squared standard error"
            )
        if not SMALLEST < numbers[1] < LARGEST or abs(numbers[0]) > LARGEST:
            problem = f"yi {numbers[0]:g} and vi {numbers[1]:g}"
            raise UserError(
                f"{where}: {problem}; expected a variance above 0, the squared SE, and no number above 1e100"
            )
        try:
            estimate = combined(effect_type, float(numbers[0]))
        except ValueError as error:
            said = f"a correlation between -1 and 1, for effect {effect_type}"
            raise UserError(f"{where}: yi {numbers[0]:g}; expected {said}") from error
        found[task] = EffectSize(effect_type, 0, None, None, estimate, float(numbers[1]))
    if not found:
        raise UserError("the table of effects has no rows; expected the columns task, yi, vi")
    return found
