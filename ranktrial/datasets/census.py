"""Counts of a corpus's documents, made while they pass through: ids, words, empty and equal texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document


class Census:
    """Passes documents through and counts them; a duplicate document id is a UserError."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = documents
        self.ids: set[str] = set()
        self.texts: set[bytes] = set()
        self.words = self.empty = self.equal = 0

    def __iter__(self) -> Iterator[Document]:
        for document in self.documents:
            if document.id in self.ids:
                raise UserError(f"duplicate document id {document.id} in the corpus")
            self.ids.add(document.id)
            contents = document.contents
            digest = hashlib.blake2b(contents.encode(), digest_size=12).digest()
            self.equal += digest in self.texts
            self.texts.add(digest)
            self.empty += not contents
            self.words += len(contents.split())
            yield document
