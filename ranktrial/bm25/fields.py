"""BM25 over chosen fields with a chosen analyser, directly on Lucene: as Elasticsearch does, without a server.

Pyserini's index has one field with the whole text and its own English analyser; `ranktrial/bm25/lucene.py` uses that.
Here title and text may be separate fields, of which the better score counts (`best`: Lucene's DisMax without a tie
breaker, Elasticsearch's multi_match of type best_fields), and the analyser may be Lucene's standard one, the default of
Elasticsearch: no stemming and no stop words. Scores are Lucene's own, and ties remain ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ranktrial.bm25.lucene import Indexer, Searcher, java_class, make_analyzer, refusal
from ranktrial.common.errors import UserError
from ranktrial.common.progress import track
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Run

PYSERINI = {"analyzer": "english", "fields": "together"}


def of_pyserini(analyzer: str, fields: str) -> bool:
    """Whether Pyserini itself makes and searches such indexes: one field, with the analyser of a language."""
    return fields == "together" and analyzer != "standard"


def contents(document: Document, fields: str) -> dict[str, str]:
    """The indexed text of a document by field: title and text separately (`best`) or together (`together`)."""
    if fields == "best":
        return {"title": document.title, "text": document.text}
    return {"contents": document.contents}


def open_index(
    index: Path, k1: float = 0.9, b: float = 0.4, analyzer: str = "english", fields: str = "together"
) -> Searcher | FieldSearcher:
    """The searcher of an index made with this analyser and these fields. Raises UserError if it is not complete."""
    if of_pyserini(analyzer, fields):
        return Searcher(index, k1, b, analyzer)
    return FieldSearcher(index, k1, b, analyzer, fields)


def score_by(searcher: Searcher | FieldSearcher, parameters: dict[str, float]) -> None:
    """Score by query likelihood if the parameters have mu, else by BM25 with their k1 and b."""
    if "mu" in parameters:
        searcher.set_mu(parameters["mu"])
    else:
        searcher.set_parameters(parameters["k1"], parameters["b"])


def open_indexer(folder: Path, analyzer: str, fields: str, vectors: bool = False) -> Indexer | FieldIndexer:
    """The builder of such an index. Raises UserError if it cannot store the terms of documents as requested."""
    if of_pyserini(analyzer, fields):
        return Indexer(folder, analyzer, vectors)
    if vectors:
        raise UserError("--settings: vectors need fields: together, and another analyzer than standard")
    return FieldIndexer(folder, analyzer, fields)


def _call(method: Callable, *arguments, message: str):
    from jnius import JavaException

    try:
        return method(*arguments)
    except JavaException as error:
        raise refusal(error, message) from None


def _directory(folder: Path):
    java = java_class("org.apache.lucene.store.FSDirectory")
    return java.open(java_class("java.io.File")(str(folder)).toPath())


class FieldSearcher:
    """An open index of `fields`; the methods are those of Pyserini's `Searcher` here."""

    def __init__(self, index: Path, k1: float, b: float, analyzer: str, fields: str) -> None:
        """Open `index`. Raises UserError if it is not a complete Lucene index."""
        opened = java_class("org.apache.lucene.index.DirectoryReader").open
        message = f"{index}: not a complete Lucene index, delete it and index again"
        self.reader = _call(lambda: opened(_directory(index)), message=message)
        self.java = java_class("org.apache.lucene.search.IndexSearcher")(self.reader.getContext())
        self.builder = java_class("org.apache.lucene.util.QueryBuilder")(make_analyzer(analyzer))
        self.best = java_class("org.apache.lucene.search.DisjunctionMaxQuery")
        self.array = java_class("java.util.ArrayList")
        self.hits = java_class("io.anserini.search.ScoredDocs")
        self.fields = list(contents(Document("", "", ""), fields))
        self.set_parameters(k1, b)

    def set_parameters(self, k1: float, b: float) -> None:
        """Score by BM25 with these k1 and b from now on."""
        self.java.setSimilarity(java_class("org.apache.lucene.search.similarities.BM25Similarity")(k1, b))

    def set_mu(self, mu: float) -> None:
        """Score by query likelihood, with Dirichlet smoothing by this mu, from now on."""
        self.java.setSimilarity(java_class("org.apache.lucene.search.similarities.LMDirichletSimilarity")(mu))

    def search(self, text: str, depth: int) -> dict[str, float]:
        """The `depth` best documents of one query, with their scores; empty if analysis leaves no term."""
        queries = self.array()
        for field in self.fields:
            query = self.builder.createBooleanQuery(field, text)
            if query is not None:
                queries.add(query)
        if not queries.size():
            return {}
        hits = self.hits.fromTopDocs(self.java.search(self.best(queries, 0.0), depth), self.java)
        return dict(zip(hits.docids, hits.scores, strict=True))

    def batch(self, queries: dict[str, str], depth: int, label: str = "searched") -> Run:
        """The `depth` best documents of each query, in the order of the queries."""
        return {query: self.search(queries[query], depth) for query in track(queries, label, len(queries), "query")}


class FieldIndexer:
    """Builds an index of `fields` with one thread, the documents in the order of the corpus."""

    def __init__(self, folder: Path, analyzer: str, fields: str) -> None:
        package = "org.apache.lucene.index"
        settings = java_class(f"{package}.IndexWriterConfig")(make_analyzer(analyzer))
        # Merges run synchronously and only of neighbours, so that the same corpus always makes the same index.
        settings.setMergeScheduler(java_class(f"{package}.SerialMergeScheduler")())
        settings.setMergePolicy(java_class(f"{package}.LogDocMergePolicy")())
        self.message, self.fields = f"{folder}: the index cannot be written", fields
        self.java = self._call(lambda: java_class(f"{package}.IndexWriter")(_directory(folder), settings))
        self.document, self.words, self.name = (
            java_class(f"org.apache.lucene.document.{kind}") for kind in ("Document", "TextField", "StringField")
        )
        self.stored = java_class("org.apache.lucene.document.Field$Store")

    @staticmethod
    def records(documents: Iterable[Document]) -> list[Document]:
        """Documents in the form that `add` takes: those with any text."""
        return [document for document in documents if document.contents]

    def add(self, records: list[Document]) -> int:
        """Add documents; returns how many were indexed."""
        for document in records:
            java = self.document()
            java.add(self.name("id", document.id, self.stored.YES))
            for field, text in contents(document, self.fields).items():
                java.add(self.words(field, text, self.stored.NO))
            self._call(self.java.addDocument, java)
        return len(records)

    def close(self) -> None:
        """Write the documents in memory to the folder."""
        self._call(self.java.close)

    def _call(self, method: Callable, *arguments):
        return _call(method, *arguments, message=self.message)
