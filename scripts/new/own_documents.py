"""Whether queries of a collection may be documents of it, which its entry has to treat; writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any

from scripts.ir.collection import Document

LOOKED_AT = 200_000  # documents: seconds


def own_document(documents: Iterable[Document], queries: Collection[str]) -> dict[str, Any]:
    """The key `own_document` where a document has a query's id; `drop` leaves one alone that has the id by chance."""
    if any(document.id in queries for document in islice(documents, LOOKED_AT)):
        return {"own_document": "drop"}
    return {}
