"""The dataset formats: each module's `read` turns a folder into the one Collection that the other stages know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scripts.common.collection import Document
from scripts.common.errors import UserError
from scripts.common.trec import Qrels


class Collection(NamedTuple):
    """What a format's reader gives: the documents (read once, in order) and, per split it has, queries and qrels.

    `documents` is None and there are no queries where the data are judgements only.
    """

    documents: Iterable[Document] | None
    queries: dict[str, dict[str, str]]
    qrels: dict[str, Qrels]


def identifier(value: object, where: str, what: str) -> str:
    """A document's or query's id as text. Raises UserError if it is absent, empty or holds white space."""
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise UserError(f"{where}: the {what} has no id")
    text = str(value)
    if text.split() != [text]:
        raise UserError(f"{where}: the {what} id {text!r} holds white space, which run files cannot hold")
    return text


def judged_queries(texts: dict[str, str], qrels: Qrels, where: str) -> dict[str, str]:
    """The texts of the queries that the qrels judge, in the qrels' order. UserError for one that has no text."""
    if not qrels:
        raise UserError(f"{where}: not one judged query")
    for query in qrels:
        if query not in texts:
            raise UserError(f"{where}: query {query} is judged but has no text")
    return {query: texts[query] for query in qrels}
