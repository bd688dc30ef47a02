"""Table of the influence of each task on a comparison's summary, at full precision.

Reads effects/{comparison}.tsv and meta/{comparison}.json. Writes tables/influence/{comparison}.tsv: the diagnostics of
statistics/sensitivity.py and the summary without each task, as reported. The model is that of the comparison's summary.
With fewer than three tasks with an effect, the table has no rows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # its parts are loaded when they are first used

from ranktrial.common.command_line import job
from ranktrial.common.settings import read_record
from ranktrial.common.tables import EFFECTS, read_table, write_table
from ranktrial.records.comparison import MetaRecord, from_record
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.effects import effect_named, reported_within
from ranktrial.statistics.intervals import has_own_weights
from ranktrial.statistics.sensitivity import MIN_TASKS, dependent_influences, influences

DIAGNOSTICS = ("hat", "rstudent", "dffits", "dfbetas", "cooks_distance", "covariance_ratio", "baujat_x", "baujat_y")
WITHOUT = ("effect", "ci_low", "ci_high", "p_value", "tau2", "q")  # of the summary of all other tasks
COLUMNS = ("task", *(f"{name}_without" for name in WITHOUT), *DIAGNOSTICS, "influential")


def combined(effect_type: str, reported_value: float) -> float:
    """A reported effect on the scale of the synthesis: the inverse of the type's `reported`, which increases."""
    reported = effect_named(effect_type).reported
    if reported(reported_value) == reported_value:
        return reported_value
    bound = 1.0
    while not reported(-bound) <= reported_value <= reported(bound):
        bound *= 2
    root = scipy.optimize.brentq(lambda value: reported(value) - reported_value, -bound, bound, xtol=1e-15, rtol=1e-14)
    return float(root)


def influence_table(effects: pd.DataFrame, meta: MetaRecord) -> pd.DataFrame:
    """One row per task with an effect; empty if there are fewer than three."""
    defined = effects[effects["effect"].notna() & effects["variance"].notna()]
    if len(defined) < MIN_TASKS or meta.meta is None:
        return pd.DataFrame(columns=list(COLUMNS))
    effect_type = meta.effect_type
    estimates = np.array([combined(effect_type, value) for value in defined["effect"]])
    asked = meta.asked or meta.meta  # without a task, the configured methods may be possible
    dependence, how = from_record(meta.dependence), (asked.estimator, asked.interval, meta.meta.alpha)
    variances = defined["variance"].to_numpy()
    if dependence is None and has_own_weights(asked.interval):
        degrees = tuple((defined["n"] - 1.0).tolist())
        dependence = Dependence(np.diag(variances), degrees, tuple(range(len(defined))))
    if dependence is None:
        found = influences(estimates, variances, *how)
    else:
        found = dependent_influences(estimates, dependence, *how)
    reported = reported_within(effect_type, meta.reach)
    rows = []
    for task, one in zip(defined["task"], found, strict=True):
        summary = one.without.summary
        rows.append(
            {
                "task": task,
                "effect_without": reported(summary.effect),
                "ci_low_without": reported(summary.ci_low),
                "ci_high_without": reported(summary.ci_high),
                "p_value_without": summary.p_value,
                "tau2_without": one.without.tau2,
                "q_without": one.without.q,
                **{name: getattr(one, name) for name in DIAGNOSTICS},
                "influential": "yes" if one.influential else "no",
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def write_influence(effects: Path, meta: Path, table: Path) -> None:
    """Table of the influence of each task on a comparison's summary, at full precision."""
    write_table(table, influence_table(read_table(effects, *EFFECTS), read_record(MetaRecord, meta)))


if __name__ == "__main__":
    job(write_influence)
