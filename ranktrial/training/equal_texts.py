"""Documents with the same text as another document or a training query, which would be false negatives.

Texts are compared ignoring case and white space. The text of a document is its title and text together, as models see
it; a query is also compared with the text alone. Only digests are kept in memory: eight bytes per document.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from ranktrial.ir.collection import Document


class EqualTexts(NamedTuple):
    """The documents that share their text with others, and those that have the text of a query.

    `of_document` maps each such document to the key of its text, `members` each key to its documents, and `of_query`
    each query to the documents that have its text.
    """

    of_document: Mapping[str, int] = {}
    members: Mapping[int, set[str]] = {}
    of_query: Mapping[str, set[str]] = {}

    def to(self, query: str, documents: Iterable[str]) -> set[str]:
        """The documents with the text of the query or of one of these documents, excluding these documents."""
        known = set(documents)
        found = [self.members[self.of_document[name]] for name in known if name in self.of_document]
        return set().union(*found, self.of_query.get(query, set())) - known


def key_of(text: str) -> int:
    """A 64-bit number, equal for texts that differ only in case and white space."""
    words = " ".join(text.split()).casefold()
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "little")


def read_equal_texts(corpus: Iterable[Document], queries: Mapping[str, str]) -> tuple[list[str], EqualTexts]:
    """The ids of the documents, and which of them share a text with each other or a query. Empty texts never match."""
    keys_of_queries = {query: key_of(text) for query, text in queries.items()}
    asked: dict[int, set[str]] = {key: set() for key in keys_of_queries.values()}
    names: list[str] = []
    keys = array("Q")
    for document in corpus:
        key = key_of(document.contents)
        names.append(document.id)
        keys.append(key)
        for one in {key, key_of(document.text)} if document.title else {key}:
            if one in asked:
                asked[one].add(document.id)
    asked[key_of("")] = set()
    held = np.frombuffer(keys, dtype=np.uint64)
    several, counts = np.unique(held, return_counts=True)
    members: dict[int, set[str]] = {}
    of_document: dict[str, int] = {}
    for place in np.flatnonzero(np.isin(held, several[counts > 1]) & (held != key_of(""))):
        name, key = names[place], int(held[place])
        of_document[name] = key
        members.setdefault(key, set()).add(name)
    of_query = {query: asked[key] for query, key in keys_of_queries.items() if asked[key]}
    return names, EqualTexts(of_document, members, of_query)
