"""A user's file of judgements: TREC's four columns (qid 0 docid grade), or BEIR's three with tabs, possibly a heading.

The number of columns, the same on all lines, decides which of the two it is. Two columns below a heading (NanoBEIR) are
relevant pairs, without grades. Lines that begin with # are comments.

A format of judgements only has one file, for test, or one per split under a key of their name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.wording import integer
from ranktrial.datasets.formats import Collection, Format, Mistake, file_in, outside, same_file_twice
from ranktrial.ir.trec import NO_SUBTOPIC, Qrels, Subtopics, add_judgement, columns

JUDGEMENTS = "one file of judgements per split (TREC's four columns, or BEIR's three)"  # of a key
BY_SUBTOPIC = "TREC's diversity judgements: the second column of the qrels files is a subtopic of the query"  # of a key
OF_SUBTOPICS = "with subtopics: true a file of judgements has 4 (qid subtopic docid grade) and several subtopics"
HEADINGS = ("query-id", "query_id", "qid")
EXPECTED = "a file of judgements has TREC's 4 (qid 0 docid grade), or 3 with tabs (query-id, corpus-id, score)"
PAIRS = "1"  # the grade of a pair without one
COMMENT = "#"


def read_judgements(path: Path) -> Qrels:
    """Query id -> document id -> grade.

    Raises UserError, with the line, for a wrong number of columns, a grade that is not an integer, and conflicting
    grades of a document.
    """
    qrels: Qrels = {}
    subtopics: set[str] = set()
    for where, fields in _rows(path):
        subtopics.update(fields[1:2] if len(fields) == 4 else ())
        try:
            add_judgement(qrels, fields[0], fields[-2], fields[-1], where)
        except UserError as error:
            several = sorted(subtopics - {NO_SUBTOPIC})
            hint = f"; the second column has {', '.join(several[:2])} …: are these subtopics (subtopics: true)?"
            raise UserError(f"{error}{hint if len(several) > 1 else ''}") from None
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


def is_comment(line: str) -> bool:
    """Whether a line of judgements is a comment: it begins with # and is not itself a judgement."""
    return line.startswith(COMMENT) and not _is_judgement(line.split())


def _is_judgement(fields: list[str]) -> bool:
    return len(fields) in (3, 4) and fields[0] != COMMENT and integer(fields[-1]) is not None


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The fields of each line, and its place."""
    width = heading = 0
    for number, line in lines(path):
        where = f"{path}:{number}"
        if line.startswith(COMMENT):
            if not is_comment(line):
                problem = "begins with # and has the columns of a judgement: write a comment as `# text`"
                raise UserError(f"{where}: {problem}, and ids without #")
            continue
        by_tabs = [field.strip() for field in line.split("\t")]
        if not width and not heading and by_tabs[0] in HEADINGS:
            heading = len(by_tabs)
            continue
        pair = len(by_tabs) == 2 == heading
        fields = by_tabs if len(by_tabs) == 3 or pair else columns(line, path, number)
        width = width or len(fields)
        if len(fields) != width or (width != 4 and len(by_tabs) != 3 and not pair):
            several = f"the lines above have {width}" if width in (2, 3, 4) and len(fields) != width else EXPECTED
            raise UserError(f"{where}: {len(fields)} columns, but {several}")
        yield where, [*fields, PAIRS] if pair else fields


def judgements_only(name: str, location: str) -> Format:
    """The format of that name."""

    def mistake(entry: Any) -> Mistake | None:
        """A file that is not below the location, or that two splits name."""
        files = getattr(entry, name) or {}
        return outside(name, files) or same_file_twice(name, files)

    return Format(
        location=location,
        splits=lambda entry: set(getattr(entry, name) or {"test": ""}),
        judgements=name,
        mistake=mistake,
        has_documents=False,
        one_file=True,
    )


def read_splits(root: Path, name: str, stated: dict[str, str] | None, read: Callable[[Path], Qrels]) -> Collection:
    """The judgements of the one file, or of those that are `stated`. Raises UserError for a file without any."""
    files = {"test": root}
    if stated is not None:
        files = {split: file_in(root, file, f"{name}.{split}") for split, file in stated.items()}
    qrels: dict[str, Qrels] = {}
    for split, path in files.items():
        if path.is_dir():
            raise UserError(f"{path} is a folder: name its files under {name}, such as {name}: {{test: {name}.txt}}")
        qrels[split] = read(path)
        if not qrels[split]:
            raise UserError(f"{path}: no judged query")
    return Collection(None, {}, qrels)
