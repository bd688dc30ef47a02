"""Leaving documents out by their length: `document_characters: {min: 20, max: 300}`.

No system can find a document that is left out. Its judgements are kept: a relevant one still counts in recall, like any
relevant document that a system does not return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document


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
