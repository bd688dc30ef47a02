"""The forms of an index of a corpus, one module each, found by the INDEX that a model type states.

An index is a folder. Its module writes the encoded corpus, whole or in shards, and joins shards (see IndexForm). The
script of the same name in scripts/inference/searches/ searches it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, cast

from ranktrial.common import plugins

INDICES = "ranktrial.inference.indices"


class IndexForm(Protocol):
    """The functions of a form's module."""

    NAME: str

    def write_index(self, folder: Path, chunks: Iterable[Any], checkpoint: Path, shard: bool = False) -> Any:
        """Write the chunks of encoded documents into an empty folder; a shard may have no document."""

    def open_shard(self, folder: Path, checkpoint: Path) -> Iterable[Any]:
        """The content of a shard's index, in chunks."""

    def facts(self, index: Any) -> dict[str, float]:
        """The entries of an index in the timing."""


def index_form(name: str) -> IndexForm:
    """The module of a form. Raises ValueError if there is none of this name."""
    return cast(IndexForm, plugins.load(INDICES, name))
