"""The dataset formats, a module each: what a dataset of the format is, and how it is read.

A module declares NAME; Keys, the record of the keys that its datasets have beside those of all datasets, where there
are such (scripts/common/keys.py); FORMAT, what the workflow has to know of it; Options, a frozen dataclass of what
`read` needs of the keys (often Keys itself); and `read(root, options)`, which turns a folder into the one Collection
that the other stages know. MEANINGS may say what a key of all datasets means in this format. Nothing else in the
project knows a format by its name. A format whose values the systems bring, or whose judgements or queries are made
here, has neither Options nor `read`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from scripts.common.errors import UserError
from scripts.common.keys import Rule
from scripts.common.paths import why_not_below
from scripts.ir.collection import Document
from scripts.ir.trec import Qrels, Subtopics, shown, why_no_id

FilesOfSplits = Annotated[
    dict[Literal["train", "dev", "test"], Annotated[str, "that of this split"]], Rule(min_properties=1)
]
MOST_NAMES = 12  # that a message lists


class Mistake(NamedTuple):
    """What is wrong with a dataset's entry in the configuration, and the key of the entry that it is about."""

    key: str
    what: str


@dataclass(frozen=True)
class Format:
    """What the workflow knows of a format before anything is read.

    `splits` gives the splits that a dataset's data has, as far as its entry says; None where only the files do. Then
    `splits_here` looks at the files that lie here; None where none do.
    `judgements` is the key that maps splits to their files of judgements. Without one of the keys in `narrowing` a
    dataset has the queries of all their values. `mistake` looks for what is wrong between the keys of an entry.
    """

    location: str  # what lies there, for the table of formats
    splits: Callable[[Any], set[str] | None]
    splits_here: Callable[[Any], set[str] | None] = lambda entry: None
    judgements: str | None = None
    narrowing: tuple[str, ...] = ()
    mistake: Callable[[Any], Mistake | None] = lambda entry: None
    has_documents: bool = True
    one_file: bool = False  # the location may be one file that is no archive
    values_given: bool = False  # the systems bring one value per query, so there is nothing to read
    made_here: bool = False  # a job makes its judgements of the runs of another dataset, so nothing lies at a location
    generated: bool = False  # a model writes the queries, so there is nothing to read either
    scheme: str | None = None  # what its locations begin with
    pinned_by: str = ""  # what says which files those are
    other_locations: bool = False  # it reads folders and archives, too
    of_tasks: bool = False  # a value is the score of a task, so that a dataset is a sample of tasks
    unjudged: Callable[[Any], bool] = lambda entry: False  # train has queries, but no judgements

    @property
    def has_files(self) -> bool:
        """Whether something lies at its location."""
        return not (self.values_given or self.made_here or self.generated)


class Found(NamedTuple):
    """A document as a reader finds it, and the names of what stands in its record: keys, columns or tags."""

    document: Document
    names: Iterable[str]


class Collection(NamedTuple):
    """What a format's reader gives: the documents (read once, in order) and, per split it has, queries and qrels.

    `documents` is None and there are no queries where the data are judgements only. `unjudged` are queries that could
    be training queries without judgements; where the data has a train split without a single judgement, they are.
    `unjudged_test` are those among its test queries, where the data say which these are.
    `excluded` are, by query, the documents that the data say are to be left out of its results.
    `subtopics` has the judgements of a split by subtopic, where the data has them: its qrels are the highest grades.
    """

    documents: Iterable[Document] | None
    queries: dict[str, dict[str, str]]
    qrels: dict[str, Qrels]
    unjudged: Mapping[str, str] = MappingProxyType({})
    excluded: Mapping[str, set[str]] = MappingProxyType({})
    subtopics: Mapping[str, Subtopics] = MappingProxyType({})
    unjudged_test: Mapping[str, str] = MappingProxyType({})


def identifier(value: object, where: str, what: str) -> str:
    """A document's or query's id as text; a whole number stands for its digits.

    Raises UserError if it is absent, empty or nothing that a line of a run can hold: white space (of any script, since
    not all tools part columns at the same), control characters. Of a decimal number no two tools write the same digits.
    """
    if isinstance(value, float):
        raise UserError(f"{where}: the {what} id {value} is a decimal number; expected text or a whole number")
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise UserError(f"{where}: the {what} has no id")
    text = str(value)
    reason = why_no_id(text)
    if reason is None and text.split() != [text]:
        reason = "contains white space, which run files cannot contain"
    if reason:
        raise UserError(f"{where}: the {what} id {shown(text)} {reason}")
    return text


def text_in(record: Mapping[str, Any], key: str, where: str) -> str:
    """The text under a key of a JSON record, empty where the key is absent, null or NaN (a missing value of pandas).

    Raises UserError for anything else that is not text: 0 and false say nothing about what the text is.
    """
    value = record.get(key)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        kind = {bool: "true or false", dict: "a mapping", list: "a list"}.get(type(value), "a number")
        raise UserError(f"{where}: {key!r} must be text, but is {kind}; leave it out where there is none")
    return value


def with_texts(found: Iterable[Found], where: str, read: str) -> Iterator[Document]:
    """Pass the documents through; `read` says what is taken for a document's text.

    Raises UserError, after the last, where most of them have no text: it stands where it is not read, and what is
    indexed would be titles. The message names what stands in such records.
    """
    documents = without = 0
    names: dict[str, None] = {}
    for document, of_record in found:
        documents += 1
        if not document.text.strip():
            without += 1
            if len(names) < MOST_NAMES:
                names |= dict.fromkeys(of_record)
        yield document
    if 2 * without > documents:
        seen = ", ".join(shown(name)[1:-1] for name in list(names)[:MOST_NAMES]) or "nothing"
        problem = f"{without} of {documents} documents have no text; expected {read}, found {seen}"
        raise UserError(f"{where}: {problem}")


def file_in(root: Path, name: str, key: str) -> Path:
    """The file or folder of that name below `root`, maybe a link. UserError, with the key, where it leads out."""
    if reason := why_not_below(name):
        raise UserError(f"{key}: the path {shown(name)} {reason}; expected one below the location")
    return root / name


def outside(key: str, files: dict[str, str]) -> Mistake | None:
    """The first file of a split, under a key of the configuration, that does not lie below the location."""
    for split, name in files.items():
        if reason := why_not_below(name):
            return Mistake(f"{key}.{split}", f"{name!r} {reason}; expected a path below the location")
    return None


def same_file_twice(key: str, files: dict[str, str]) -> Mistake | None:
    """Two splits, under a key of the configuration, with the same file: their judgements would be the same."""
    split_of: dict[str, str] = {}
    for split, name in files.items():
        other = split_of.setdefault(name.removesuffix("/"), split)
        if other != split:
            return Mistake(key, f"{other} and {split} are both {name!r}: the same judgements twice")
    return None


def judged_queries(texts: dict[str, str], qrels: Qrels, where: str) -> dict[str, str]:
    """The texts of the queries that the qrels judge, in the qrels' order. UserError for one that has no text."""
    if not qrels:
        raise UserError(f"{where}: no judged query")
    for query in qrels:
        if not texts.get(query):
            raise UserError(f"{where}: query {query} is judged but has no text")
    return {query: texts[query] for query in qrels}


def unjudged_queries(texts: dict[str, str], judged: Container[str]) -> dict[str, str]:
    """The queries that are not judged and have a text."""
    return {query: text for query, text in texts.items() if text and query not in judged}
