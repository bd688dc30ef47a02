"""Encode a corpus with a model that gives each token a vector, such as a ColBERT.

Reads a checkpoint and a prepared corpus; writes an index (see token_index.py), a folder with the vectors of all tokens
in the corpus's order, and the timing. The rows go to disk as they come, so memory does not grow with the corpus.
"""

from __future__ import annotations

from scripts.common.command_line import run
from scripts.inference.index_corpus import index_corpus
from scripts.inference.token_index import TokenIndex, write_index


def facts(index: TokenIndex, documents: int) -> dict[str, float]:
    """What the timing says of the index."""
    return {"vectors": len(index.vectors), "vectors_per_document": len(index.vectors) / documents}


def main() -> None:
    index_corpus(__doc__, write_index, facts)


if __name__ == "__main__":
    run(main)
