"""Documents that are left out: by their length from the corpus, and for single queries from their rankings.

`document_characters: {min: 20, max: 300}` leaves documents out by their length. No system can find a document that is
left out. Its judgements are kept: a relevant one still counts in recall, like any relevant document that a system does
not return.

In ArguAna and Quora, a query is a document of the corpus, which every system finds first. Equal ids alone are not
enough: if both files number their lines, ids coincide by chance. BEIR always drops a document with the query's id,
which is wrong then, and keeps it if the document has another id. Here a query's own document is one with its text, and
dropping or keeping it must be stated. Further documents are excluded by a file or by the data themselves (BRIGHT).

Reads the file of `excluded`, and writes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Qrels, columns, relevant

SHINGLE = 4  # characters
ALIKE = 0.75  # of common shingles; unrelated abstracts of equal length have .16 in the median and at most .42


def alike(query: str, text: str) -> bool:
    """Whether two texts are the same except for case, punctuation and a few words or letters.

    By the Dice coefficient of their character n-grams (shingles; Broder 1997, On the resemblance and containment of
    documents), which needs no words, so that texts may be in any script.
    """
    one, other = _normalised(query), _normalised(text)
    if one == other:
        return bool(one) or query.strip() == text.strip()
    shorter, longer = sorted((len(one), len(other)))
    if shorter < ALIKE / (2 - ALIKE) * longer:  # too few shingles, whichever they are
        return False
    first, second = _shingles(one), _shingles(other)
    return 2 * (first & second).total() >= ALIKE * (first.total() + second.total())


def _normalised(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _shingles(text: str) -> Counter[str]:
    return Counter(text[start : start + SHINGLE] for start in range(max(1, len(text) - SHINGLE + 1)))


class OwnDocuments:
    """Passes documents on, and records which queries of each split have the id of a document.

    `same` are those with nearly the text of the document (its title, its text, or both together), `others` those with
    another text, whose ids coincide by chance.
    """

    def __init__(self, documents: Iterable[Document], queries: Mapping[str, Mapping[str, str]]) -> None:
        self.documents = documents
        self.queries = queries  # split -> query id -> text
        self.same: dict[str, set[str]] = {split: set() for split in queries}
        self.others: dict[str, set[str]] = {split: set() for split in queries}

    def __iter__(self) -> Iterator[Document]:
        for document in self.documents:
            for split, texts in self.queries.items():
                if document.id in texts:
                    query = texts[document.id]
                    its = any(alike(query, text) for text in {document.text, document.contents, document.title})
                    (self.same if its else self.others)[split].add(document.id)
            yield document


class OfLength:
    """Passes documents of allowed length (title and text, in characters), and keeps the ids of the others.

    Raises UserError at the end if all were left out.
    """

    def __init__(self, documents: Iterable[Document], bounds: Mapping[str, int]) -> None:
        self.documents = documents
        self.bounds = bounds
        self.left_out: set[str] = set()

    def __iter__(self) -> Iterator[Document]:
        kept = False
        for document in self.documents:
            if self._fits(len(document.contents)):
                kept = True
                yield document
            elif document.id in self.left_out:
                raise UserError(f"duplicate document id {document.id} in the corpus")
            else:
                self.left_out.add(document.id)
        if self.left_out and not kept:
            raise UserError(f"document_characters: none of the {len(self.left_out)} documents has such a length")

    def _fits(self, characters: int) -> bool:
        return self.bounds.get("min", 0) <= characters <= self.bounds.get("max", characters)


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
