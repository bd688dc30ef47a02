"""Encode a corpus into an index that is a folder, chunk by chunk, and time it: what each such form does in one way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from scripts.common.command_line import parser
from scripts.common.errors import UserError
from scripts.common.files import atomic_folder, lines
from scripts.common.progress import Progress
from scripts.common.timing import clock, write_timing
from scripts.inference.encode import BATCHES, Settings, chunks
from scripts.ir.collection import read_corpus
from scripts.models.adapters import adapter
from scripts.models.cutting import cutting_encoder
from scripts.models.prompts import fact, load_prompted, prompts_of
from scripts.models.running import computed_by

Write = Callable[[Path, Iterable[Any], Path], Any]  # (empty folder, encoded chunks, checkpoint) -> the index


class TimedEncoding:
    """What `encode` makes of a corpus in chunks; `seconds` is how long encoding took, without reading."""

    def __init__(self, encode: Callable[[list[str]], Any], corpus: Path, documents: int) -> None:
        self.encode, self.corpus = encode, corpus
        self.progress = Progress("encoded", documents, "document")
        self.seconds = 0.0

    def chunks(self, size: int) -> Iterator[Any]:
        """What becomes of `size` documents at a time."""
        for texts in chunks(read_corpus(self.corpus), size):
            start = clock()
            encoded = self.encode(texts)
            self.seconds += clock() - start
            self.progress.add(len(texts))
            yield encoded


def index_corpus(description: str | None, write: Write, facts: Callable[[Any, int], dict[str, float]]) -> None:
    """Run a script that encodes a corpus: `write` writes its index, of which (with its documents) `facts` are told.

    Raises UserError where the corpus is empty.
    """
    options = parser(description, "checkpoint", "corpus", "index", "timing", settings=Settings).parse_args()
    settings: Settings = options.settings
    documents = sum(1 for _ in lines(options.corpus))
    if not documents:
        raise UserError(f"{options.corpus}: the corpus is empty, so there is nothing to encode")
    kind = adapter(settings.type)
    model = load_prompted(kind, options.checkpoint, settings)
    cutting = cutting_encoder(kind, model, settings, ("document",))
    encode = partial(cutting, batch_size=settings.batch_size, role="document")
    encode(next(chunks(read_corpus(options.corpus), settings.batch_size)))  # the warm-up
    encoding = TimedEncoding(encode, options.corpus, documents)
    with atomic_folder(options.index) as folder:
        written = write(folder, encoding.chunks(settings.batch_size * BATCHES), options.checkpoint)
        size = sum(file.stat().st_size for file in folder.iterdir())
    speed = documents / encoding.seconds
    print(f"{options.corpus}: {documents} documents encoded, {speed:.1f} a second", file=sys.stderr)
    write_timing(
        options.timing,
        documents=documents,
        **facts(written, documents),
        index_bytes=size,
        seconds=encoding.seconds,
        documents_per_second=speed,
        **computed_by(kind, model),
        max_length=settings.max_length,
        batch_size=settings.batch_size,
        **({"max_document_length": settings.max_document_length} if settings.max_document_length else {}),
        **fact(prompts_of(kind, model, ("document",))),
    )
