"""What grades of judgements count for in each measure, where judgements are graded; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

import ir_measures
import pandas as pd

from ranktrial.ir.measure_names import canonical, parse
from ranktrial.reports.writing.content import listed

GAINS = {"log2": "the grade", "exp-log2": "2^grade \N{MINUS SIGN} 1"}


def graded(datasets: pd.DataFrame, measures: Sequence[str]) -> str:
    """The grades of test sets with several grades above 0, and what these count for; empty if there are none."""
    named: dict[str, list[str]] = {}
    for row in datasets[datasets["split"] == "test"].itertuples():
        if isinstance(row.grades, str) and sum(int(grade) > 0 for grade in row.grades.split(", ")) > 1:
            named.setdefault(row.grades, []).append(row.dataset)
    if not named:
        return ""
    said = "; ".join(f"{listed(names)}: {grades}" for grades, names in named.items())
    return f"Grades of {said}.{_counted([(name, parse(name)) for name in measures if canonical(name)])}"


def _counted(measures: list[tuple[str, ir_measures.Measure]]) -> str:
    """Which gain measures take from a grade, and from which grade on documents are relevant to others."""
    gains: dict[str, list[str]] = {}
    for name, measure in measures:
        if measure.NAME == "nDCG" and "gains" not in measure.params:
            gains.setdefault(GAINS[measure["dcg"]], []).append(name)
        elif "rel" in measure.SUPPORTED_PARAMS:
            gains.setdefault(f"1 for grades from {measure['rel']} on, otherwise 0", []).append(name)
    if not gains:
        return ""
    return f" The gain of a document is {'; '.join(f'{gain} ({listed(names)})' for gain, names in gains.items())}."
