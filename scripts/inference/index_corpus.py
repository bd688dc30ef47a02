"""Encode a corpus into an index that is a folder, chunk by chunk, and time it: what each such form does in one way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from scripts.common.command_line import parser
from scripts.common.errors import UserError
from scripts.common.files import atomic_folder, lines
from scripts.common.progress import Progress
from scripts.common.timing import Seconds, clock, write_timing
from scripts.inference.encode import BATCHES, Settings, chunks
from scripts.inference.shards import rows_of_shard
from scripts.ir.collection import read_corpus
from scripts.models.adapters import adapter
from scripts.models.cutting import cutting_encoder
from scripts.models.loaded import load_prompted
from scripts.models.prompts import fact, prompts_of
from scripts.models.running import computed_by


class IndexForm(Protocol):
    """A module of an index that is a folder: term_index, token_index."""

    def write_index(self, folder: Path, chunks: Iterable[Any], checkpoint: Path, shard: bool = False) -> Any:
        """Write what documents became, in chunks, into an empty folder."""

    def facts(self, index: Any) -> dict[str, float]:
        """What the timing says of an index."""


class TimedEncoding:
    """What `encode` makes of the documents `first` to `last` of a corpus in chunks; `seconds` is how long that took."""

    def __init__(self, encode: Callable[[list[str]], Any], corpus: Path, first: int, last: int) -> None:
        self.encode, self.corpus, self.first, self.last = encode, corpus, first, last
        self.progress = Progress("encoded", last - first, "document")
        self.seconds = Seconds()

    def chunks(self, size: int) -> Iterator[Any]:
        """What becomes of `size` documents at a time."""
        for texts in chunks(read_corpus(self.corpus, self.first, self.last), size):
            start = clock()
            encoded = self.encode(texts)
            self.seconds += clock() - start
            self.progress.add(len(texts))
            yield encoded


def index_corpus(description: str | None, form: IndexForm) -> None:
    """Run a script that encodes a corpus, or a shard of it, into an index of this form.

    Raises UserError where the corpus is empty.
    """
    options = parser(description, "checkpoint", "corpus", "index", "timing", settings=Settings).parse_args()
    settings: Settings = options.settings
    documents = sum(1 for _ in lines(options.corpus))
    if not documents:
        raise UserError(f"{options.corpus}: the corpus is empty, so there is nothing to encode")
    size = settings.batch_size * BATCHES
    first, last = rows_of_shard(documents, size, settings.shard)
    kind = adapter(settings.type)
    model = load_prompted(kind, options.checkpoint, settings)
    cutting = cutting_encoder(kind, model, settings, ("document",))
    encode = partial(cutting, batch_size=settings.batch_size, role="document")
    encode(next(chunks(read_corpus(options.corpus), settings.batch_size)))  # the warm-up
    encoding = TimedEncoding(encode, options.corpus, first, last)
    with atomic_folder(options.index) as folder:
        written = form.write_index(folder, encoding.chunks(size), options.checkpoint, settings.shard is not None)
        index_bytes = sum(file.stat().st_size for file in folder.iterdir())
    speed = (last - first) / encoding.seconds if last > first else 0.0
    print(f"{options.corpus}: {last - first} documents encoded, {speed:.1f} a second", file=sys.stderr)
    write_timing(
        options.timing,
        documents=last - first,
        **form.facts(written),
        index_bytes=index_bytes,
        seconds=encoding.seconds,
        documents_per_second=speed,
        **computed_by(kind, model),
        max_length=settings.max_length,
        batch_size=settings.batch_size,
        **({"max_document_length": settings.max_document_length} if settings.max_document_length else {}),
        **fact(prompts_of(kind, model, ("document",))),
    )
