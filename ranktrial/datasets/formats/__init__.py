"""The dataset formats, one module each: the keys of a dataset of the format, and its reader.

A module declares NAME; Keys, the record of keys that its datasets have in addition to those of all datasets, if any
(ranktrial/common/keys.py); FORMAT, what the workflow needs to know about it; Options, a frozen dataclass of the keys
that `read` needs (often Keys itself); and `read(root, options)`, which converts a folder into a Collection, the form
that the other stages use. MEANINGS may describe the meaning of a key of all datasets in this format. Nothing else in
the project refers to a format by name. A format whose values are supplied by the systems, or whose judgements or
queries are made here, has neither Options nor `read`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.keys import Rule
from ranktrial.common.paths import why_not_below
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Qrels, Subtopics, shown, why_no_id

FilesOfSplits = Annotated[
    dict[Literal["train", "dev", "test"], Annotated[str, "that of this split"]], Rule(min_properties=1)
]
MOST_NAMES = 12  # that a message lists


class Mistake(NamedTuple):
    """An error in a dataset's entry in the configuration, and its key."""

    key: str
    what: str


@dataclass(frozen=True)
class Format:
    """The properties of a format that the workflow needs before anything is read.

    `splits` returns the splits that a dataset's data has, according to its entry; None if only the files show them.
    Then `splits_here` reads local files; None if there are none. `judgements` is the key that maps splits to their
    files of judgements. Without one of the keys in `narrowing`, a dataset has the queries of all their values.
    `mistake` checks the keys of an entry against each other.
    """

    location: str  # description of its content, for the table of formats
    splits: Callable[[Any], set[str] | None]
    splits_here: Callable[[Any], set[str] | None] = lambda entry: None
    judgements: str | None = None
    narrowing: tuple[str, ...] = ()
    mistake: Callable[[Any], Mistake | None] = lambda entry: None
    has_documents: bool = True
    one_file: bool = False  # the location may be one file that is not an archive
    values_given: bool = False  # the systems supply one value per query, so there is nothing to read
    made_here: bool = False  # a job makes its judgements for the runs of another dataset, so it has no location
    generated: bool = False  # a model writes the queries, so there is nothing to read either
    scheme: str | None = None  # prefix of its locations
    pinned_by: str = ""  # the key that pins the files
    other_locations: bool = False  # it also reads folders and archives
    of_tasks: bool = False  # a value is the score of a task, so that a dataset is a sample of tasks
    unjudged: Callable[[Any], bool] = lambda entry: False  # train has queries, but no judgements

    @property
    def has_files(self) -> bool:
        """Whether it has files at a location."""
        return not (self.values_given or self.made_here or self.generated)


class Found(NamedTuple):
    """A document as found by a reader, and the names of the parts of its record: keys, columns or tags."""

    document: Document
    names: Iterable[str]


class Collection(NamedTuple):
    """What a format's reader gives: the documents (read once, in order) and, per split it has, queries and qrels.

    `documents` is None and there are no queries if the data are judgements only. `unjudged` are queries that could be
    training queries without judgements; if the data has a train split without any judgement, they are.
    `unjudged_test` are those among its test queries, if the data identify them. `excluded` are, by query, the documents
    that the data exclude from its results. `subtopics` has the judgements of a split by subtopic, if the data has them:
    its qrels are the highest grades.
    """

    documents: Iterable[Document] | None
    queries: dict[str, dict[str, str]]
    qrels: dict[str, Qrels]
    unjudged: Mapping[str, str] = MappingProxyType({})
    excluded: Mapping[str, set[str]] = MappingProxyType({})
    subtopics: Mapping[str, Subtopics] = MappingProxyType({})
    unjudged_test: Mapping[str, str] = MappingProxyType({})


def identifier(value: object, where: str, what: str) -> str:
    """A document's or query's id as text; an integer is converted to its digits.

    Raises UserError if it is absent, empty or cannot be in a line of a run: white space (of any script, since tools
    separate columns differently), control characters; or a decimal number, which tools write with different digits.
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
    """The text of a key of a JSON record, empty if the key is absent, null or NaN (a missing value of pandas).

    Raises UserError for anything else that is not text, such as 0 and false.
    """
    value = record.get(key)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        kind = {bool: "true or false", dict: "a mapping", list: "a list"}.get(type(value), "a number")
        raise UserError(f"{where}: {key!r} must be text, but is {kind}; leave it out where there is none")
    return value


def with_texts(found: Iterable[Found], where: str, read: str) -> Iterator[Document]:
    """Pass the documents through; `read` names what is read as a document's text.

    Raises UserError, after the last, if most of them have no text: their text is elsewhere, and only titles would be
    indexed. The message names the parts of such records.
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
    """The file or folder of that name below `root`, possibly a link. UserError, with the key, if it is outside."""
    if reason := why_not_below(name):
        raise UserError(f"{key}: the path {shown(name)} {reason}; expected one below the location")
    return root / name


def outside(key: str, files: dict[str, str]) -> Mistake | None:
    """The first file of a split, in a key of the configuration, that is not below the location."""
    for split, name in files.items():
        if reason := why_not_below(name):
            return Mistake(f"{key}.{split}", f"{name!r} {reason}; expected a path below the location")
    return None


def same_file_twice(key: str, files: dict[str, str]) -> Mistake | None:
    """Two splits, in a key of the configuration, with the same file, and so the same judgements."""
    split_of: dict[str, str] = {}
    for split, name in files.items():
        other = split_of.setdefault(name.removesuffix("/"), split)
        if other != split:
            return Mistake(key, f"{other} and {split} are both {name!r}: the same judgements twice")
    return None


def judged_queries(texts: dict[str, str], qrels: Qrels, where: str) -> dict[str, str]:
    """The texts of the judged queries, in the order of the qrels. UserError for one without a text."""
    if not qrels:
        raise UserError(f"{where}: no judged query")
    for query in qrels:
        if not texts.get(query):
            raise UserError(f"{where}: query {query} is judged but has no text")
    return {query: texts[query] for query in qrels}


def unjudged_queries(texts: dict[str, str], judged: Container[str]) -> dict[str, str]:
    """The unjudged queries with a text."""
    return {query: text for query, text in texts.items() if text and query not in judged}
