"""Statements from the task scores of a leaderboard, without values per query; reads and writes nothing.

A task has then no variance of its own: nobody knows how its score would differ for other queries. The tasks are the
sample. Their mean difference is the equally weighted one, and its interval, by t with one degree of freedom less than
there are tasks, is for tasks like these.
"""

from __future__ import annotations

import math

from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.statistics.meta_analysis.measure_scale import within_reach

NOT_CONCLUDED = (
    "The scores are means of tasks without values per query, so no task has a variance of its own. It cannot be "
    "concluded whether the systems differ on a single task, whether they differ on these tasks for other queries, nor "
    "how much true differences vary between tasks (τ). Tasks that share a corpus or queries count as independent."
)


def scope(plot: Forest) -> str:
    """The scope of the mean."""
    row = plot.groups[0].rows[0]
    return f"Over tasks like the {row.n} of {row.task}"


def in_a_further_task(plot: Forest, meta: MetaRecord) -> tuple[float, float] | None:
    """The prediction interval of the difference reported for a further task: mean -+ t(k - 1) s sqrt(1 + 1 / k).

    None if the interval of the mean is another than t(k - 1) s / sqrt(k), from which it is computed.
    """
    k, mean = plot.groups[0].rows[0].n, meta.fixed_mean
    if mean is None or mean.df != k - 1 or not plot.effect.IN_UNITS_OF_MEASURE:
        return None
    half = mean.half_width(plot.alpha) * math.sqrt(k + 1)
    return within_reach(mean.effect - half, meta.reach), within_reach(mean.effect + half, meta.reach)
