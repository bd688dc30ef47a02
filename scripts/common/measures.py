"""Effectiveness measures by ir-measures' names, one value a query, on trec_eval's own ranking and query set.

ir-measures computes them, except two whose providers cannot: ERR and nDCG with exponential gain come from a script that
takes numbers for query ids and prints five decimals, RBP from a package that cuts its weights at rank 1,000.
"""

from __future__ import annotations

import logging

import ir_measures
import pandas as pd

from scripts.common.errors import UserError
from scripts.common.trec import Qrels, Run, ranking

ERR_HIGHEST_GRADE = 4  # the scale of the TREC Web track, whose script (gdeval) defines ERR for ir-measures


def parse(name: str) -> ir_measures.Measure:
    """The ir-measures object of a measure's name, such as `nDCG@10`. Raises UserError for a name it does not know."""
    try:
        return ir_measures.parse_measure(name)
    except (NameError, ValueError, TypeError) as error:
        raise UserError(f"unknown measure {name!r}: use a name of ir-measures such as nDCG@10, RR@10, AP@5") from error


def check_computable(name: str) -> None:
    """Raise UserError unless the measure can be computed here: it scores a run of one query, to see."""
    parse(name)
    logging.disable(logging.WARNING)  # what a provider finds odd about so small a task
    try:
        evaluate({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "c": 0}}, [name])
    except UserError:
        raise
    except Exception as error:  # ir-measures' providers raise many kinds, all of them about this one measure
        said = " ".join(str(error).split()) or type(error).__name__
        if said.startswith("invalid param"):
            said = "a parameter is missing or wrong, see https://ir-measur.es/en/latest/measures.html"
        elif "pyndeval" in said:
            said = "it needs judgements by subtopic, which qrels here do not have"
        raise UserError(f"measure {name!r} cannot be computed: {said.rstrip('.')}") from None
    finally:
        logging.disable(logging.NOTSET)


def evaluate(run: Run, qrels: Qrels, names: list[str]) -> pd.DataFrame:
    """Score a run.

    Returns a row a query of the qrels (index `query_id`, in their order), a column a measure name. As `trec_eval -c`
    counts, a query that the run lacks scores 0 and a query that the qrels lack is left out. The ranking is trec_eval's
    for every measure (ties by descending document id, scores as 32-bit floats): it is handed to ir-measures as
    strictly falling scores, since its providers differ in how they break ties.
    """
    rankings = {query: ranking(run[query]) for query in qrels if run.get(query)}
    values = {name: dict.fromkeys(qrels, 0.0) for name in names}
    provided = {}
    for name in names:
        measure = parse(name)
        if measure.NAME in _OWN:
            values[name] |= _OWN[measure.NAME](measure, rankings, qrels)
        elif measure.NAME == "nDCG" and measure["dcg"] == "exp-log2" and measure.params.keys() <= {"dcg", "cutoff"}:
            values[name] |= _exponential_ndcg(measure, rankings, qrels)
        else:
            provided[measure] = name
    for query, measure, value in _calculated(list(provided), rankings, qrels):
        values[provided[measure]][query] = value
    return pd.DataFrame(values, index=pd.Index(list(qrels), name="query_id", dtype=str))


def _calculated(
    measures: list[ir_measures.Measure], rankings: dict[str, list[str]], qrels: Qrels
) -> list[tuple[str, ir_measures.Measure, float]]:
    """What ir-measures makes of the rankings: (query, measure, value)."""
    if not measures or not rankings:
        return []
    strict = {
        query: {document: float(len(documents) - rank) for rank, document in enumerate(documents)}
        for query, documents in rankings.items()
    }
    return [(found.query_id, found.measure, found.value) for found in ir_measures.iter_calc(measures, qrels, strict)]


def _err(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> dict[str, float]:
    """Expected reciprocal rank: sum over ranks r of R_r / r times the product of the 1 - R_i before.

    R = (2^grade - 1) / 2^4 is the probability that a document satisfies. Chapelle, Metzler, Zhang and Grinspan (2009),
    Expected Reciprocal Rank for Graded Relevance, CIKM, equations 4 and 7.
    """
    highest = max((grade for judged in qrels.values() for grade in judged.values()), default=0)
    if highest > ERR_HIGHEST_GRADE:
        raise UserError(f"measure {measure} is defined for grades up to {ERR_HIGHEST_GRADE}; the qrels hold {highest}")
    values = {}
    for query, documents in rankings.items():
        value, still_looking = 0.0, 1.0
        for rank, document in enumerate(documents[: _cutoff(measure)], 1):
            satisfied = (2 ** max(0, qrels[query].get(document, 0)) - 1) / 2**ERR_HIGHEST_GRADE
            value += still_looking * satisfied / rank
            still_looking *= 1 - satisfied
        values[query] = value
    return values


def _rbp(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> dict[str, float]:
    """Rank-biased precision: (1 - p) times the sum of p^(r - 1) over the ranks r of relevant documents.

    Moffat and Zobel (2008), Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 27(1), equation 2.
    """
    least, p = measure["rel"], measure["p"]
    if not isinstance(least, int):
        said = "say from which grade on a document is relevant, such as RBP(rel=1)"
        raise UserError(f"measure '{measure}' cannot be computed: {said}")
    return {
        query: (1 - p)
        * sum(
            p**rank
            for rank, document in enumerate(documents[: _cutoff(measure)])
            if qrels[query].get(document, least - 1) >= least
        )
        for query, documents in rankings.items()
    }


_OWN = {"ERR": _err, "RBP": _rbp}


def _exponential_ndcg(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> dict[str, float]:
    """nDCG with the gain 2^grade - 1: the usual one, on qrels that hold the gains.

    Burges et al. (2005), Learning to Rank using Gradient Descent, ICML, section 7.
    """
    gains = {q: {d: 2 ** max(0, grade) - 1 for d, grade in judged.items()} for q, judged in qrels.items()}
    usual = ir_measures.nDCG if _cutoff(measure) is None else ir_measures.nDCG @ _cutoff(measure)
    return {query: value for query, _, value in _calculated([usual], rankings, gains)}


def _cutoff(measure: ir_measures.Measure) -> int | None:
    """The cut-off of a measure that may have one."""
    return measure.params.get("cutoff")
