"""Which documents have the text of another document or of a training query: as negatives they would be false ones.

Texts are compared without regard to case and white space. Of a document it is title and text in one, as models take
it; a query is also looked for in the text alone. Only digests are held: eight bytes per document.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from scripts.ir.collection import Document


class EqualTexts(NamedTuple):
    """The documents that have one text with others (`of_document`: the key of each; `members` by key), and by query
    those that have its text."""

    of_document: Mapping[str, int] = {}
    members: Mapping[int, set[str]] = {}
    of_query: Mapping[str, set[str]] = {}

    def to(self, query: str, documents: Iterable[str]) -> set[str]:
        """The documents that have the text of the query or of one of these documents, without these."""
        known = set(documents)
        found = [self.members[self.of_document[name]] for name in known if name in self.of_document]
        return set().union(*found, self.of_query.get(query, set())) - known


def key_of(text: str) -> int:
    """A number of 64 bits, the same for texts that differ in case and white space alone."""
    words = " ".join(text.split()).casefold()
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "little")


def read_equal_texts(corpus: Iterable[Document], queries: Mapping[str, str]) -> tuple[list[str], EqualTexts]:
    """The ids of the documents, and which of them have one text or a query's. A text without a word equals no other."""
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
