"""Encode a corpus with a bi-encoder.

Reads a checkpoint and a prepared corpus; writes a NumPy file, float32 of shape (documents, dimensions) in the corpus's
order, and the timing. The rows go to disk as they come, so memory does not grow with the corpus.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_path, lines
from scripts.common.progress import Progress
from scripts.common.timing import clock, write_timing
from scripts.ir.collection import Document, read_corpus
from scripts.models.neural import encode, load_bi_encoder, precision

BATCHES = 32  # encoded at a time: the documents of so many batches are sorted by length, so that padding costs little


def chunks(documents: Iterable[Document], size: int) -> Iterator[list[str]]:
    """The contents of the documents, `size` at a time."""
    contents = (document.contents for document in documents)
    while chunk := list(islice(contents, size)):
        yield chunk


def encode_corpus(model, corpus: Path, embeddings: Path, batch_size: int) -> tuple[int, float]:
    """Write the embeddings of a corpus, whole or not at all.

    Returns the number of documents and the seconds that encoding took, without reading and one warm-up batch. Raises
    UserError where the corpus is empty.
    """
    count = sum(1 for _ in lines(corpus))
    if not count:
        raise UserError(f"{corpus}: the corpus is empty, so there is nothing to encode")
    size = batch_size * BATCHES
    warm_up = encode(model, next(chunks(read_corpus(corpus), batch_size)), batch_size, "document")
    progress = Progress("encoded", count, "document")
    seconds, row = 0.0, 0
    with atomic_path(embeddings) as temporary:
        matrix = np.lib.format.open_memmap(temporary, "w+", np.float32, (count, warm_up.shape[1]))
        for chunk in chunks(read_corpus(corpus), size):
            start = clock()
            matrix[row : row + len(chunk)] = encode(model, chunk, batch_size, "document")
            seconds += clock() - start
            row += len(chunk)
            progress.add(len(chunk))
        matrix.flush()
    return count, seconds


def main() -> None:
    options = parser(__doc__, "checkpoint", "corpus", "embeddings", "timing").parse_args()
    settings = options.settings
    model = load_bi_encoder(options.checkpoint, settings["max_length"])
    count, seconds = encode_corpus(model, options.corpus, options.embeddings, settings["batch_size"])
    print(f"{options.corpus}: {count} documents encoded, {count / seconds:.1f} a second", file=sys.stderr)
    write_timing(
        options.timing,
        documents=count,
        seconds=seconds,
        documents_per_second=count / seconds,
        precision=precision(),
        **settings,
    )


if __name__ == "__main__":
    run(main)
