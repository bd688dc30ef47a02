"""TREC's two file formats: runs (`qid Q0 docid rank score tag`) and qrels (`qid 0 docid grade`), also by subtopic
(`qid subtopic docid grade`).

Runs with the four columns that some tools write are read too, `qid docid rank score`, and MS MARCO's three, `qid docid
rank`. As in trec_eval, only ASCII white space separates columns; other spaces (U+00A0) belong to an id. Control
characters are refused.

Reads runs in the most common form, a block of lines at a time, in less than half the time.

Such a run has six columns of printable ASCII separated by one space, integers as ranks, decimal scores within 32 bits,
and each document once per query. Any other run is read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from ranktrial.common.errors import UserError, alike
from ranktrial.common.files import atomic_text, lines
from ranktrial.common.reading import DAMAGE, open_bytes
from ranktrial.common.wording import finite, integer

BLOCK = 1 << 20  # bytes read at a time
LONGEST_LINE = 1 << 16  # bytes; longer ones are read line by line
LARGEST_SCORE = float(np.finfo(np.float32).max)  # trec_eval stores scores as 32-bit floats
_PLAIN = bytes(range(ord("!"), ord("~") + 1)) + b" \n"
_EMPTY = (b"  ", b"\n ", b" \n", b"\n\n")  # an empty column or line
_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")


def read_plain_run(path: Path) -> dict[str, dict[str, float]] | None:
    """Query id -> document id -> score; None for a file that does not have this form."""
    run: dict[str, dict[str, float]] = {}
    try:
        for block in _blocks(path):
            padded = b"\n" + block
            if block.translate(None, _PLAIN) or any(gap in padded for gap in _EMPTY) or not _add(block, run):
                return None
    except (*DAMAGE, ValueError, ImportError):  # of pyarrow, or where it is not installed
        return None
    return run


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines. Raises ValueError if a line is too long."""
    with open_bytes(path) as file:
        while block := file.read(BLOCK):
            block += file.readline(LONGEST_LINE)
            if not block.endswith(b"\n"):
                if file.read(1):
                    raise ValueError(f"a line of more than {LONGEST_LINE} bytes")
                block += b"\n"
            yield block


def _add(block: bytes, run: dict[str, dict[str, float]]) -> bool:
    """Add the lines of a block to the run; False for lines of another form, or ValueError from pyarrow."""
    import pyarrow as arrow  # importing takes longer than reading a small run
    from pyarrow import csv

    text = arrow.dictionary(arrow.int32(), arrow.string())  # a repeated text becomes one Python string
    table = csv.read_csv(
        arrow.BufferReader(block),
        csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=_COLUMNS),
        csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
        csv.ConvertOptions(
            include_columns=["query", "document", "rank", "score"],
            column_types=dict.fromkeys(_COLUMNS, text) | {"score": arrow.float64()},
            null_values=[],
        ),
    )
    queries, documents, ranks = (table[name].combine_chunks() for name in ("query", "document", "rank"))
    scores = table["score"].to_numpy()
    if not "".join(ranks.dictionary.to_pylist()).isdecimal() or not np.abs(scores).max() <= LARGEST_SCORE:
        return False  # also if one is not a number
    names = np.array(documents.dictionary.to_pylist(), dtype=object)[documents.indices.to_numpy()].tolist()
    numbers, query = scores.tolist(), queries.indices.to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(query)) + 1).tolist(), len(query)]
    for start, end in pairwise(bounds):
        found = run.setdefault(queries.dictionary[query[start]].as_py(), {})
        before = len(found)
        found.update(zip(names[start:end], numbers[start:end], strict=True))
        if len(found) != before + end - start:
            return False
    return True


Run = dict[str, dict[str, float]]  # query id -> document id -> score
Qrels = dict[str, dict[str, int]]  # query id -> document id -> grade
Subtopics = dict[str, Qrels]  # subtopic -> its judgements

NO_SUBTOPIC = "0"  # in the second column of qrels without subtopics

HIGHEST_GRADE = 1_000_000  # trec_eval counts grades in a table of this size; beyond 31 bits its values are wrong
LAST_RANK = 1_000_000  # of a run without scores; the reciprocals of adjacent ranks still differ in 32 bits
_RUN_COLUMNS = {6: (0, 2, 3, 4), 4: (0, 1, 2, 3), 3: (0, 1, 2)}  # columns of query, document, rank and score
_THREE = "a run of three columns is qid docid rank, one with scores has 4 or 6"
LONGEST_ID = 4000  # characters; Lucene takes 32,766 bytes
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_NO_FRACTION = re.compile(r"\.0*$")
_WHITE = re.compile(r"[ \t-\r]")


def ranking(scores: dict[str, float]) -> list[str]:
    """Document ids in trec_eval's order: score descending as a 32-bit float, ties by document id descending (bytes).

    Raises UserError for a score that is not finite or beyond 32 bits, because it has no place in the order.
    """
    documents, held = list(scores), held_scores(scores)
    if (held[1:] < held[:-1]).all():  # the order of most files
        return documents
    of_document = dict(zip(documents, held.tolist(), strict=True))
    return sorted(documents, key=lambda document: (of_document[document], document.encode()), reverse=True)


def with_ascending_ties(run: Run) -> Run:
    """A run in which documents of equal score are in ascending order of their ids (bytes), unlike in trec_eval.

    The scores become integers that decrease from rank to rank, so that there are no ties.
    """
    return {query: _falling(scores) for query, scores in run.items()}


def _falling(scores: dict[str, float]) -> dict[str, float]:
    held = dict(zip(scores, held_scores(scores).tolist(), strict=True))
    order = sorted(held, key=lambda document: (-held[document], document.encode()))
    return {document: float(len(order) - rank) for rank, document in enumerate(order)}


def held_scores(scores: dict[str, float]) -> np.ndarray:
    """The scores as trec_eval stores them (shape: documents, float32); raises UserError for one beyond 32 bits."""
    given = np.fromiter(scores.values(), np.float64, len(scores))
    if len(given) and not np.abs(given).max() <= LARGEST_SCORE:  # also refuses NaN
        document = next(name for name, score in scores.items() if not abs(score) <= LARGEST_SCORE)
        raise UserError(f"the score of document {document} is {scores[document]}, not a finite number of 32 bits")
    return given.astype(np.float32)


def top(scores: dict[str, float], depth: int) -> dict[str, float]:
    """The first `depth` documents in trec_eval's order, with their scores."""
    return {document: scores[document] for document in ranking(scores)[:depth]}


def read_run(path: Path) -> Run:
    """Read a run file of six, four or three columns, plain, gzip or zstd.

    Returns query id -> document id -> score. As in trec_eval, the rank is ignored, but it must be a number: a word
    there means that an id contains a space. With three columns, the last is the rank, and the score is its reciprocal,
    as in Anserini's converter. Raises UserError, with the line, for a missing column, a score that is not a finite
    number of 32 bits, a duplicate document of a query, and ranks that may be scores.
    """
    if (plain := read_plain_run(path)) is not None:
        return plain
    run: Run = {}
    width = 0
    for number, line in lines(path):
        fields = columns(line, path, number)
        if len(fields) not in _RUN_COLUMNS:
            expected = "6: qid Q0 docid rank score tag, 4: qid docid rank score, or 3: qid docid rank"
            raise UserError(f"{path}:{number}: {len(fields)} columns, but a run has {expected}")
        width = width or len(fields)
        if len(fields) != width:
            raise UserError(f"{path}:{number}: {len(fields)} columns, but the lines above have {width}")
        query, document, rank, *score = run_columns(fields)
        value = _score(score[0], f"{path}:{number}") if score else _of_rank(rank, f"{path}:{number}")
        if not rank.isdecimal() and finite(rank) is None:
            raise UserError(f"{path}:{number}: rank {shown(rank)} is not a number: does an id hold a space?")
        documents = run.setdefault(query, {})
        if document in documents:
            raise UserError(f"{path}:{number}: duplicate document {document} for query {query}")
        documents[document] = value
    if width == 3:
        _check_ranks(run, path)
    return run


def run_columns(fields: list[str]) -> Iterator[str]:
    """Query, document, rank and, unless there are three columns, score of a line of a run."""
    return (fields[place] for place in _RUN_COLUMNS[len(fields)])


def _score(text: str, where: str) -> float:
    score = finite(text)
    if score is None or abs(score) > LARGEST_SCORE:
        raise UserError(f"{where}: score {shown(text)} {_why_no_score(text)}")
    return score


def _of_rank(rank: str, where: str) -> float:
    """The score of a rank from 1; smaller ranks have higher scores, distinct in 32 bits up to LAST_RANK."""
    number = integer(rank)
    if number is None or not 1 <= number <= LAST_RANK:
        raise UserError(f"{where}: {shown(rank)} is not a rank from 1; {_THREE}")
    return 1 / number


def _check_ranks(run: Run, path: Path) -> None:
    """Raise UserError if the third column may not be a rank: two documents have the same, the first is not 1, or it
    decreases from line to line in every query, as scores do."""
    falling = 0
    for query, scores in run.items():
        values = list(scores.values())
        if max(values) != 1 or len(set(values)) < len(values):
            raise UserError(f"{path}: the ranks of query {query} do not begin at 1, or two are the same; {_THREE}")
        falling += len(values) > 1 and values == sorted(values)
    if falling and falling == sum(len(scores) > 1 for scores in run.values()):
        raise UserError(f"{path}: the last column falls from line to line in every query, as scores do; {_THREE}")


def columns(line: str, path: Path, number: int) -> list[str]:
    """The fields of a line of a run or of qrels. Raises UserError, with file and line, for control characters."""
    plain = line.isascii() and line.isprintable()
    if not plain and (control := _CONTROL.search(line)):
        raise UserError(f"{path}:{number}: a control character, {control[0]!r}, at character {control.start() + 1}")
    return line.split() if plain or line.isascii() else [field.decode() for field in line.encode().split()]


def why_no_id(name: str) -> str | None:
    """Why a text cannot be the id of a query or document in a run or in qrels; None if it can."""
    if _WHITE.search(name):
        return "contains white space, which run files cannot contain"
    if _CONTROL.search(name):
        return "contains a control character"
    return f"has more than {LONGEST_ID:,} characters" if len(name) > LONGEST_ID else None


def shown(text: str) -> str:
    """A field as quoted in messages: at most 40 characters."""
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def _why_no_score(text: str) -> str:
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        return "is not finite"
    try:
        beyond = abs(float(text)) > LARGEST_SCORE and text.isascii() and "_" not in text
    except ValueError:
        beyond = False
    return "is beyond 32 bits, in which trec_eval holds scores" if beyond else "is not a number"


def write_run(path: Path, run: Run, tag: str, queries: Iterable[str] | None = None) -> None:
    """Write a run atomically: documents in trec_eval's order, queries in the order given (or the run's own)."""
    with atomic_text(path) as file:
        for query in run if queries is None else queries:
            scores = run.get(query, {})
            places = enumerate(ranking(scores), 1)
            # Written and compressed query by query: line by line took a seventh longer.
            file.write(
                "".join([f"{query} Q0 {document} {rank} {scores[document]:.9g} {tag}\n" for rank, document in places])
            )


def read_qrels(path: Path) -> Qrels:
    """Read TREC qrels: query id -> document id -> grade, the highest one if there are several subtopics.

    Raises UserError as `read_subtopics` does.
    """
    return over_subtopics(read_subtopics(path))


def read_subtopics(path: Path) -> Subtopics:
    """Read TREC qrels by subtopic, their second column, which is 0 if there are none.

    Raises UserError, with the line, for a wrong number of columns, a grade that is not an integer, and conflicting
    grades of a document.
    """
    subtopics: Subtopics = {}
    for number, line in lines(path):
        fields = columns(line, path, number)
        if len(fields) != 4:
            raise UserError(f"{path}:{number}: {len(fields)} columns, but qrels have 4: qid 0 docid grade")
        add_judgement(subtopics.setdefault(fields[1], {}), fields[0], fields[2], fields[3], f"{path}:{number}")
    return subtopics


def over_subtopics(subtopics: Subtopics) -> Qrels:
    """The judgements of documents: the highest grade that each has for any subtopic of a query."""
    first, *others = subtopics.values() or [{}]
    if not others:
        return first
    qrels = {query: dict(grades) for query, grades in first.items()}
    for judgements in others:
        for query, grades in judgements.items():
            of_query = qrels.setdefault(query, {})
            of_query |= {one: max(grade, of_query.get(one, grade)) for one, grade in grades.items()}
    return qrels


def add_judgement(qrels: Qrels, query: str, document: str, grade: str, where: str) -> None:
    """Add one judgement.

    A grade may be written as 1.0, as tools do that store grades as floats. Raises UserError, beginning with `where`,
    for an id that qrels cannot contain, and for a grade that is not an integer, is higher than trec_eval can count, or
    contradicts an earlier one.
    """
    if query not in qrels:
        _check_id("query", query, where)
    _check_id("document", document, where)
    value = _grade(grade)
    if value is None or abs(value) > HIGHEST_GRADE:
        digits = grade.isascii() and grade.lstrip("+-").isdigit()
        why = f"is beyond {HIGHEST_GRADE:,}, the highest that can be counted" if digits else "is not an integer"
        raise UserError(f"{where}: grade {shown(grade)} {why}")
    if qrels.setdefault(query, {}).setdefault(document, value) != value:
        raise UserError(
            f"{where}: document {document} is judged {value} for query {query}, earlier {qrels[query][document]}"
        )


def _check_id(what: str, name: str, where: str) -> None:
    if not name or (reason := why_no_id(name)):
        raise UserError(f"{where}: the {what} id {shown(name)} {reason if name else 'is empty'}")


@lru_cache(1024)  # a file has few grades
def _grade(text: str) -> int | None:
    return integer(_NO_FRACTION.sub("", text))


def write_qrels(path: Path, qrels: Qrels, subtopics: Subtopics | None = None) -> None:
    """Write TREC qrels atomically, in the order given; with `subtopics`, one line per subtopic of these documents."""
    parts = subtopics or {NO_SUBTOPIC: qrels}
    with atomic_text(path) as file:
        for query, documents in qrels.items():
            for document in documents:
                for subtopic, judgements in parts.items():
                    if (grade := judgements.get(query, {}).get(document)) is not None:
                        file.write(f"{query} {subtopic} {document} {grade}\n")


def relevant(qrels: Qrels, query: str) -> set[str]:
    """The documents judged relevant (grade 1 or more) for a query."""
    return {document for document, grade in qrels.get(query, {}).items() if grade > 0}


def judged(grades: Mapping[str, int], document: str) -> bool:
    """Whether a document was judged: a grade below 0 means that it was not."""
    return grades.get(document, -1) >= 0


def condensed(run: Run, qrels: Qrels) -> Run:
    """A run without its unjudged documents (Sakai 2007, Alternatives to Bpref, SIGIR)."""
    return {
        query: {document: score for document, score in run[query].items() if judged(grades, document)}
        for query, grades in qrels.items()
        if query in run
    }


def none_judged(ranked: Run, qrels: Qrels) -> str | None:
    """The message about a run without any judged document, which scores 0; None if it has one."""
    judged = {query: grades for query, grades in qrels.items() if grades}
    if any(not scores.keys().isdisjoint(judged.get(query, {})) for query, scores in ranked.items()):
        return None
    of_run = next((document for scores in ranked.values() for document in scores), "none")
    of_judgements = next((document for grades in judged.values() for document in grades), "none")
    near = alike(of_run, (document for grades in judged.values() for document in grades))
    return (
        f"warning: none of its documents, such as {of_run}, is judged, so it scores 0 everywhere; the judgements "
        f"name documents such as {of_judgements}{f' ({near})' if near else ''}"
    )
