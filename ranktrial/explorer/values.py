"""The values of all systems on the queries of a task, and counts of each query; reads metrics files.

Several seeds of a system are averaged query by query, as comparisons do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ranktrial.common.tables import read_metrics
from ranktrial.ir.trec import Qrels, Run, judged, ranking

NEAR_TOP = 10  # ranks within which unjudged documents are counted


def mean_values(paths: Sequence[Path], measures: Sequence[str]) -> pd.DataFrame:
    """The mean over the seeds of a system: one row per query, one column per measure."""
    tables = [read_metrics(path) for path in paths]
    known = [measure for measure in measures if measure in tables[0]]
    return pd.DataFrame({measure: sum(table[measure] for table in tables) / len(tables) for measure in known})


def unjudged(run: Run, qrels: Qrels, queries: Sequence[str]) -> np.ndarray:
    """The number of unjudged documents among the first of each query."""
    first = {query: ranking(run.get(query, {}))[:NEAR_TOP] for query in queries}
    return np.array([sum(not judged(qrels[query], one) for one in first[query]) for query in queries])


def relevant_documents(qrels: Qrels, query: str) -> list[str]:
    """The documents judged relevant for a query, the most relevant first."""
    grades = {document: grade for document, grade in qrels[query].items() if grade > 0}
    return sorted(grades, key=lambda document: -grades[document])
