"""Names of measures: the measure of ir-measures with a name, the check of its parameters, and its synonyms.

Parameters are checked here, before any provider sees them: trec_eval ends the whole process at a cut-off of 0, and
other providers silently compute something else (a recall of 0.125 becomes 0.12).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import ir_measures

from ranktrial.common.errors import UserError
from ranktrial.common.near_names import closest
from ranktrial.ir.instruction_following import PMRR
from ranktrial.ir.trec_eval_names import of_trec_eval

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
