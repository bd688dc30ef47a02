"""Builds Pyserini's index of documents, by Anserini's SimpleIndexer; the whole corpus or a part of it (parts.py)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path

from scripts.bm25.lucene import directory, java_class, make_analyzer, refusal
from scripts.common.errors import UserError
from scripts.ir.collection import Document

LITTLE = 1 << 16  # bytes; a disk with less is full


class Indexer:
    """Builds an index with one thread, so that the same corpus makes the same index."""

    def __init__(
        self, folder: Path, analyzer: str = "english", vectors: bool = False, buffer: int | None = None
    ) -> None:
        """With `vectors` the index keeps the terms of each document, from which feedback takes its own.

        `buffer` are the megabytes of documents that memory holds at most; Anserini's 2048 unless given.
        """
        kind = java_class("io.anserini.index.SimpleIndexer")
        options = ["-input", "", "-collection", "JsonCollection", "-index", str(folder), "-threads", "1"]
        if analyzer != "english":
            make_analyzer(analyzer)  # of a code that it does not know, Anserini indexes as English
            options += ["-language", analyzer]
        options += ["-storeDocvectors"] if vectors else []
        # What it logs of a full disk is told in the one line.
        logger = java_class("org.apache.logging.log4j.core.config.Configurator")
        logger.setLevel("io.anserini.index.SimpleIndexer", java_class("org.apache.logging.log4j.Level").OFF)
        self.folder, self.indexed = folder, 0
        self.java = self._call(kind, options)
        if buffer:
            self._call(self._writer_settings).setRAMBufferSizeMB(float(buffer))

    @staticmethod
    def records(documents: Iterable[Document]) -> list[str]:
        """Documents in the form in which `add` takes them; another thread may make it."""
        # What json.dumps makes of such a record, in half its time.
        return [f'{{"id": {quoted(document.id)}, "contents": {quoted(document.contents)}}}' for document in documents]

    def add(self, records: list[str]) -> int:
        """Add documents; returns how many were indexed (one without any text is not)."""
        indexed = self._call(self.java.addRawDocuments, records)
        self.indexed += indexed
        return indexed

    def close(self) -> None:
        """Write what is in memory to the folder, and see that all of it is there: Anserini keeps failures silent."""
        self._call(self.java.close)
        self.check()

    def check(self) -> None:
        """Raise UserError where not all documents are in the folder."""
        arrived = 0
        with suppress(UserError):
            arrived = self._call(self._arrived) if self.indexed else 0
        if arrived != self.indexed:
            raise self.unwritten(arrived, self.indexed)

    def unwritten(self, arrived: int, given: int) -> UserError:
        """The one line for documents that did not all arrive."""
        full = self.folder.exists() and shutil.disk_usage(self.folder).free < LITTLE
        reason = os.strerror(errno.ENOSPC) if full else f"{arrived} of {given} documents arrived"
        return UserError(f"{self.folder}: the index cannot be written ({reason})")

    def _arrived(self) -> int:
        reader = java_class("org.apache.lucene.index.DirectoryReader").open(directory(self.folder))
        try:
            return reader.numDocs()
        finally:
            reader.close()

    def _writer_settings(self):
        """The settings of Lucene's writer, which Anserini has in a private field."""
        from jnius import cast

        field = java_class("java.lang.Class").forName("io.anserini.index.SimpleIndexer").getDeclaredField("writer")
        field.setAccessible(True)
        getter = java_class("java.lang.invoke.MethodHandles").publicLookup().unreflectGetter(field).bindTo(self.java)
        writer = getter.invokeWithArguments(java_class("java.util.ArrayList")())
        return cast("org.apache.lucene.index.IndexWriter", writer).getConfig()

    def _call(self, method: Callable, *arguments):
        """Call Java. Raises UserError for what Java cannot do, such as writing to a full disk."""
        from jnius import JavaException

        try:
            return method(*arguments)
        except JavaException as error:
            raise refusal(error, f"{self.folder}: the index cannot be written") from None
