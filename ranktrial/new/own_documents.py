"""Whether queries of a collection may be documents of it, for which its entry needs a key; writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any

from ranktrial.ir.collection import Document

LOOKED_AT = 200_000  # documents, which takes seconds


def own_document(documents: Iterable[Document], queries: Collection[str]) -> dict[str, Any]:
    """Return the key `own_document` if a document has a query's id; `drop` does not exclude accidental matches."""
    if any(document.id in queries for document in islice(documents, LOOKED_AT)):
        return {"own_document": "drop"}
    return {}
