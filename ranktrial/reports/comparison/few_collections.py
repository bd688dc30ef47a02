"""A remark where two or three collections say almost nothing about others; reads and writes nothing.

An interval with one or two degrees of freedom may hold more than any difference could be. A reader of its bounds alone
would take it for a finding.
"""

from __future__ import annotations

import numpy as np

from ranktrial.reports.comparison.forest_data import Diamond, Forest
from ranktrial.reports.comparison.number_text import spelled
from ranktrial.statistics.meta_analysis.measure_scale import measure_scale

FEW = 3


def remark(plot: Forest, summary: Diamond, k: int) -> str:
    """A clause on a summary whose interval is too wide to say anything; empty for any other."""
    says_nothing = summary.ci_low <= 0 <= summary.ci_high and (k == 2 or _is_beyond(plot, summary))
    if k > FEW or not says_nothing:
        return ""
    return f"; {spelled(k)} collections provide almost no information about collections like these"


def _is_beyond(plot: Forest, summary: Diamond) -> bool:
    """Whether an interval goes to, or beyond, what a difference in the measure can be."""
    rows = [row for row in plot.groups[0].rows if row.effect is not None]
    means = [mean for row in rows for mean in (row.control_mean, row.treatment_mean) if mean is not None]
    if not plot.effect.IN_UNITS_OF_MEASURE or not means or min(means) < 0:
        return False
    return max(-summary.ci_low, summary.ci_high) >= measure_scale([np.array(means)])
