"""Encode a corpus into an index of the form of the model's type (see indices/).

Reads a checkpoint and a prepared corpus; writes the index, a folder in the corpus's order, and the timing. It is
written chunk by chunk, so that memory does not grow with the corpus. For a corpus in shards it writes one shard, which
may be empty: shards consist of whole chunks, so that together they equal the index of one job.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, lines
from ranktrial.common.progress import Progress
from ranktrial.common.timing import Seconds, clock, write_timing
from ranktrial.inference.encoding_settings import EncodingSettings as Settings
from ranktrial.inference.indices import folder_bytes, index_form
from ranktrial.inference.shards import rows_of_shard
from ranktrial.ir.collection import Document, read_corpus
from ranktrial.models.adapters import Adapter, adapter, index_of
from ranktrial.models.cutting import cutting_encoder
from ranktrial.models.kept_answers import keep_answers_beside
from ranktrial.models.kernels import choose
from ranktrial.models.loaded import load_prompted
from ranktrial.models.prompts import fact, prompts_of
from ranktrial.models.running import computed_by, is_module


class TimedEncoding:
    """The encoding of documents `first` to `last` of a corpus in chunks; `seconds` is its duration."""

    def __init__(self, encode: Callable[[list[str]], Any], corpus: Path, first: int, last: int) -> None:
        self.encode, self.corpus, self.first, self.last = encode, corpus, first, last
        self.progress = Progress("encoded", last - first, "document")
        self.seconds = Seconds()

    def chunks(self, size: int) -> Iterator[Any]:
        """Yield the encoded documents in chunks of `size`."""
        for texts in chunks(read_corpus(self.corpus, self.first, self.last), size):
            start = clock()
            encoded = self.encode(texts)
            self.seconds += clock() - start
            self.progress.add(len(texts))
            yield encoded

    @property
    def speed(self) -> float:
        """Documents per second."""
        return (self.last - self.first) / self.seconds if self.last > self.first else 0.0


def chunks(documents: Iterable[Document], size: int) -> Iterator[list[str]]:
    """Yield the contents of the documents in chunks of `size`."""
    contents = (document.contents for document in documents)
    while chunk := list(islice(contents, size)):
        yield chunk


def timed_encoding(model_type: Adapter, model: Any, corpus: Path, settings: Settings) -> TimedEncoding:
    """The encoding of a corpus, or of its shard, after a warm-up batch.

    Raises UserError if the corpus is empty.
    """
    count = sum(1 for _ in lines(corpus))
    if not count:
        raise UserError(f"{corpus}: the corpus is empty, so there is nothing to encode")
    cutting = cutting_encoder(model_type, model, settings, ("document",))
    encode = partial(cutting, batch_size=settings.batch_size, role="document")
    encode(next(chunks(read_corpus(corpus), settings.batch_size)))
    return TimedEncoding(encode, corpus, *rows_of_shard(count, settings.chunk, settings.shard))


def chunk_of(model: Any, settings: Settings) -> int:
    """The number of documents passed to a loaded model at a time: those of a unit of shards, or what fills a GPU."""
    if not is_module(model):
        return settings.chunk
    from ranktrial.models.gpu import at_once

    return at_once(model, settings.chunk)


def encode(checkpoint: Path, corpus: Path, index: Path, timing: Path, settings: Settings) -> None:
    """Encode a corpus into an index of the form of the model's type (see indices/)."""
    model_type, form = adapter(settings.type), index_form(index_of(settings.type))
    choose(settings.kernels)
    keep_answers_beside(index)
    model = load_prompted(model_type, checkpoint, settings)
    encoding = timed_encoding(model_type, model, corpus, settings)
    with atomic_folder(index) as folder:
        chunks_of_it = encoding.chunks(chunk_of(model, settings))
        written = form.write_index(folder, chunks_of_it, checkpoint, settings.shard is not None)
        index_bytes = folder_bytes(folder)
    documents = encoding.last - encoding.first
    print(f"{corpus}: {documents} documents encoded, {encoding.speed:.1f} a second", file=sys.stderr)
    write_timing(
        timing,
        documents=documents,
        **form.facts(written),
        index_bytes=index_bytes,
        seconds=encoding.seconds,
        documents_per_second=encoding.speed,
        **computed_by(model_type, model),
        max_length=settings.max_length,
        batch_size=settings.batch_size,
        **({"max_document_length": settings.max_document_length} if settings.max_document_length else {}),
        **fact(prompts_of(model_type, model, ("document",))),
    )


if __name__ == "__main__":
    job(encode)
