"""The size of a dataset beside a printed one: documents, queries or judgements, of all splits or of some.

Reads the table of datasets (one row per dataset and split); writes nothing.
"""

from __future__ import annotations

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.experiment.printed_cells import Line, Mapping
from ranktrial.reports.published_numbers.found import Found

OF_ALL_SPLITS = "documents"  # each split's row has the number of the whole dataset


def size(line: Line, columns: list[str], datasets: pd.DataFrame, mapping: Mapping) -> Found:
    """The sum of the columns over the datasets or splits that `line` names; or the reason why there is none.

    Raises UserError for a column that the table lacks.
    """
    if not line.ours:
        return Found(reason=line.text)
    if unknown := [column for column in columns if column not in datasets]:
        raise UserError(f"{mapping.path}: counts: the table of datasets has no column {unknown[0]!r}")
    total = 0.0
    for place in line.ours:
        dataset, _, split = place.partition("/")
        rows = datasets[[name == dataset and split in ("", of) for name, of in datasets.index]]
        if rows.empty:
            return Found(reason=f"the dataset {place} is not in this experiment")
        total += sum(_count(rows[column]) for column in columns)
    return Found(total, place={"our_task": ", ".join(line.ours), "our_measure": " + ".join(columns)})


def _count(column: pd.Series) -> float:
    """The sum over splits, in which what is not counted is 0; documents are those of the dataset."""
    return float(column.iloc[0] if column.name == OF_ALL_SPLITS else column.fillna(0).sum())
