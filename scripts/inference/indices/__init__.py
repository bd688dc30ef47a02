"""The forms of an index of a corpus, one module each, found by the INDEX that a kind of model states.

An index is a folder. Its module lets the corpus be encoded into it, whole or in shards, and joined (see IndexForm).
What searches it is the script of the same name in scripts/inference/searches/.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, cast

from scripts.common import plugins

INDICES = "scripts.inference.indices"


class IndexForm(Protocol):
    """What the module of a form states."""

    NAME: str

    def write_index(self, folder: Path, chunks: Iterable[Any], checkpoint: Path, shard: bool = False) -> Any:
        """Write what documents became, in chunks, into an empty folder; a shard may have no document."""

    def open_shard(self, folder: Path, checkpoint: Path) -> Iterable[Any]:
        """What a shard's index was written of, in chunks."""

    def facts(self, index: Any) -> dict[str, float]:
        """What the timing says of an index that was written."""


def index_form(name: str) -> IndexForm:
    """The module of a form. Raises ValueError where there is none of this name."""
    return cast(IndexForm, plugins.load(INDICES, name))
