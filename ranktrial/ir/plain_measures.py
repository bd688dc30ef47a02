"""The measures that trec_eval computes together in one pass over a ranking, by trec_eval's own names.

Most tables contain only these. ir-measures computes them with the same pytrec_eval, but converts value by value: for 30
measures of 1,000 queries this takes longer than trec_eval itself.
"""

from __future__ import annotations

from collections import defaultdict

import ir_measures
import pytrec_eval

from ranktrial.ir.measure_names import cutoff
from ranktrial.ir.trec import Qrels, Run

Values = dict[str, float]  # query id -> value
_WHOLE = {"AP": "map", "RR": "recip_rank", "Rprec": "Rprec", "nDCG": "ndcg"}  # over all retrieved documents
_CUT = {"AP": "map_cut", "P": "P", "R": "recall", "RR": "recip_rank", "Success": "success", "nDCG": "ndcg_cut"}


def is_plain(measure: ir_measures.Measure) -> bool:
    """Whether trec_eval computes the measure in this way, with only a cut-off and a minimum grade as parameters."""
    return measure.NAME in (_CUT if cutoff(measure) else _WHOLE) and measure.params.keys() <= {"cutoff", "rel"}


def plain_values(measures: list[ir_measures.Measure], run: Run, qrels: Qrels) -> dict[ir_measures.Measure, Values]:
    """Measure -> query -> value, for the queries in both run and qrels; scores have 32 bits, as in trec_eval."""
    by_level = defaultdict(list)
    for measure in measures:
        by_level[1 if measure.NAME == "nDCG" else measure["rel"]].append(measure)  # gains need no level
    values: dict[ir_measures.Measure, Values] = {}
    # Grades of 0 or less change no such value. pytrec_eval takes longer to take them over than to score, and with many
    # below 0 it may hang.
    positive = {
        query: {document: grade for document, grade in grades.items() if grade > 0} or dict.fromkeys(grades, 0)
        for query, grades in qrels.items()
    }
    for level, group in by_level.items():
        evaluator = pytrec_eval.RelevanceEvaluator(
            positive, {_name(measure) for measure in group}, relevance_level=level
        )
        found = evaluator.evaluate(run)
        for measure in group:
            name, depth = _name(measure), cutoff(measure)
            values[measure] = {query: of_query[name] for query, of_query in found.items()}
            if measure.NAME == "RR" and depth:
                values[measure] = _cut_reciprocal_ranks(values[measure], depth)
    return values


def _cut_reciprocal_ranks(values: Values, depth: int) -> Values:
    """Reciprocal ranks of at most `depth`, and 0 for deeper ones."""
    return {query: value if value and round(1 / value) <= depth else 0.0 for query, value in values.items()}


def _name(measure: ir_measures.Measure) -> str:
    """trec_eval's name of the measure; its reciprocal rank has no cut-off."""
    name, depth = str(measure.NAME), cutoff(measure)
    if depth is None:
        return _WHOLE[name]
    return _CUT[name] if name == "RR" else f"{_CUT[name]}_{depth}"
