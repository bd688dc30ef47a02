"""Encode a corpus with a model that gives each text a vector, such as a bi-encoder.

Reads a checkpoint and a prepared corpus; writes a NumPy file, float32 of shape (documents, dimensions) in the corpus's
order, and the timing. The rows go to disk as they come, so memory does not grow with the corpus. Of a corpus in shards
it writes the rows of one, which may be none: each has whole chunks, so together they are what one job would write.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_path, lines
from scripts.common.progress import Progress
from scripts.common.timing import Seconds, clock, write_timing
from scripts.inference.shards import rows_of_shard
from scripts.inference.vectors import write_rows
from scripts.ir.collection import Document, read_corpus
from scripts.models.adapters import adapter
from scripts.models.batch_sizes import BATCHES, texts_per_batch
from scripts.models.cutting import cutting_encoder
from scripts.models.loaded import load_prompted
from scripts.models.prompts import fact, prompts_of
from scripts.models.running import computed_by


@dataclass(frozen=True)
class Settings:
    type: Annotated[str, "kind of the model, one that searches"]
    max_length: Annotated[int, "tokens kept of a text"]
    batch_size: Annotated[int, "texts per batch"]
    max_document_length: Annotated[int | None, "tokens kept of a document, without special ones"] = None
    prompts: Annotated[dict[str, str] | None, "put before documents, by role; null: those that the model stores"] = None
    batch_tokens: Annotated[int | None, "in place of batch_size: tokens per batch, with padding"] = None
    shard: Annotated[list[int] | None, "which one from 0 and of how many is encoded; null: the whole corpus"] = None

    @property
    def max_query_length(self) -> None:
        """No query is encoded here, so what is kept of one does not matter."""


def chunks(documents: Iterable[Document], size: int) -> Iterator[list[str]]:
    """The contents of the documents, `size` at a time."""
    contents = (document.contents for document in documents)
    while chunk := list(islice(contents, size)):
        yield chunk


def encode_corpus(
    encode: Callable[[list[str]], np.ndarray],
    corpus: Path,
    embeddings: Path,
    batch_size: int,
    size: int,
    shard: list[int] | None = None,
) -> tuple[int, float]:
    """Write the embeddings of a corpus, by `encode` (texts -> float32 of shape (texts, dimensions)).

    They are written whole or not at all; with `shard` its rows alone. `encode` gets `size` documents at a time, some
    batches of them. Returns the number of documents and the seconds that encoding took, without reading and one warm-up
    batch. Raises UserError where the corpus is empty.
    """
    count = sum(1 for _ in lines(corpus))
    if not count:
        raise UserError(f"{corpus}: the corpus is empty, so there is nothing to encode")
    first, last = rows_of_shard(count, size, shard)
    warm_up = encode(next(chunks(read_corpus(corpus), batch_size)))
    progress = Progress("encoded", last - first, "document")
    seconds = Seconds()

    def parts() -> Iterator[np.ndarray]:
        nonlocal seconds
        for chunk in chunks(read_corpus(corpus, first, last), size):
            start = clock()
            rows = encode(chunk)
            seconds += clock() - start
            progress.add(len(chunk))
            yield rows

    with atomic_path(embeddings) as temporary:
        write_rows(temporary, last - first, warm_up.shape[1], parts())
    return last - first, seconds


def main() -> None:
    options = parser(__doc__, "checkpoint", "corpus", "embeddings", "timing", settings=Settings).parse_args()
    settings: Settings = options.settings
    kind = adapter(settings.type)
    model = load_prompted(kind, options.checkpoint, settings)
    cutting = cutting_encoder(kind, model, settings, ("document",))
    encode = partial(cutting, batch_size=settings.batch_size, role="document")
    size = BATCHES * texts_per_batch(settings.batch_size, settings.batch_tokens, settings.max_length)
    count, seconds = encode_corpus(
        encode, options.corpus, options.embeddings, settings.batch_size, size, settings.shard
    )
    speed = count / seconds if count else 0.0
    print(f"{options.corpus}: {count} documents encoded, {speed:.1f} a second", file=sys.stderr)
    write_timing(
        options.timing,
        documents=count,
        seconds=seconds,
        documents_per_second=speed,
        **computed_by(kind, model),
        max_length=settings.max_length,
        batch_size=settings.batch_size,
        **({"batch_tokens": settings.batch_tokens} if settings.batch_tokens else {}),
        **({"max_document_length": settings.max_document_length} if settings.max_document_length else {}),
        **fact(prompts_of(kind, model, ("document",))),
    )


if __name__ == "__main__":
    run(main)
