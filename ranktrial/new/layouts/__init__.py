"""The folder layouts that `make new` recognises, one module each; front.py lists them in the order of recognition.

A module defines LOOKED_FOR, a description of its layout, and `draft(contents)`, which returns a Draft, or None for a
folder of another layout, and raises UserError for a folder of its layout that it cannot read.
"""

from __future__ import annotations

from dataclasses import dataclass

from ranktrial.new.folder import Folder
from ranktrial.new.kinds_of_files import Head, Kind


@dataclass(frozen=True)
class Contents:
    """A folder with its files by content type, the heads of all recognised files, and the measure
    and the meaning of columns, if given."""

    folder: Folder
    kinds: dict[Kind, list[str]]
    heads: dict[str, Head]
    measure: str = ""
    columns: str = ""  # what the columns of wide tables are, if given

    def of(self, kind: Kind) -> list[str]:
        return self.kinds.get(kind, [])
