"""Effectiveness measures by ir-measures' names, one value a query, on trec_eval's own ranking and query set.

ir-measures computes them, except some whose providers cannot: ERR and nDCG with exponential gain come from a script
that takes numbers for query ids and prints five decimals, RBP from a package that cuts its weights at rank 1,000, and
Accuracy's leaves queries out. Each measure is computed once, whatever it is called, and no value is ever a default: a
query that the run has gets the one that was computed for it, or there is an error.
"""

from __future__ import annotations

import logging
import math

import ir_measures
import pandas as pd

from scripts.common.errors import UserError
from scripts.ir.measure_names import LARGEST, OF_CWL, cutoff, parse
from scripts.ir.trec import Qrels, Run, ranking

ERR_HIGHEST_GRADE = 4  # the scale of the TREC Web track, whose script (gdeval) defines ERR for ir-measures
NOT_RETRIEVED = 0.0  # of a judged query that the run lacks, as trec_eval -c counts it
PLAIN = ("AP", "P", "R", "RR", "Rprec", "Success", "nDCG")  # of trec_eval, which can compute them side by side
PROVIDERS = ir_measures.providers.FallbackProvider(
    [ir_measures.pytrec_eval, ir_measures.cwl_eval, ir_measures.compat, ir_measures.judged, ir_measures.msmarco]
)
Values = dict[str, float]  # query id -> value


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
        raise UserError(f"measure {name!r} cannot be computed: {said.rstrip('.')}") from None
    finally:
        logging.disable(logging.NOTSET)


def evaluate(run: Run, qrels: Qrels, names: list[str]) -> pd.DataFrame:
    """Score a run.

    Returns a row a query of the qrels (index `query_id`, in their order), a column a measure name; two names of one
    measure have the same values. As `trec_eval -c` counts, a query that the run lacks scores 0 and a query that the
    qrels lack is left out; one without relevant documents has the value that the measure's provider gives it (0 for
    all that divide by their number). The ranking is trec_eval's for every measure (ties by descending document id,
    scores as 32-bit floats): it is handed to ir-measures as strictly falling scores, since its providers differ in
    how they break ties. Raises UserError for grades that a measure does not hold.
    """
    _check_grades(qrels, "measures are")
    rankings = {query: ranking(run[query]) for query in qrels if run.get(query)}
    measures = {name: parse(name) for name in names}
    values = _computed(list(dict.fromkeys(measures.values())), rankings, qrels)
    for measure, by_query in values.items():
        if by_query.keys() != rankings.keys() or not all(map(math.isfinite, by_query.values())):
            odd = next((q for q in rankings if not math.isfinite(by_query.get(q, math.nan))), None)
            raise UserError(f"measure {measure} has no value for query {odd}: it cannot be computed of this run")
    columns = {
        name: [values[measure].get(query, NOT_RETRIEVED) for query in qrels] for name, measure in measures.items()
    }
    return pd.DataFrame(columns, index=pd.Index(list(qrels), name="query_id", dtype=str))


def _computed(
    measures: list[ir_measures.Measure], rankings: dict[str, list[str]], qrels: Qrels
) -> dict[ir_measures.Measure, Values]:
    """The value of each query that has a ranking, by measure.

    The plain measures are given to ir-measures together, which is faster; all others alone: it mixes up some that it
    computes at once (two recalls of IPrec, nDCG with and without gains).
    """
    values: dict[ir_measures.Measure, Values] = {}
    together = [one for one in measures if one.NAME in PLAIN and one.params.keys() <= {"cutoff", "rel"}]
    together = [one for one in together if one.NAME != "RR" or not cutoff(one)]
    for group in [together, *([one] for one in measures if one not in together)]:
        if not group:
            continue
        first = group[0]
        if first.NAME in _OWN:
            values[first] = _OWN[first.NAME](first, rankings, qrels)
        elif first.NAME == "nDCG" and first["dcg"] == "exp-log2" and first.params.keys() <= {"dcg", "cutoff"}:
            values[first] = _exponential_ndcg(first, rankings, qrels)
        else:
            if first.NAME in OF_CWL:
                _check_grades(qrels, f"measure {first} is", first["max_rel"])
            values |= _provided(group, rankings, qrels)
    return values


def _check_grades(qrels: Qrels, which: str, highest: int = LARGEST) -> None:
    """Raise UserError for a grade beyond the highest (providers would cut it, or take it for another)."""
    grades = [grade for judged in qrels.values() for grade in judged.values()]
    if max(grades, default=0) > highest:
        raise UserError(f"{which} defined for grades up to {highest}; the qrels hold {max(grades)}")
    if min(grades, default=0) < -LARGEST:
        raise UserError(f"no measure is defined for grades below -{LARGEST}; the qrels hold {min(grades)}")


def _provided(
    measures: list[ir_measures.Measure], rankings: dict[str, list[str]], qrels: Qrels
) -> dict[ir_measures.Measure, Values]:
    """What ir-measures makes of the rankings."""
    values: dict[ir_measures.Measure, Values] = {measure: {} for measure in measures}
    if not rankings:
        return values
    strict = {
        query: {document: float(len(documents) - rank) for rank, document in enumerate(documents)}
        for query, documents in rankings.items()
    }
    judged = {query: qrels[query] for query in rankings}
    for found in PROVIDERS.iter_calc(measures, judged, strict):
        values[found.measure][found.query_id] = float(found.value)
    return values


def _err(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> Values:
    """Expected reciprocal rank: sum over ranks r of R_r / r times the product of the 1 - R_i before.

    R = (2^grade - 1) / 2^4 is the probability that a document satisfies. Chapelle, Metzler, Zhang and Grinspan (2009),
    Expected Reciprocal Rank for Graded Relevance, CIKM, equations 4 and 7.
    """
    _check_grades(qrels, f"measure {measure} is", ERR_HIGHEST_GRADE)
    values = {}
    for query, documents in rankings.items():
        value, still_looking = 0.0, 1.0
        for rank, document in enumerate(documents[: cutoff(measure)], 1):
            satisfied = (2 ** max(0, qrels[query].get(document, 0)) - 1) / 2**ERR_HIGHEST_GRADE
            value += still_looking * satisfied / rank
            still_looking *= 1 - satisfied
        values[query] = value
    return values


def _rbp(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> Values:
    """Rank-biased precision: (1 - p) times the sum of p^(r - 1) over the ranks r of relevant documents.

    Moffat and Zobel (2008), Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 27(1), equation 2.
    """
    least, p = measure["rel"], measure["p"]
    return {
        query: (1 - p)
        * sum(
            p**rank
            for rank, document in enumerate(documents[: cutoff(measure)])
            if qrels[query].get(document, least - 1) >= least
        )
        for query, documents in rankings.items()
    }


def _accuracy(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> Values:
    """The share of the pairs of a relevant and another document (both retrieved) in which the relevant one is first.

    It is 0 where no relevant document is retrieved, and 1 where no other is: none stands before a relevant one.
    """
    values = {}
    for query, documents in rankings.items():
        others_before, others = [], 0
        for document in documents[: cutoff(measure)]:
            if qrels[query].get(document, 0) >= measure["rel"]:
                others_before.append(others)
            else:
                others += 1
        wrong = sum(others_before) / (float(others) * len(others_before)) if others and others_before else 0.0
        values[query] = 1.0 - wrong if others_before else 0.0
    return values


_OWN = {"ERR": _err, "RBP": _rbp, "Accuracy": _accuracy}


def _exponential_ndcg(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> Values:
    """nDCG with the gain 2^grade - 1: the usual one, on qrels that hold the gains.

    Burges et al. (2005), Learning to Rank using Gradient Descent, ICML, section 7.
    """
    _check_grades(qrels, f"measure {measure} is", LARGEST.bit_length())
    gains = {q: {d: 2 ** max(0, grade) - 1 for d, grade in judged.items()} for q, judged in qrels.items()}
    usual = ir_measures.nDCG if cutoff(measure) is None else ir_measures.nDCG @ cutoff(measure)
    return _provided([usual], rankings, gains)[usual]
