"""Builds a Lucene index in parts, several at a time, and joins them in the order of the corpus.

One writer that several threads fill has its documents in the order in which they happened to arrive. So each part is a
contiguous piece of the corpus with a writer of its own, and how many there are depends on the corpus alone: the index
is the same for any number of threads. Joined parts stay segments of their own, which costs a search nothing measurable.

The threads are Java's. Those of Python cannot call Java side by side: the bridge keeps the object whose overloaded
method is asked for where another thread finds it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import Any

from scripts.bm25.indexer import Indexer
from scripts.bm25.lucene import directory, java_class, refusal
from scripts.common.threads import threads
from scripts.ir.collection import Document

SMALLEST = 50_000  # documents; fewer are indexed in seconds
MOST = 8
BUFFER = 2048  # megabytes of documents that Anserini holds in memory; all parts have them together
BLANK = "".join(map(chr, range(ord(" ") + 1)))  # the characters that Java's trim takes away


def cut(total: int) -> list[tuple[int, int]]:
    """The first and the last place (not included) of each part: 1, 2, 4 or 8, which 2 or 4 threads share evenly."""
    count = min(1 << max((total // SMALLEST).bit_length() - 1, 0), MOST)
    return [(total * part // count, total * (part + 1) // count) for part in range(count)]


class PartsIndexer:
    """Builds an index of parts with `threads()` threads; each part by an `Indexer` of its own, in a folder beside."""

    def __init__(self, folder: Path, parts: int, analyzer: str, vectors: bool = False) -> None:
        self.folder = folder
        places = [folder.parent / f"part-{part}" for part in range(parts)]
        self.parts = [Indexer(place, analyzer, vectors, BUFFER // parts) for place in places]
        self.handles = java_class("java.lang.invoke.MethodHandles")
        self.lookup, self.named = self.handles.publicLookup(), java_class("java.lang.Class").forName
        self.adders = [self._adder(part) for part in self.parts]
        self.threads = java_class("java.util.concurrent.Executors").newFixedThreadPool(min(threads(), parts))

    @staticmethod
    def records(chunks: Iterable[list[Document]]) -> list[tuple[int, str]]:
        """A chunk of each part in the form in which `add` takes them: how many documents, as JSON in one string.

        One without any text is left out: what is blank for Java's `trim`, by which Anserini would leave it out.
        """
        made = []
        for chunk in chunks:
            texts = [(document.id, text) for document in chunk if (text := document.contents).strip(BLANK)]
            made.append(
                (len(texts), "\n".join(f'{{"id":{quoted(name)},"contents":{quoted(text)}}}' for name, text in texts))
            )
        return made

    def add(self, records: list[tuple[int, str]]) -> int:
        """Add a chunk of each part; returns how many documents were indexed."""
        given = [(part, adder, *record) for part, adder, record in zip(self.parts, self.adders, records, strict=True)]
        given = [(part, adder, count, text) for part, adder, count, text in given if count]
        arrived = self._at_once([adder.bindTo(text) for _, adder, _, text in given])
        for (part, _, count, _), indexed in zip(given, arrived, strict=True):
            part.indexed += indexed
            if indexed < count:
                raise part.unwritten(indexed, count)
        return sum(arrived)

    def close(self) -> None:
        """Write what is in memory, and the index in the folder of the parts in their order."""
        end = self._method("io.anserini.index.SimpleIndexer", "close", java_class("java.lang.Void").TYPE)
        self._at_once([end.bindTo(part.java) for part in self.parts])
        self.threads.shutdown()
        for part in self.parts:
            part.check()
        join(self.folder, [part.folder for part in self.parts if part.indexed])

    def _at_once(self, handles: list) -> list:
        """What the handles give that need no argument, each called by one of the threads."""
        from jnius import JavaException, cast

        proxies, kind = java_class("java.lang.invoke.MethodHandleProxies"), "java.util.concurrent.Callable"
        tasks = java_class("java.util.ArrayList")()
        for handle in handles:
            tasks.add(cast(kind, proxies.asInterfaceInstance(self.named(kind), handle)))
        try:
            return [future.get() for future in self.threads.invokeAll(tasks).toArray()]
        except JavaException as error:
            raise refusal(error, f"{self.folder}: the index cannot be written") from None

    def _adder(self, part: Indexer) -> Any:
        """What adds documents to a part: takes JSON, gives the number indexed.

        Anserini's own method for many documents starts threads anew each time, and a parser for each document.
        """
        from jnius import cast

        node = self.named("com.fasterxml.jackson.databind.JsonNode")
        predicate = "java.util.function.Predicate"
        one = self._method("io.anserini.index.SimpleIndexer", "addJsonNode", java_class("java.lang.Boolean").TYPE, node)
        proxies = java_class("java.lang.invoke.MethodHandleProxies")
        accepts = cast(predicate, proxies.asInterfaceInstance(self.named(predicate), one.bindTo(part.java)))
        stream, text = self.named("java.util.stream.Stream"), self.named("java.lang.String")
        jackson, many = "com.fasterxml.jackson.databind", "java.util.List"
        chosen = self._method("java.util.stream.Stream", "filter", stream, self.named(predicate))
        all_accepted = self.handles.constant(self.named(predicate), accepts)
        read = self._method(f"{jackson}.ObjectReader", "readValues", self.named(f"{jackson}.MappingIterator"), text)
        adder = read.bindTo(java_class(f"{jackson}.ObjectMapper")().readerFor(node))
        for step in (
            self._method(f"{jackson}.MappingIterator", "readAll", self.named(many)),
            self._method(many, "stream", stream),
            self.handles.collectArguments(chosen, 1, all_accepted),
            self._method("java.util.stream.Stream", "count", java_class("java.lang.Long").TYPE),
        ):
            adder = self.handles.filterReturnValue(adder, step)
        return adder

    def _method(self, owner: str, name: str, gives: Any, *takes: Any) -> Any:
        return self.lookup.findVirtual(
            self.named(owner), name, java_class("java.lang.invoke.MethodType").methodType(gives, *takes)
        )


def join(folder: Path, parts: list[Path]) -> None:
    """Write the index in `folder` of these parts in their order, and delete them. Raises UserError where it cannot."""
    from jnius import JavaException

    package = "org.apache.lucene.index"
    settings = java_class(f"{package}.IndexWriterConfig")()
    settings.setMergePolicy(java_class(f"{package}.NoMergePolicy").INSTANCE)
    try:
        writer = java_class(f"{package}.IndexWriter")(directory(folder), settings)
        for part in parts:
            writer.addIndexes(directory(part))
            shutil.rmtree(part)
        writer.close()
    except JavaException as error:
        raise refusal(error, f"{folder}: the index cannot be written") from None
