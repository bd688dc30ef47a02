"""Encode a corpus with a model that gives weights to terms, such as SPLADE.

Reads a checkpoint and a prepared corpus; writes an index (see term_index.py), a folder with the weights of terms in the
corpus's order, and the timing. The entries go to disk as they come, so memory does not grow with the corpus.
"""

from __future__ import annotations

from scripts.common.command_line import run
from scripts.inference import term_index
from scripts.inference.index_corpus import index_corpus


def main() -> None:
    index_corpus(__doc__, term_index)


if __name__ == "__main__":
    run(main)
