"""The table of a task's queries, which the page lists, filters, sorts and draws; reads runs, to find holes.

Values have full precision, so that intervals on the page are those of scripts/statistics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # its modules are loaded on first use

from ranktrial.common.keys import JsonObject
from ranktrial.explorer.settings import Comparison, Settings
from ranktrial.explorer.task_data import Data, run_of
from ranktrial.ir.holes import cut, has_holes, holes
from ranktrial.statistics.meta_analysis.measure_scale import reach_of

LISTED = 300  # characters of a query in the list
DECIMALS = 6  # of differences in the cases of holes


def query_table(
    data: Data, settings: Settings, of_queries: dict[str, str], counts: dict[str, list[float]]
) -> JsonObject:
    """The whole table, one value per query in each list."""
    over = {name: one for name, one in settings.comparisons.items() if data.name in one.tasks}
    whole = [of_queries.get(query, "") for query in data.queries]
    measures = dict.fromkeys(one.measure for one in over.values())
    return {
        "ids": data.queries,
        "texts": [text[:LISTED] for text in whole],
        "words": [len(text.split()) for text in whole],
        "relevant": [sum(grade > 0 for grade in data.qrels.get(query, {}).values()) for query in data.queries],
        "unjudged": counts,
        "values": {measure: values_of(data, measure) for measure in measures},
        "ranges": {measure: range_of(data, measure) for measure in measures},
        "quantiles": {f"{alpha:g}": quantiles(len(data.queries), alpha) for alpha in _alphas(over.values())},
        "holes": {name: found for name, one in over.items() if (found := hole_record(data, one))},
    }


def _alphas(over) -> dict[float, None]:
    return dict.fromkeys(one.alpha for one in over)


def values_of(data: Data, measure: str) -> dict[str, list[float | None]]:
    """The values of a measure by system; None for missing values."""
    columns = {system: table[measure] for system, table in data.values.items() if measure in table}
    return {system: [None if np.isnan(one) else one for one in column] for system, column in columns.items()}


def range_of(data: Data, measure: str) -> tuple[float, float] | None:
    """Between what differences in a measure lie; None if nobody knows."""
    reach = reach_of(
        measure, (table[measure].dropna().to_numpy() for table in data.values.values() if measure in table)
    )
    return None if reach is None else (-reach, reach)


def quantiles(n: int, alpha: float) -> list[float]:
    """The 1 - alpha/2 quantiles of Student's t with 1, 2, … n - 1 degrees of freedom, for intervals of any subset."""
    return [] if n < 2 else (-scipy.special.stdtrit(np.arange(1, n), alpha / 2)).tolist()


def hole_record(data: Data, one: Comparison) -> JsonObject | None:
    """The holes of a comparison; None if the measure has none, values are external or one of the systems has no run."""
    sides: Sequence[str] = (one.control, one.treatment)
    if not data.qrels or not has_holes(one.measure) or any(side not in data.runs for side in sides):
        return None
    control, treatment = (
        [cut(run_of(path), one.measure, data.qrels) for path in data.runs[side].values()] for side in sides
    )
    found = holes(control, treatment, data.qrels, one.measure)
    cases = {name: case.difference.round(DECIMALS).tolist() for name, case in found.cases.items()}
    return {"number": found.number.tolist(), **cases}
