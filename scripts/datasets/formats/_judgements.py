"""A user's file of judgements: TREC's four columns (qid 0 docid grade), or BEIR's three with tabs, possibly a heading.

The number of columns, the same on all lines, decides which of the two it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.ir.trec import Qrels, Subtopics, add_judgement, columns

JUDGEMENTS = "one file of judgements per split (TREC's four columns, or BEIR's three)"  # of a key
BY_SUBTOPIC = "TREC's diversity judgements: the second column of the qrels files is a subtopic of the query"  # of a key
OF_SUBTOPICS = "with subtopics: true a file of judgements has 4 (qid subtopic docid grade) and several subtopics"
HEADINGS = ("query-id", "query_id", "qid")
EXPECTED = "a file of judgements has TREC's 4 (qid 0 docid grade), or 3 with tabs (query-id, corpus-id, score)"


def read_judgements(path: Path) -> Qrels:
    """Query id -> document id -> grade.

    Raises UserError, with the line, for a wrong number of columns, a grade that is not an integer, and conflicting
    grades of a document.
    """
    qrels: Qrels = {}
    for where, fields in _rows(path):
        add_judgement(qrels, fields[0], fields[-2], fields[-1], where)
    return qrels


def read_by_subtopic(path: Path) -> Subtopics:
    """Subtopic -> query id -> document id -> grade; UserError as above, and for a file without subtopics."""
    subtopics: Subtopics = {}
    for where, fields in _rows(path):
        if len(fields) != 4:
            raise UserError(f"{where}: 3 columns, but {OF_SUBTOPICS}")
        add_judgement(subtopics.setdefault(fields[1], {}), fields[0], fields[2], fields[3], where)
    if len(subtopics) == 1:
        raise UserError(f"{path}: all judgements are of the subtopic {next(iter(subtopics))}, but {OF_SUBTOPICS}")
    return subtopics


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The fields of each line, and its place."""
    width = 0
    for number, line in lines(path):
        where = f"{path}:{number}"
        by_tabs = [field.strip() for field in line.split("\t")]
        if number == 1 and by_tabs[0] in HEADINGS:
            continue
        fields = by_tabs if len(by_tabs) == 3 else columns(line, path, number)
        width = width or len(fields)
        if len(fields) != width or (width != 4 and len(by_tabs) != 3):
            several = f"the lines above have {width}" if width in (3, 4) and len(fields) != width else EXPECTED
            raise UserError(f"{where}: {len(fields)} columns, but {several}")
        yield where, fields
