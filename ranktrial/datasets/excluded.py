"""Documents that are excluded for a query: its own document where that is to be dropped, and those that a file or the
data themselves (BRIGHT) name.

BEIR always drops a document with the query's id, which is wrong if ids coincide by chance, and keeps it if the document
has another id. Here a query's own document is one with its text (own_documents.py), and dropping or keeping it must be
stated. Reads the file of `excluded`, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.datasets.own_documents import OwnDocuments
from ranktrial.ir.trec import Qrels, columns, relevant

OwnDocument = Literal["drop", "keep"] | None
HEADINGS = ("query", "query-id", "query_id", "qid")
Pairs = dict[str, set[str]]  # query id -> document ids


class Exclusions(NamedTuple):
    """The excluded documents of each split's queries, the counts of each split, and messages to report."""

    of_split: dict[str, Pairs]
    counts: dict[str, dict[str, int]]
    remarks: list[str]


def read_pairs(path: Path) -> Pairs:
    """The pairs of query id and document id on the lines of a file, which may have a heading.

    Raises UserError, with the line, for a wrong number of columns.
    """
    pairs: Pairs = {}
    for number, line in lines(path):
        fields = columns(line, path, number)
        if len(fields) != 2:
            raise UserError(f"{path}:{number}: {len(fields)} columns; expected 2: the ids of a query and a document")
        if number > 1 or fields[0] not in HEADINGS:
            pairs.setdefault(fields[0], set()).add(fields[1])
    if not pairs:
        raise UserError(f"{path}: has no pair of a query and a document")
    return pairs


def joined(named: Mapping[str, set[str]], of_data: Mapping[str, set[str]]) -> Pairs:
    """The pairs that a file names and those that the data themselves name."""
    return {query: named.get(query, set()) | of_data.get(query, set()) for query in {**named, **of_data}}


def exclusions(
    own: OwnDocuments, choice: OwnDocument, named: Pairs, documents: Collection[str], dataset: str
) -> Exclusions:
    """The exclusions among the corpus's `documents`, by the `choice` of the dataset and the `named` pairs.

    Raises UserError if queries are documents and it is not stated whether to drop them, and for pairs of another
    dataset.
    """
    every = {query for texts in own.queries.values() for query in texts}
    if choice is None:
        _check_choice(own, named, len(every), dataset)
    of_split: dict[str, Pairs] = {}
    for split, texts in own.queries.items():
        dropped = own.same[split] if choice == "drop" else set()
        pairs = {query: named.get(query, set()) | ({query} & dropped) for query in texts}
        of_split[split] = {query: excluded for query, excluded in pairs.items() if excluded}
    counts = {split: _counts(own, split, of_split[split]) for split in own.queries}
    by_chance = [
        f"{split}: {len(queries)} queries have the id of a document with another text, which stays"
        for split, queries in own.others.items()
        if queries
    ]
    return Exclusions(of_split, counts, by_chance + _remarks_on(named, every, documents))


def _check_choice(own: OwnDocuments, named: Pairs, queries: int, dataset: str) -> None:
    """Raise UserError for queries that are documents, unless these are excluded by name."""
    open_ones = sorted({query for same in own.same.values() for query in same if query not in named.get(query, ())})
    if open_ones:
        found = f"{len(open_ones)} of {queries} queries are also documents, with the same id and (nearly) the same text"
        cure = f"write `own_document: drop` under datasets.{dataset} to leave each out for its own query, or `keep`"
        raise UserError(f"{found}, such as {open_ones[0]}: {cure}")


def _counts(own: OwnDocuments, split: str, excluded: Pairs) -> dict[str, int]:
    counts = {
        "own_documents": len(own.same[split]),
        "ids_by_chance": len(own.others[split]),
        "excluded": sum(map(len, excluded.values())),
    }
    return {name: count for name, count in counts.items() if count}


def _remarks_on(named: Pairs, queries: set[str], documents: Collection[str]) -> list[str]:
    """Messages about the pairs of a file. Raises UserError if none is of this dataset."""
    total = sum(map(len, named.values()))
    alien = sum(len(its) for query, its in named.items() if query not in queries)
    missing = sum(document not in documents for its in named.values() for document in its)
    what = {"queries that are in no split": alien, "documents that the corpus lacks": missing}
    for names, count in what.items():
        if total and count == total:
            raise UserError(f"excluded: all {total} pairs name {names}: they belong to other data")
    return [f"excluded: {count} of {total} pairs name {names}" for names, count in what.items() if count]


def check_judgements(qrels: Mapping[str, Qrels], of_split: Mapping[str, Mapping[str, Collection[str]]]) -> None:
    """Raise UserError for a document that is excluded for a query to which it is judged relevant."""
    for split, excluded in of_split.items():
        judged = qrels.get(split, {})
        both = [(query, name) for query, its in excluded.items() for name in sorted(relevant(judged, query) & set(its))]
        if both:
            query, name = both[0]
            problem = f"{len(both)} documents are judged relevant and excluded for the same query, such as {name} for"
            cure = "change own_document or excluded, or leave the judgements out"
            raise UserError(f"{split}: {problem} {query}: no system could return them; {cure}")
