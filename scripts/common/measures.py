"""Effectiveness measures by ir-measures' names, one value a query, on trec_eval's own ranking and query set."""

from __future__ import annotations

import ir_measures
import pandas as pd

from scripts.common.errors import UserError
from scripts.common.trec import Qrels, Run, ranking


def parse(name: str) -> ir_measures.Measure:
    """The ir-measures object of a measure's name, such as `nDCG@10`. Raises UserError for a name it does not know."""
    try:
        return ir_measures.parse_measure(name)
    except (NameError, ValueError, TypeError) as error:
        raise UserError(f"unknown measure {name!r}: use a name of ir-measures such as nDCG@10, RR@10, AP@5") from error


def evaluate(run: Run, qrels: Qrels, names: list[str]) -> pd.DataFrame:
    """Score a run.

    Returns a row a query of the qrels (index `query_id`, in their order), a column a measure name. As `trec_eval -c`
    counts, a query that the run lacks scores 0 and a query that the qrels lack is left out. The ranking is trec_eval's
    for every measure (ties by descending document id, scores as 32-bit floats): it is handed to ir-measures as
    strictly falling scores, since its providers differ in how they break ties.
    """
    measures = {parse(name): name for name in names}
    strict = {}
    for query in qrels:
        documents = ranking(run.get(query, {}))
        if documents:
            strict[query] = {document: float(len(documents) - rank) for rank, document in enumerate(documents)}
    values = {name: dict.fromkeys(qrels, 0.0) for name in names}
    if strict:
        for query, measure, value in ir_measures.iter_calc(list(measures), qrels, strict):
            values[measures[measure]][query] = value
    return pd.DataFrame(values, index=pd.Index(list(qrels), name="query_id", dtype=str))
