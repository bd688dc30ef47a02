"""Retrieve with a model: search the index of a corpus for the queries of a task.

Reads a checkpoint, the corpus with its index, and queries; writes a TREC run of the `depth` best documents per query
and the timing. The module of the index's form in ranktrial/inference/searches/ searches. Indices that are compared with
the exact search also take the encoded corpus (`vectors`) from which they were made.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common import plugins
from ranktrial.common.command_line import job
from ranktrial.inference.ranking_settings import SearchSettings
from ranktrial.inference.searching import requested

SEARCHES = "ranktrial.inference.searches"


def search(
    checkpoint: Path, corpus: Path, index: Path, vectors: Path | None, queries: Path, run: Path, timing: Path,
    settings: SearchSettings,
) -> None:  # fmt: skip
    """Search the index of a corpus with a model."""
    asked = requested(checkpoint, corpus, index, vectors, queries, run, timing, settings)
    plugins.load(SEARCHES, settings.form).search(asked)


if __name__ == "__main__":
    job(search)
