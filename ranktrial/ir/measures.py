"""Effectiveness measures by ir-measures' names: one value per query, on trec_eval's own ranking and query set.

trec_eval computes most of them, ndeval those by subtopic, and ir-measures' providers others. Five are computed here,
because of limits of their providers: for ERR and nDCG with exponential gain a script that takes only numbers as query
ids and prints five decimals, for RBP a package that cuts the weights at rank 1,000, for Accuracy one that leaves out
queries, for Judged one that counts documents as judged which trec_eval does not. Each measure is computed once, even
under two names. No value is ever a default: each query of the run gets a computed value, or there is an error.

For all measures, a document is judged if its grade is 0 or more: in trec_eval, a grade below 0 means unjudged (-1: not
in the pool, -2: in the pool, but not assessed). A measure with judged_only=True is that of the condensed list, which
has only the judged documents, whatever provider computes it.

The measures that trec_eval computes together in one pass over a ranking, by trec_eval's own names.

Most tables contain only these. ir-measures computes them with the same pytrec_eval, but converts value by value: for 30
measures of 1,000 queries this takes longer than trec_eval itself.
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict

import ir_measures
import pandas as pd
import pytrec_eval

from ranktrial.common.errors import UserError
from ranktrial.ir.measure_names import BY_SUBTOPIC, LARGEST, OF_CWL, PMRR, Original, cutoff, p_mrr, parse
from ranktrial.ir.trec import Qrels, Run, Subtopics, condensed, held_scores, ranking

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


ERR_HIGHEST_GRADE = 4  # the scale of the TREC Web track, whose script (gdeval) defines ERR for ir-measures
NOT_RETRIEVED = 0.0  # the value of a judged query that is not in the run, as with trec_eval -c
PROVIDERS = ir_measures.providers.FallbackProvider(
    [ir_measures.pytrec_eval, ir_measures.cwl_eval, ir_measures.compat, ir_measures.msmarco]
)


def check_computable(name: str) -> None:
    """Raise UserError unless the measure can be computed here; it is tried on a run of one query."""
    parse(name)
    logging.disable(logging.WARNING)  # providers warn about such a small task
    try:
        qrels = {"q": {"a": 1, "c": 0}}
        evaluate({"q": {"a": 2.0, "b": 1.0}}, qrels, [name], {"1": qrels, "2": {"q": {"c": 1}}})
    except UserError:
        raise
    except Exception as error:  # the providers raise many kinds of exceptions, here all about this measure
        message = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"measure {name!r} cannot be computed: {message.rstrip('.')}") from None
    finally:
        logging.disable(logging.NOTSET)


def evaluate(
    run: Run, qrels: Qrels, names: list[str], subtopics: Subtopics | None = None, original: Original | None = None
) -> pd.DataFrame:
    """Score a run; measures by subtopic need the judgements `subtopics`, of which `qrels` has the highest grades, and
    pMRR needs the `original` of queries with changed instructions.

    Returns a table with a row per query of the qrels (index `query_id`, in their order) and a column per measure name;
    two names of one measure have the same values. As in `trec_eval -c`, a query that the run lacks scores 0 and a query
    that the qrels lack is left out. A query without relevant documents has the value that the measure's provider gives
    it (0 for all measures that divide by their number). The ranking is trec_eval's for every measure (ties by
    descending document id, scores as 32-bit floats). It is passed to ir-measures as strictly decreasing scores, because
    its other providers break ties differently. Raises UserError for grades that a measure does not allow.
    """
    _check_grades(qrels, "measures are")
    judged = {query: run[query] for query in qrels if run.get(query)}
    measures = {name: parse(name) for name in names}
    different = list(dict.fromkeys(measures.values()))
    plain = [measure for measure in different if measure.NAME not in (*BY_SUBTOPIC, PMRR.NAME)]
    values = _computed(plain, judged, qrels)
    values |= {
        measure: _of_subtopics(measure, judged, qrels, subtopics or {})
        for measure in different
        if measure.NAME in BY_SUBTOPIC
    }
    for measure, by_query in values.items():
        if by_query.keys() != judged.keys() or not all(map(math.isfinite, by_query.values())):
            query = next((query for query in judged if not math.isfinite(by_query.get(query, math.nan))), None)
            raise UserError(f"measure {measure} has no value for query {query}: it cannot be computed for this run")
    if PMRR in different:
        values[PMRR] = p_mrr(run, qrels, original)
    columns = {
        name: [values[measure].get(query, NOT_RETRIEVED) for query in qrels] for name, measure in measures.items()
    }
    return pd.DataFrame(columns, index=pd.Index(list(qrels), name="query_id", dtype=str))


def _computed(measures: list[ir_measures.Measure], run: Run, qrels: Qrels) -> dict[ir_measures.Measure, Values]:
    """Measure -> query -> value, for each query of a run whose queries are all judged.

    ir-measures gets each measure alone, because it mixes up some that it computes together (two recalls of IPrec, nDCG
    with and without gains).
    """
    plain = [measure for measure in measures if is_plain(measure)]
    for scores in run.values():
        held_scores(scores)  # raises UserError if trec_eval would store another value
    values = plain_values(plain, run, qrels)
    values |= {measure: _condensed(measure, run, qrels) for measure in measures if measure.params.get("judged_only")}
    others = [measure for measure in measures if measure not in values]
    rankings = _rankings(run) if others else {}
    for measure in others:
        if measure.NAME in _OWN:
            values[measure] = _OWN[measure.NAME](measure, rankings, qrels)
        elif measure.NAME == "nDCG" and measure["dcg"] == "exp-log2" and measure.params.keys() <= {"dcg", "cutoff"}:
            values[measure] = _exponential_ndcg(measure, run, qrels)
        else:
            if measure.NAME in OF_CWL:
                _check_grades(qrels, f"measure {measure} is", measure["max_rel"])
            values[measure] = _provided(measure, rankings, qrels)
    return values


def _of_subtopics(measure: ir_measures.Measure, run: Run, qrels: Qrels, subtopics: Subtopics) -> Values:
    """The values of ndeval; 0 where no document is relevant to a subtopic, as for other measures."""
    if measure.params.get("judged_only"):
        left = _left(run, qrels)
        return dict.fromkeys(run, NOT_RETRIEVED) | _of_subtopics(_of_all(measure), left, qrels, subtopics)
    judged = [
        ir_measures.Qrel(query, document, grade, subtopic)
        for subtopic, judgements in subtopics.items()
        for query in run.keys() & judgements.keys()
        for document, grade in judgements[query].items()
    ]
    if not judged:
        return dict.fromkeys(run, NOT_RETRIEVED)
    found = ir_measures.pyndeval.iter_calc([measure], judged, _strict(_rankings(run)))
    with_relevant = {one.query_id for one in judged if one.relevance >= measure["rel"]}
    values = {value.query_id: float(value.value) for value in found if value.query_id in with_relevant}
    return dict.fromkeys(run.keys() - with_relevant, NOT_RETRIEVED) | values


def _of_all(measure: ir_measures.Measure) -> ir_measures.Measure:
    """The measure of whole lists for one of condensed lists."""
    return type(measure)(**{name: value for name, value in measure.params.items() if name != "judged_only"})


def _condensed(measure: ir_measures.Measure, run: Run, qrels: Qrels) -> Values:
    """The values of a measure of condensed lists: those of the rankings without unjudged documents."""
    of_all = _of_all(measure)
    return dict.fromkeys(run, NOT_RETRIEVED) | _computed([of_all], _left(run, qrels), qrels)[of_all]


def _left(run: Run, qrels: Qrels) -> Run:
    """The queries of a run with at least one judged document, with only these documents."""
    return {query: scores for query, scores in condensed(run, qrels).items() if scores}


def _rankings(run: Run) -> dict[str, list[str]]:
    return {query: ranking(scores) for query, scores in run.items()}


def _strict(rankings: dict[str, list[str]]) -> Run:
    """The rankings as a run without ties."""
    return {
        query: dict(zip(documents, map(float, range(len(documents), 0, -1)), strict=True))
        for query, documents in rankings.items()
    }


def _check_grades(qrels: Qrels, which: str, highest: int = LARGEST) -> None:
    """Raise UserError for a grade above `highest`, which providers would cut or misread."""
    grades = [grade for judged in qrels.values() for grade in judged.values()]
    if max(grades, default=0) > highest:
        raise UserError(f"{which} defined for grades up to {highest}; the qrels hold {max(grades)}")
    if min(grades, default=0) < -LARGEST:
        raise UserError(f"no measure is defined for grades below -{LARGEST}; the qrels hold {min(grades)}")


def _provided(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> Values:
    """The values that ir-measures computes from the rankings."""
    if not rankings:
        return {}
    judged = {query: qrels[query] for query in rankings}
    return {value.query_id: float(value.value) for value in PROVIDERS.iter_calc([measure], judged, _strict(rankings))}


def _err(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> Values:
    """Expected reciprocal rank: the sum over ranks r of R_r / r times the product of 1 - R_i over all ranks i < r.

    R = (2^grade - 1) / 2^4 is the probability that a document satisfies the user. Chapelle, Metzler, Zhang and Grinspan
    (2009), Expected Reciprocal Rank for Graded Relevance, CIKM, equations 4 and 7.
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
    """The share of pairs of a relevant and a non-relevant retrieved document with the relevant one ranked higher.

    It is 0 if no relevant document is retrieved, else 1 if no non-relevant document is.
    """
    values = {}
    for query, documents in rankings.items():
        non_relevant_before, non_relevant = [], 0
        for document in documents[: cutoff(measure)]:
            if qrels[query].get(document, 0) >= measure["rel"]:
                non_relevant_before.append(non_relevant)
            else:
                non_relevant += 1
        pairs = float(non_relevant) * len(non_relevant_before)
        wrong = sum(non_relevant_before) / pairs if pairs else 0.0
        values[query] = 1.0 - wrong if non_relevant_before else 0.0
    return values


def _judged(measure: ir_measures.Measure, rankings: dict[str, list[str]], qrels: Qrels) -> Values:
    """The share of judged documents among the first k, or among all retrieved ones if they are fewer."""
    values = {}
    for query, documents in rankings.items():
        first = documents[: cutoff(measure)]
        values[query] = sum(qrels[query].get(document, -1) >= 0 for document in first) / len(first)
    return values


_OWN = {"ERR": _err, "RBP": _rbp, "Accuracy": _accuracy, "Judged": _judged}


def _exponential_ndcg(measure: ir_measures.Measure, run: Run, qrels: Qrels) -> Values:
    """nDCG with the gain 2^grade - 1, computed as nDCG with linear gain on qrels with these gains as grades.

    Burges et al. (2005), Learning to Rank using Gradient Descent, ICML, section 7.
    """
    _check_grades(qrels, f"measure {measure} is", LARGEST.bit_length())
    gains = {q: {d: 2 ** max(0, grade) - 1 for d, grade in judged.items()} for q, judged in qrels.items()}
    linear = ir_measures.nDCG if cutoff(measure) is None else ir_measures.nDCG @ cutoff(measure)
    return plain_values([linear], run, gains)[linear]
