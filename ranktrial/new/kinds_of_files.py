"""The content of a file, by its first lines: documents, topics, judgements, a run or scores; writes nothing.

Files are read in the same way as by the dataset formats, so the accepted forms are those of docs/datasets.md. Of a
table of values, the first rows tell the roles of its columns, and those that hold numbers.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.reading import DAMAGE, UTF_8, damaged, open_bytes
from ranktrial.common.strict_json import plain_json
from ranktrial.common.wording import finite, integer
from ranktrial.datasets.formats._judgements import HEADINGS
from ranktrial.datasets.formats._trec_documents import ID_KEYS, TEXT_KEYS
from ranktrial.datasets.formats._trec_topics import JSON_IDS, JSON_TEXTS
from ranktrial.ir.outside_table import (
    COMMENT,
    PARQUET,
    VALUES,
    Roles,
    is_heading,
    read_table,
    roles,
    roles_without_heading,
    table_of_lines,
)
from ranktrial.new.folder import Folder, Name, as_name

ROWS = 50
METRICS = "metrics"  # the names of the measures in each line of lm-evaluation-harness's samples


NAMED = (".csv", ".tsv", ".txt", "")  # endings of files that are meant to be tables


class Start(NamedTuple):
    """The roles of the columns, and the names of those with numbers; `metrics` if the table itself lists these."""

    roles: Roles
    values: list[str]
    metrics: bool = False

    @property
    def is_long(self) -> bool:
        """Whether rows name systems, tasks, measures or seeds."""
        places = (self.roles.system, self.roles.measure, self.roles.seed)
        by_task = self.roles.task is not None and not self.roles.of_tasks
        return by_task or any(place is not None for place in places)

    @property
    def measures(self) -> list[str]:
        """The columns of values that are named after measures, unlike `value`."""
        return [name for name in self.values if name.lower() not in VALUES]


def start_of_table(path: Path, lines: Sequence[tuple[int, str]], parquet: bool) -> Start | None:
    """The start of a table with a heading, or of three columns that name measures; None for any other file.

    Raises UserError, with the row, for one with another number of columns than the heading.
    """
    try:
        table = read_table(path, is_heading) if parquet else table_of_lines(lines, path, is_heading)
        rows = [row for _, row in islice(table.rows, ROWS)]
    except UserError:
        if parquet or lines[0][1].lstrip().startswith("{") or path.suffix.lower() not in NAMED:
            return None  # other data, not even JSON, or a file that nobody called a table
        raise
    if table.heading is None:
        of_three = roles_without_heading(rows) if rows and all(len(row) == 3 for row in rows) else None
        return Start(of_three, ["value"]) if of_three else None
    found = roles(table.heading)
    if found.id is None or not rows:
        return None
    if listed := _metrics(lines):
        return Start(found, [name for name in listed if name in table.heading], True)
    numbers = [
        place for place in found.values if 2 * sum(table.number(row[place]) is not None for row in rows) >= len(rows)
    ]
    return Start(found, [table.heading[place] for place in numbers])


def _metrics(lines: Sequence[tuple[int, str]]) -> list[str]:
    try:
        record = plain_json(lines[0][1]) if lines and lines[0][1].startswith("{") else {}
    except ValueError:
        return []
    listed = record.get(METRICS) if isinstance(record, dict) else None
    return [str(name) for name in listed] if isinstance(listed, list) else []


HEAD = 1 << 16  # bytes
LINES = 50
DOCUMENTS = ("corpus-id", "corpus_id", "docid", "doc_id", "pid")
Kind = Literal["documents", "topics", "qrels", "run", "scores"]
_TOPICS_NAME = re.compile(r"topic|quer", re.IGNORECASE)
_TOPIC_MARKUP = re.compile(r"<top(ic)?[\s>]", re.IGNORECASE)
_DOCUMENT_MARKUP = re.compile(r"<DOC>", re.IGNORECASE)
_COLON = re.compile(r"\s*[^\s:]+:\s*\S")


@dataclass(frozen=True)
class Head:
    """The first non-blank lines of a file, their encoding, and the number of the first one."""

    path: Path
    lines: tuple[str, ...]
    encoding: str = UTF_8
    number: int = 1
    is_parquet: bool = False

    @cached_property
    def table(self) -> Start | None:
        """The start of the file as a table; None without a heading or three columns of one system."""
        return start_of_table(self.path, list(enumerate(self.lines, self.number)), self.is_parquet)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def by_tabs(self) -> list[list[str]]:
        return [[field.strip() for field in line.split("\t")] for line in self.lines]


def read_head(path: Path) -> Head:
    """Return the head of a file, without lines if it is not text. Raises UserError for a damaged compressed file."""
    try:
        with open_bytes(path) as file:
            start = file.read(HEAD)
    except DAMAGE as error:
        raise damaged(path, error) from None
    encoding = UTF_8
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start, final=len(start) < HEAD)
    except UnicodeDecodeError:
        text, encoding = start.decode("latin-1"), "latin-1"
    if "\0" in text or start.startswith(PARQUET):
        return Head(path, (), is_parquet=start.startswith(PARQUET))
    lines = text.split("\n")
    whole = lines[:-1] if len(start) == HEAD and len(lines) > 1 else lines
    number = next((number for number, line in enumerate(whole, 1) if line.strip()), 1)
    return Head(path, tuple(line.rstrip("\r") for line in whole if line.strip())[:LINES], encoding, number)


def kind_of(head: Head) -> Kind | None:
    """Return the content type of a file with this head; None if it has none of the known forms."""
    if head.is_parquet:
        return _kind_of_values(head)
    if head.lines and head.lines[0].startswith(COMMENT):
        head = replace(head, lines=tuple(line for line in head.lines if not line.startswith(COMMENT)))
    first = head.lines[0].lstrip() if head.lines else ""
    if not first:
        return None
    if first.startswith("{"):
        is_scores = head.table is not None and bool(head.table.values)
        long = is_scores and head.table is not None and (head.table.is_long or head.table.metrics)
        return "scores" if long else _kind_of_json(head) or ("scores" if is_scores else None)
    if first.startswith("<"):
        return _kind_of_markup(head)
    return _kind_of_ranked(head) or _kind_of_values(head) or _kind_of_texts(head)


def _kind_of_markup(head: Head) -> Kind | None:
    text = "\n".join(head.lines)
    if _TOPIC_MARKUP.search(text):
        return "topics"
    return "documents" if _DOCUMENT_MARKUP.search(text) else None


def _kind_of_json(head: Head) -> Kind | None:
    try:
        record = plain_json(head.lines[0])
    except ValueError:  # a line longer than the head is a document
        return "documents" if len(head.lines) == 1 else None
    if {"query", "question"} & set(record) or not set(ID_KEYS) & set(record):
        return "topics" if set(JSON_IDS) & set(record) and set(JSON_TEXTS) & set(record) else None
    if not {*TEXT_KEYS, "title", "headings"} & set(record):
        return None
    return "topics" if _TOPICS_NAME.search(head.name) else "documents"


def _kind_of_ranked(head: Head) -> Kind | None:
    """Recognise a run or judgements by their columns."""
    tabs = head.by_tabs
    if tabs[0][0] in HEADINGS and len(tabs[0]) == 2 and tabs[0][1] in DOCUMENTS:
        return "qrels" if all(len(row) == 2 for row in tabs) else None
    if tabs[0][0] in HEADINGS and len(tabs[0]) == 3 and not finite(tabs[0][2]):
        is_grade = finite if tabs[0][1] in DOCUMENTS else integer
        whole = all(len(row) == 3 and is_grade(row[2].removesuffix(".0")) is not None for row in tabs[1:])
        return "qrels" if whole else None
    rows = [line.split() for line in head.lines]
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        return None
    last = [row[-1].removesuffix(".0") for row in rows]
    if width == 6 and all(integer(row[3]) is not None and finite(row[4]) is not None for row in rows):
        return "run"
    is_grade = finite if len(rows) > 1 else integer  # whose reader names the line of a fraction
    if width == 4 and len({row[1] for row in rows}) == 1 and all(is_grade(grade) is not None for grade in last):
        return "qrels"
    if width == 4 and all(integer(row[2]) is not None and finite(row[3]) is not None for row in rows):
        return "run"
    if width == 3 and all(integer(one) is not None for one in last):
        if _are_ranks(rows):
            return "run"
        return "qrels" if all(len(row) == 3 for row in tabs) else None
    return None


def _are_ranks(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the last of three columns contains the ranks of the first query's documents, from 1."""
    ranks = [row[2] for row in rows if row[0] == rows[0][0]]
    return len(ranks) > 1 and ranks == [str(rank) for rank in range(1, len(ranks) + 1)]


def value_names(head: Head) -> list[str]:
    """Return the headings of a file's columns of values; empty without a heading."""
    return head.table.values if head.table else []


def _kind_of_values(head: Head) -> Kind | None:
    """Recognise scores, in a table or in lines of a value, or of an id and a value."""
    if head.table:
        return "scores" if head.table.values else None
    tabs = any("\t" in line for line in head.lines[:1])
    rows = head.by_tabs if tabs else [[line.strip()] for line in head.lines]
    numbers = [finite(row[-1].strip()) is not None for row in rows]
    return "scores" if rows and all(numbers) and {len(row) for row in rows} <= {1, 2} else None


def _kind_of_texts(head: Head) -> Kind | None:
    """Recognise documents or topics in columns; with two columns, the file name decides between them."""
    widths = {len(row) for row in head.by_tabs}
    names = set(head.by_tabs[0])
    if widths == {2}:
        return "topics" if _TOPICS_NAME.search(head.name) else "documents"
    if widths == {4} or (len(widths) == 1 and names & set(ID_KEYS) and names & set(TEXT_KEYS)):
        return "documents"
    return "topics" if widths == {1} and all(_COLON.match(line) for line in head.lines) else None


@dataclass(frozen=True)
class Contents:
    """A folder with its files by content type, the heads of all recognised files, and the measure
    and the meaning of columns, if given; `named` makes a name of a system or task out of one that files have."""

    folder: Folder
    kinds: dict[Kind, list[str]]
    heads: dict[str, Head]
    measure: str = ""
    columns: str = ""  # what the columns of wide tables are, if given
    named: Name = as_name

    def of(self, kind: Kind) -> list[str]:
        return self.kinds.get(kind, [])
