"""The dataset formats: each module's `read` turns a folder into the one Collection that the other stages know."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from scripts.common.errors import UserError
from scripts.common.paths import why_not_below
from scripts.ir.collection import Document
from scripts.ir.trec import Qrels, shown, why_no_id


class Collection(NamedTuple):
    """What a format's reader gives: the documents (read once, in order) and, per split it has, queries and qrels.

    `documents` is None and there are no queries where the data are judgements only.
    """

    documents: Iterable[Document] | None
    queries: dict[str, dict[str, str]]
    qrels: dict[str, Qrels]


def identifier(value: object, where: str, what: str) -> str:
    """A document's or query's id as text; a whole number stands for its digits.

    Raises UserError if it is absent, empty or nothing that a line of a run can hold: white space (of any script, since
    not all tools part columns at the same), control characters.
    """
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise UserError(f"{where}: the {what} has no id")
    text = str(value)
    reason = why_no_id(text)
    if reason is None and text.split() != [text]:
        reason = "holds white space, which run files cannot hold"
    if reason:
        raise UserError(f"{where}: the {what} id {shown(text)} {reason}")
    return text


def text_in(record: dict, key: str, where: str) -> str:
    """The text under a key of a JSON record, empty where the key is absent.

    Raises UserError for anything else that is not text: 0, false and null say nothing about what the text is.
    """
    value = record.get(key, "")
    if not isinstance(value, str):
        kinds = {type(None): "null", bool: "true or false", dict: "a mapping", list: "a list"}
        kind = kinds.get(type(value), "a number")
        raise UserError(f"{where}: {key!r} must be text, but is {kind}; leave it out where there is none")
    return value


def file_in(root: Path, name: str, key: str) -> Path:
    """The file or folder of that name below `root`, maybe a link. UserError, with the key, where it leads out."""
    if reason := why_not_below(name):
        raise UserError(f"{key}: the path {shown(name)} {reason}; wanted is one below the location")
    return root / name


def judged_queries(texts: dict[str, str], qrels: Qrels, where: str) -> dict[str, str]:
    """The texts of the queries that the qrels judge, in the qrels' order. UserError for one that has no text."""
    if not qrels:
        raise UserError(f"{where}: not one judged query")
    for query in qrels:
        if query not in texts:
            raise UserError(f"{where}: query {query} is judged but has no text")
    return {query: texts[query] for query in qrels}
