"""Transfers the hits of a search from Java, in a few calls for all of them.

Reading one hit through the bridge between Java and Python costs more than finding it. So Java's own streams collect the
ids into one string and the scores into one array; they map by method handles, which need no compiled class of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import Any


class Hits:
    """Searches by one Java searcher, each list of hits as document -> score, best first."""

    def __init__(self, searcher: Any, java_class: Callable[[str], Any]) -> None:
        """`searcher` is Anserini's SimpleSearcher, `java_class` returns a class of its Java by name."""
        self.searcher, self.java_class = searcher, java_class
        self.lookup = java_class("java.lang.invoke.MethodHandles").publicLookup()
        self.named = java_class("java.lang.Class").forName
        self.type = java_class("java.lang.invoke.MethodType").methodType
        self.list = java_class("java.util.ArrayList")
        thing, kind = self.named("java.lang.Object"), self.named("io.anserini.search.ScoredDoc")
        self.whole, real = (java_class(f"java.lang.{name}").TYPE for name in ("Integer", "Float"))
        static, field = self.lookup.findStatic, self.lookup.findGetter
        things, stream = self.named("[Ljava.lang.Object;"), self.named("java.util.stream.Stream")
        self.id = self._as("Function", field(kind, "docid", self.named("java.lang.String")))
        self.score = self._as("ToDoubleFunction", field(kind, "score", real))
        lengths = static(self.named("java.lang.reflect.Array"), "getLength", self.type(self.whole, thing))
        self.length = self._as("ToIntFunction", lengths)
        self.stream = self._as("Function", static(self.named("java.util.Arrays"), "stream", self.type(stream, things)))
        self.get = self.lookup.findVirtual(self.named("java.util.Map"), "get", self.type(thing, thing))
        by_text = self.type(self.named("[Lio.anserini.search.ScoredDoc;"), self.named("java.lang.String"), self.whole)
        search = self.lookup.findVirtual(self.named("io.anserini.search.SimpleSearcher"), "search", by_text)
        self.search = search.bindTo(searcher)
        self.search_to = cache(self._search_to)
        newline = java_class("java.lang.String")("\n")
        self.joined = java_class("java.util.stream.Collectors").joining(_cast("java.lang.CharSequence", newline))

    def of_one(self, text: str, depth: int) -> dict[str, float]:
        """The `depth` best documents of a query."""
        return self._taken(self._all([text]).stream().map(self.search_to(depth)).toList())[0]

    def of_batch(self, queries: dict[str, str], depth: int, threads: int) -> list[dict[str, float]]:
        """The `depth` best documents of each query, searched by `threads` threads."""
        ids = self._all(queries)
        by_query = self.searcher.batch_search(self._all(queries.values()), ids, depth, threads)
        found = ids.stream().map(self._as("Function", self.get.bindTo(by_query))).toList()
        return self._taken(found)

    def _search_to(self, depth: int) -> Any:
        """The search to this depth as a function of the text."""
        handles = self.java_class("java.lang.invoke.MethodHandles")
        # Not by insertArguments: the bridge crashes if an integer is one of several arguments.
        return self._as("Function", handles.collectArguments(self.search, 1, handles.constant(self.whole, depth)))

    def _taken(self, found: Any) -> list[dict[str, float]]:
        """A Java list of arrays of hits, converted to Python."""
        flat = found.stream().flatMap(self.stream).toList()
        ids = iter(flat.stream().map(self.id).collect(self.joined).split("\n"))
        scores = iter(flat.stream().mapToDouble(self.score).toArray())
        lengths = found.stream().mapToInt(self.length).toArray()
        return [dict(zip(islice(ids, length), islice(scores, length), strict=True)) for length in lengths]

    def _all(self, texts: Iterable[str]) -> Any:
        array = self.list()
        for text in texts:
            array.add(text)
        return array

    def _as(self, interface: str, handle: Any) -> Any:
        """The method handle as one of Java's functional interfaces."""
        name = f"java.util.function.{interface}"
        proxies = self.java_class("java.lang.invoke.MethodHandleProxies")
        return _cast(name, proxies.asInterfaceInstance(self.named(name), handle))


def _cast(name: str, instance: Any) -> Any:
    """The instance cast to the class of this name, by which the bridge chooses methods."""
    from jnius import cast

    return cast(name, instance)
