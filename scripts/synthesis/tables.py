"""Tables of comparisons, at full precision: their summaries, the influence of each task, and the differences per query.

`comparisons_table` reads meta/{comparison}.json and writes one row per comparison, with the summary effect, its
heterogeneity and adjusted p-values (ranktrial/synthesis/all_comparisons.py).

`write_influence` reads effects/{comparison}.tsv and meta/{comparison}.json. It writes
tables/influence/{comparison}.tsv: the diagnostics of statistics/sensitivity.py and the summary without each task, as
reported. The model is that of the comparison's summary. With fewer than three tasks with an effect, it has no rows.

`queries` reads the metrics files of control and treatment, and what queries are clustered by. It writes
tables/query-differences/{comparison}.tsv, treatment minus control per query, paired by query id as in compare.py
(several seeds of a system are averaged query by query), and tables/queries/{comparison}.tsv: one row per task with
wins, ties and losses of the treatment and its probability of superiority with its interval, by the comparison's
clusters.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # its parts are loaded when they are first used

from ranktrial.common.command_line import job
from ranktrial.common.settings import read_record
from ranktrial.common.tables import EFFECTS, read_table, write_table
from ranktrial.experiment.synthesis_records import ComparisonSettings
from ranktrial.ir.trec import read_qrels
from ranktrial.records.comparison import MetaRecord, from_record
from ranktrial.statistics.comparison import units_of
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.effects import effect_named, reported_within
from ranktrial.statistics.intervals import has_own_weights
from ranktrial.statistics.sensitivity import MIN_TASKS, dependent_influences, influences
from ranktrial.statistics.superiority import superiority, without_rounding
from ranktrial.synthesis import all_comparisons
from ranktrial.synthesis.comparing import task_scores
from ranktrial.synthesis.one_comparison import Pairs
from scripts.synthesis.compare import dependence_data, read_pairs

DIAGNOSTICS = ("hat", "rstudent", "dffits", "dfbetas", "cooks_distance", "covariance_ratio", "baujat_x", "baujat_y")
WITHOUT = ("effect", "ci_low", "ci_high", "p_value", "tau2", "q")  # of the summary of all other tasks
COLUMNS = ("task", *(f"{name}_without" for name in WITHOUT), *DIAGNOSTICS, "influential")


def comparisons_table(meta: list[Path], table: Path, settings: all_comparisons.Settings) -> None:
    """Table of the comparisons: one row each, with the summary effect, its heterogeneity and adjusted p-values."""
    metas = {path.stem: read_record(MetaRecord, path) for path in meta}
    write_table(table, all_comparisons.comparisons(metas, settings))


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


def query_differences(pairs: Pairs) -> dict[str, pd.Series]:
    """The differences of each task's queries, by query id, in the order of the control's tasks and queries."""
    differences = {}
    for task, (control, treatment) in pairs.items():
        of_x, of_y = (scores.values.mean(axis=1) for scores in (treatment, control))
        differences[task] = pd.Series(without_rounding(of_x.to_numpy(), of_y.to_numpy()), of_x.index)
    return differences


def queries(
    control: list[Path], treatment: list[Path], table: Path, differences: Path, settings: ComparisonSettings,
) -> None:  # fmt: skip
    """The differences per query of a comparison, with wins, ties and losses."""
    pairs, _ = read_pairs(control, treatment, settings)
    known = dependence_data(settings, {task: read_qrels(Path(file)) for task, file in settings.qrels.items()}, [])
    units = units_of(task_scores(pairs, settings, known), settings)
    sign = -1 if settings.lower_is_better else 1
    by_task = query_differences(pairs)
    counts = [
        {"task": task, "n": len(values)} | superiority(sign * values.to_numpy(), settings.alpha, units[task])._asdict()
        for task, values in by_task.items()
    ]
    long = pd.concat(by_task, names=["task", "query_id"]).rename("difference")
    write_table(differences, long.reset_index())
    write_table(table, pd.DataFrame(counts))


if __name__ == "__main__":
    job(comparisons_table, write_influence, queries)
