"""A file of structures that a tagger found in queries and documents, one text per line, as JSON.

A line has `kind` (query or document), `id`, and the lists `objects`, `aspects` and `predicates`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text, lines
from ranktrial.ir.comparative import Structure

QUERY, DOCUMENT = "query", "document"


class Tagged(NamedTuple):
    """The structures of a file, by the ids of their texts."""

    path: Path
    queries: dict[str, Structure]
    documents: dict[str, Structure]

    def of_query(self, name: str) -> Structure:
        """A query's structure. Raises UserError if the file has none."""
        return self._of(self.queries, QUERY, name)

    def of_document(self, name: str) -> Structure:
        """A document's structure. Raises UserError if the file has none."""
        return self._of(self.documents, DOCUMENT, name)

    def _of(self, found: dict[str, Structure], kind: str, name: str) -> Structure:
        if name not in found:
            raise UserError(f"{self.path}: has no structure of {kind} {name}; tag the texts again")
        return found[name]


def write_structures(path: Path, tagged: Iterable[tuple[str, str, Structure]]) -> None:
    """Write (kind, id, structure) of each text, atomically."""
    with atomic_text(path) as file:
        for kind, name, structure in tagged:
            record = {"kind": kind, "id": name, **structure._asdict()}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def read_structures(path: Path) -> Tagged:
    """Read a file of structures. Raises UserError, with the line, if it was changed or damaged."""
    found: dict[str, dict[str, Structure]] = {QUERY: {}, DOCUMENT: {}}
    for number, line in lines(path):
        try:
            record = json.loads(line)
            parts = {name: tuple(record[name]) for name in Structure._fields}
            if not all(type(word) is str for words in parts.values() for word in words):
                raise ValueError
            found[record["kind"]][str(record["id"])] = Structure(**parts)
        except (ValueError, TypeError, KeyError):
            wanted = f"kind, id, {', '.join(Structure._fields)}"
            raise UserError(f"{path}:{number}: was changed or damaged: expected a record with {wanted}") from None
    return Tagged(path, found[QUERY], found[DOCUMENT])
