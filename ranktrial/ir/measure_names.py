"""Names of measures: the measure of ir-measures with a name, the check of its parameters, and its synonyms.

Parameters are checked here, before any provider sees them: trec_eval ends the whole process at a cut-off of 0, and
other providers silently compute something else (a recall of 0.125 becomes 0.12).

Synonyms are trec_eval's names (ndcg_cut_10, map, recip_rank).

p-MRR says whether a ranking follows a change of the query's instruction (Weller et al. 2024, FollowIR: Evaluating and
Teaching Information Retrieval Models to Follow Instructions, section 4). A document that is relevant with the original
but not with the changed instruction has rank o before and rank n after:

    n / o - 1 if it rose or stayed (n <= o), 1 - o / n if it fell

The value of a query is the mean over these documents, from -1 to 1: above 0, they fell, as the instruction asks. A
document that is not in a ranking has the rank after its last, and a query without a ranking has the value 0.
ir-measures lacks the measure, so it is registered there.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import ir_measures
from ir_measures import measures

from ranktrial.common.errors import UserError
from ranktrial.common.wording import closest
from ranktrial.ir.trec import Qrels, Run, ranking

_WHOLE = {
    "map": "AP",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "bpref": "Bpref",
    "Rprec": "Rprec",
    "infAP": "infAP",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_q": "NumQ",
}
_CUT = {"ndcg_cut": "nDCG", "map_cut": "AP", "P": "P", "recall": "R", "success": "Success"}
_CUT_NAME = re.compile(rf"({'|'.join(_CUT)})[_.]([1-9][0-9]{{0,6}})")
_PRECISION = re.compile(r"iprec_at_recall_(0\.[0-9]+|1\.0+)")


def of_trec_eval(name: str) -> str | None:
    """The name of ir-measures for one of trec_eval; None for any other."""
    if cut := _CUT_NAME.fullmatch(name):
        return f"{_CUT[cut[1]]}@{cut[2]}"
    if precision := _PRECISION.fullmatch(name):
        return f"IPrec@{float(precision[1])}"
    return _WHOLE.get(name)


class _PMRR(measures.Measure):
    __name__ = "pMRR"
    NAME = __name__
    PRETTY_NAME = "Pairwise Mean Reciprocal Rank"
    SHORT_DESC = "Whether documents fall that a changed instruction makes irrelevant."


PMRR: measures.Measure = _PMRR()  # type: ignore[no-untyped-call]
if PMRR.NAME not in ir_measures.measures.registry:
    measures.register(PMRR)


class Original(NamedTuple):
    """The run and the judgements of the same queries with their first instructions."""

    run: Run
    qrels: Qrels


def p_mrr(run: Run, qrels: Qrels, original: Original | None) -> dict[str, float]:
    """The value of each query of the qrels; 0 without an original, as for a ranking compared with itself.

    Raises UserError for a query without a document that has become irrelevant.
    """
    if original is None:
        return dict.fromkeys(qrels, 0.0)
    values = {}
    for query, grades in qrels.items():
        before = original.qrels.get(query, {})
        changed = [document for document, grade in before.items() if grade > 0 and grades.get(document, 0) <= 0]
        if not changed:
            why = "is relevant to it with its first instruction and not with the changed one"
            raise UserError(f"pMRR: query {query} has no value: no document {why}; leave the query out")
        rankings = [ranking(ranked.get(query, {})) for ranked in (original.run, run)]
        moved = map(_moved, *(_ranks(documents, changed) for documents in rankings))
        values[query] = sum(moved) / len(changed) if all(rankings) else 0.0
    return values


def _ranks(documents: Sequence[str], changed: Sequence[str]) -> list[int]:
    places = {document: rank for rank, document in enumerate(documents, 1)}
    return [places.get(document, len(documents) + 1) for document in changed]


def _moved(before: int, now: int) -> float:
    return now / before - 1 if now <= before else 1 - before / now


LONGEST_NAME = 200
LARGEST = 2**31 - 1  # the largest integer that all providers support
DEEPEST_CWL = 1000  # ranks: cwl_eval reads no deeper
OF_CWL = ("BPM", "INSQ", "INST", "NERR8", "NERR9", "NERR10", "NERR11", "SDCG")
BY_SUBTOPIC = ("AP_IA", "ERR_IA", "NRBP", "P_IA", "StRecall", "alpha_DCG", "alpha_nDCG", "nERR_IA", "nNRBP")
DEEPEST_NDEVAL = 20  # ranks: ndeval computes no deeper
OF_JUDGEMENTS = ("NumQ", "NumRel")
for measure in (ir_measures.ERR, ir_measures.RBP):  # computed here, of condensed lists too, which ir-measures lacks
    measure.SUPPORTED_PARAMS["judged_only"] = ir_measures.P.SUPPORTED_PARAMS["judged_only"]
EXAMPLES = "nDCG@10, RR@10, AP@5"
SEE = "see https://ir-measur.es/en/latest/measures.html"


@dataclass(frozen=True)
class Range:
    """The allowed values of a parameter, as a test and as text."""

    holds: Callable[[object], bool]
    words: str


def _whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _between(value: object, low: float, high: float) -> bool:
    return isinstance(value, float) and low < value < high


def _is_gains(value: object) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return all(_whole(grade, -LARGEST, LARGEST) and _whole(gain, 0, LARGEST) for grade, gain in value.items())


_COUNT = Range(lambda value: _whole(value, 1, LARGEST), f"a whole number from 1 to {LARGEST}")
_SHARE = Range(lambda value: _between(value, 0, 1), "a number above 0 and below 1, such as 0.8")
_POSITIVE = Range(lambda value: _between(value, 0, math.inf), "a number above 0, written with a point, such as 1.0")
_FLAG = Range(lambda value: isinstance(value, bool), "True or False")
RANGES = {
    "cutoff": _COUNT,
    "rel": _COUNT,
    "p": _SHARE,
    "T": _POSITIVE,
    "alpha": Range(lambda value: isinstance(value, float) and 0 <= value <= 1, "a number from 0.0 to 1.0"),
    "beta": _POSITIVE,
    "recall": Range(
        lambda value: isinstance(value, float) and 0 <= value <= 1 and round(value, 2) == value,
        "0.0 to 1.0 with at most two decimals, such as IPrec@0.1",
    ),
    "min_rel": Range(lambda value: _whole(value, 0, LARGEST), f"a whole number from 0 to {LARGEST}"),
    "max_rel": _COUNT,
    "dcg": Range(lambda value: value in ("log2", "exp-log2"), "'log2' or 'exp-log2'"),
    "gains": Range(_is_gains, "a whole number of at least 0 for each grade, such as {0:0,1:1,2:3}"),
    "judged_only": _FLAG,
    "normalize": _FLAG,
    "relative": _FLAG,
}
_CWL_CUTOFF = Range(lambda value: _whole(value, 1, DEEPEST_CWL), f"a whole number from 1 to {DEEPEST_CWL}")
_NDEVAL_CUTOFF = Range(lambda value: _whole(value, 1, DEEPEST_NDEVAL), f"a whole number from 1 to {DEEPEST_NDEVAL}")
_RBP_REL = Range(lambda value: _whole(value, 0, LARGEST), f"a whole number from 0 to {LARGEST}")
_CUT_BY_SUBTOPIC = ("ERR_IA", "P_IA", "StRecall", "alpha_DCG", "alpha_nDCG", "nERR_IA")  # not without a cut-off
_NARROWER: dict[tuple[str | None, str], Range] = {  # than the parameter has with other measures
    **{(name, "cutoff"): _CWL_CUTOFF for name in OF_CWL},
    **{(name, "cutoff"): _NDEVAL_CUTOFF for name in _CUT_BY_SUBTOPIC},
    **{(name, "beta"): _SHARE for name in ("NRBP", "nNRBP")},
    ("RBP", "rel"): _RBP_REL,
}


def parse(name: str) -> ir_measures.Measure:
    """The ir-measures object of a measure's name, such as `nDCG@10`; two names of one measure give equal objects.

    Raises UserError for a name that ir-measures does not know and for parameters that are missing or not valid.
    """
    read = _read(name)
    if read is None:
        raise UserError(f"unknown measure {name!r}{_meant(name)}; use a name of ir-measures such as {EXAMPLES}")
    measure, given = read
    _check(name, measure, given)
    return type(measure)(**dict(sorted(measure.params.items())))  # the library's equality depends on their order


def _read(name: str) -> tuple[ir_measures.Measure, list[str | None]] | None:
    """The measure of a name and the parameters that it states; None for a name that ir-measures does not know."""
    if len(name) > LONGEST_NAME or not name.isascii() or not name.isprintable() or name != name.strip() or "#" in name:
        return None
    try:
        return ir_measures.parse_measure(name), _given(name)
    except (NameError, ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _meant(name: str) -> str:
    """The measure that was meant, as a part of a message: that of trec_eval's name, or the same parameters of the
    measure with the closest name; empty if none is close."""
    if named := of_trec_eval(name):
        return f" (trec_eval's name; did you mean {named!r}?)"
    head, *parameters = re.split(r"(?=[@(])", name[:LONGEST_NAME], maxsplit=1)
    registry = ir_measures.measures.registry
    known = [*registry, *(measure.NAME for measure in registry.values())]  # of two spellings the last is taken
    computed = [measure for measure in known if measure not in OF_JUDGEMENTS]
    meant = "".join([*closest(head, computed), *parameters])
    return f" (did you mean {meant!r}?)" if _read(meant) else ""


def _given(name: str) -> list[str | None]:
    """The parameters in a name, including duplicates; None is the value after `@`."""
    call = ast.parse(name, mode="eval").body
    given: list[str | None] = []
    if isinstance(call, ast.BinOp):
        given.append(None)
        call = call.left
    if isinstance(call, ast.Call):
        given += [keyword.arg for keyword in call.keywords]
    return given


def _check(name: str, measure: ir_measures.Measure, given: list[str | None]) -> None:
    def fail(reason: str) -> UserError:
        return UserError(f"measure {name!r} cannot be computed: {reason}")

    if measure.NAME in OF_JUDGEMENTS:
        raise fail("it describes only the judgements, not a run")
    stated = [measure.AT_PARAM if parameter is None else parameter for parameter in given]
    for parameter in stated:
        if parameter not in measure.SUPPORTED_PARAMS:
            known = ", ".join(measure.SUPPORTED_PARAMS) or "none"
            raise fail(f"a parameter is missing or wrong: {parameter} is not one of {measure.NAME}'s ({known})")
        if stated.count(parameter) > 1:
            raise fail(f"a parameter is missing or wrong: duplicate {parameter}")
        if parameter not in measure.params:
            raise fail(f"{parameter} is None; expected {RANGES[parameter].words}")
    if measure.NAME == "RBP" and "rel" not in measure.params:
        raise fail("state the lowest grade of a relevant document, such as RBP(rel=1)")
    for parameter, definition in measure.SUPPORTED_PARAMS.items():
        if parameter not in measure.params:
            if definition.required or (parameter == "cutoff" and measure.NAME in _CUT_BY_SUBTOPIC):
                raise fail(f"a parameter is missing or wrong: it needs {parameter}, {SEE}")
            continue
        value, range_ = measure.params[parameter], RANGES[parameter]
        range_ = _NARROWER.get((measure.NAME, parameter), range_)
        if not range_.holds(value):
            raise fail(f"{parameter} is {value!r}; expected {range_.words}")
    if measure.NAME in OF_CWL and measure["min_rel"] >= measure["max_rel"]:
        raise fail(f"min_rel is {measure['min_rel']}; expected less than max_rel, {measure['max_rel']}")


def same_measure(name: str, listed: Iterable[str]) -> str | None:
    """The listed name of the same measure: `name` itself or its first synonym; None if not listed."""
    listed = list(listed)
    if name in listed:
        return name
    try:
        measure = parse(name)
    except UserError:
        return None
    for candidate in listed:
        try:
            if parse(candidate) == measure:
                return candidate
        except UserError:
            continue  # the measure of external scores may have any name
    return None


def canonical(name: str) -> str | None:
    """One name for all names of a measure, also of trec_eval; None if ir-measures computes none of this name."""
    try:
        return str(parse(of_trec_eval(name) or name))
    except UserError:
        return None


def follows_instructions(name: str) -> bool:
    """Whether a measure compares the rankings of queries before and after a change of their instructions."""
    return bool(parse(name) == PMRR)


def by_subtopic(name: str) -> bool:
    """Whether a measure needs judgements by subtopic."""
    return parse(name).NAME in BY_SUBTOPIC


def cutoff(measure: ir_measures.Measure) -> int | None:
    """The cut-off of a measure; None if it has none."""
    return measure.params.get("cutoff")
