"""Encode a corpus with a model that gives each token a vector, such as a ColBERT.

Reads a checkpoint and a prepared corpus; writes an index (see token_index.py), a folder with the vectors of all tokens
in the corpus's order, and the timing. The rows go to disk as they come, so memory does not grow with the corpus.
"""

from __future__ import annotations

from scripts.common.command_line import run
from scripts.inference import token_index
from scripts.inference.index_corpus import index_corpus


def main() -> None:
    index_corpus(__doc__, token_index)


if __name__ == "__main__":
    run(main)
