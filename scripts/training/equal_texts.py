"""Which documents have the text of another document or of a training query: as negatives they would be false ones.

Texts are compared without regard to case and white space. Of a document it is title and text in one, as models take
it; a query is also looked for in the text alone. Only digests are held: eight bytes a document.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from scripts.ir.collection import Document


class EqualTexts(NamedTuple):
    """The documents with one text (`members`, by a key), the key of each of them, and that of queries with a text that
    is a document's."""

    members: Mapping[int, set[str]] = {}
    of_document: Mapping[str, int] = {}
    of_query: Mapping[str, int] = {}

    def to(self, query: str, documents: Iterable[str]) -> set[str]:
        """The documents that have the text of the query or of one of these documents, without these."""
        known = set(documents)
        keys = {self.of_document[name] for name in known if name in self.of_document}
        keys |= {self.of_query[query]} if query in self.of_query else set()
        return set().union(*(self.members[key] for key in keys)) - known


def key_of(text: str) -> int:
    """A number of 64 bits, the same for texts that differ in case and white space alone."""
    words = " ".join(text.split()).casefold()
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "little")


def read_equal_texts(corpus: Iterable[Document], queries: Mapping[str, str]) -> tuple[list[str], EqualTexts]:
    """The ids of the documents, and which of them have one text or a query's. A text without a word equals no other."""
    asked = {query: key_of(text) for query, text in queries.items()}
    wanted = set(asked.values())
    names: list[str] = []
    keys = array("Q")
    found: dict[int, set[str]] = {}
    for document in corpus:
        key = key_of(document.contents)
        names.append(document.id)
        keys.append(key)
        for one in {key, key_of(document.text)} if document.title else {key}:
            if one in wanted:
                found.setdefault(one, set()).add(document.id)
    held = np.frombuffer(keys, dtype=np.uint64)
    several, counts = np.unique(held, return_counts=True)
    repeated = np.flatnonzero(np.isin(held, several[counts > 1]) & (held != key_of("")))
    of_document = {names[place]: int(held[place]) for place in repeated}
    for name, key in of_document.items():
        found.setdefault(key, set()).add(name)
    found.pop(key_of(""), None)
    return names, EqualTexts(found, of_document, {query: key for query, key in asked.items() if key in found})
