"""The layouts of folders that `make new` knows, a module each, in the order in which they are looked for.

A module declares LOOKED_FOR, what makes a folder of its layout, and `draft(contents)`, which gives a Draft, or None for
a folder of another layout. It raises UserError for a folder of its layout that it cannot read.
"""

from __future__ import annotations

from dataclasses import dataclass

from scripts.new.folder import Folder
from scripts.new.kinds_of_files import Head, Kind


@dataclass(frozen=True)
class Contents:
    """A folder with the files of each kind, the heads of all that are known, and its measure, if given."""

    folder: Folder
    kinds: dict[Kind, list[str]]
    heads: dict[str, Head]
    measure: str = ""

    def of(self, kind: Kind) -> list[str]:
        return self.kinds.get(kind, [])
