"""LETOR's format, SVMlight's with queries: `grade qid:QUERY 1:value 2:value … # docid = DOCUMENT`.

Features are numbered from 1, ascending; a feature that a line omits is 0. The lines of a query are adjacent. A comment
line may name the features (`# features: 1 BM25, 2 DPH`). The comment at the end of a line may contain `docid = …`
(LETOR 3 and 4) and `query = …`, the id if qid is a number instead of it, as RankLib and SVMrank require; without a
docid, a line is named after its query and its position there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text, lines
from ranktrial.common.wording import finite, integer
from ranktrial.ir.trec import HIGHEST_GRADE, shown, why_no_id

NAMES = "# features: "
MOST_FEATURES = 100_000  # a row in memory has all features
_DOCUMENT = re.compile(r"(?:^|\s)docid\s*=\s*(\S+)")
_QUERY = re.compile(r"(?:^|\s)query\s*=\s*(\S+)")


@dataclass(frozen=True)
class Row:
    """A line: the features that it states, by their numbers from 1."""

    query: str
    document: str
    grade: int
    values: dict[int, float]


def read_letor(path: Path) -> Iterator[Row]:
    """Yield the lines of a LETOR file. Raises UserError, with the line, for one that is wrong or out of order."""
    done: set[str] = set()  # queries whose lines have ended
    current: str | None = None
    documents: set[str] = set()
    for number, line in lines(path):
        body, _, comment = line.partition("#")
        if not body.strip():
            continue
        where = f"{path}:{number}"
        grade, qid, values = _fields(body.split(), where)
        if qid != current:
            if qid in done:
                raise UserError(f"{where}: query {shown(qid)} comes again after another; its lines must be adjacent")
            done |= {current} if current is not None else set()
            current, documents = qid, set()
        document = _named(_DOCUMENT, comment) or f"{qid}-{len(documents) + 1}"
        query = _named(_QUERY, comment) or qid
        for what, name in (("query", query), ("document", document)):
            if reason := why_no_id(name):
                raise UserError(f"{where}: the {what} id {shown(name)} {reason}")
        if document in documents:
            raise UserError(f"{where}: document {shown(document)} occurs twice for query {shown(qid)}")
        documents.add(document)
        yield Row(query, document, grade, values)


def feature_names(path: Path) -> list[str]:
    """The names of all features up to the highest number in the file: its own, or `feature-1` and so on.

    Raises UserError if there are no lines, no features, or names that do not match them.
    """
    highest, named = 0, ""
    for number, line in lines(path):
        if line.startswith(NAMES):
            named = line.removeprefix(NAMES)
        fields = line.partition("#")[0].split()
        last = fields[-1].partition(":")[0] if len(fields) > 2 else "0"
        highest = max(highest, _number(last, f"{path}:{number}") if last != "0" else 0)
    if not highest:
        raise UserError(f"{path}: no line with a feature; expected lines such as `1 qid:7 1:0.5 2:3`")
    if not named:
        return [f"feature-{place}" for place in range(1, highest + 1)]
    entries = [entry.partition(" ") for entry in named.split(", ")]
    names = [name.strip() for _, _, name in entries]
    if [place for place, _, _ in entries] != [str(place) for place in range(1, len(names) + 1)] or not all(names):
        raise UserError(f"{path}: expected names such as `{NAMES}1 BM25, 2 DPH`, not {shown(named)}")
    if highest > len(names) or len(set(names)) < len(names):
        raise UserError(f"{path}: names {len(set(names))} features, but its lines have {highest}")
    return names


def _fields(fields: list[str], where: str) -> tuple[int, str, dict[int, float]]:
    """Grade, qid and features of a line. Raises UserError, beginning with `where`."""
    grade = integer(fields[0])
    if grade is None or not 0 <= grade <= HIGHEST_GRADE:
        raise UserError(f"{where}: grade {shown(fields[0])} is not a whole number from 0 to {HIGHEST_GRADE:,}")
    prefix, _, qid = fields[1].partition(":") if len(fields) > 1 else ("", "", "")
    if prefix != "qid" or not qid:
        raise UserError(f"{where}: the second column is not qid:QUERY")
    values: dict[int, float] = {}
    last = 0
    for field in fields[2:]:
        place, colon, text = field.partition(":")
        number, value = _number(place, where), finite(text)
        if not colon or value is None:
            raise UserError(f"{where}: feature {shown(field)} is not a finite number behind its place and a colon")
        if number <= last:
            raise UserError(f"{where}: feature {number} comes after feature {last}; expected ascending numbers")
        values[number] = value
        last = number
    return grade, qid, values


def _number(text: str, where: str) -> int:
    number = integer(text)
    if number is None or not 1 <= number <= MOST_FEATURES:
        raise UserError(f"{where}: {shown(text)} is not the number of a feature, from 1 to {MOST_FEATURES:,}")
    return number


def _named(pattern: re.Pattern[str], comment: str) -> str | None:
    found = pattern.search(comment)
    return found[1] if found else None


def write_letor(path: Path, names: list[str], rows: Iterable[tuple[str, str, int | None, np.ndarray]]) -> None:
    """Write (query, document, grade, features) atomically; the queries are numbered from 1 in their order.

    Unjudged documents and grades below 0 are written as grade 0, since the format has no other way.
    """
    with atomic_text(path) as file:
        file.write(NAMES + ", ".join(f"{place} {name}" for place, name in enumerate(names, 1)) + "\n")
        qid, current = 0, None
        for query, document, grade, values in rows:
            if query != current:
                qid, current = qid + 1, query
            features = " ".join(f"{place}:{value!r}" for place, value in enumerate(values.tolist(), 1))
            file.write(f"{max(grade or 0, 0)} qid:{qid} {features} # query = {query} docid = {document}\n")
