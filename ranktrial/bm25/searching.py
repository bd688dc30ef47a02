"""Searches of all queries, without the documents excluded for each, and with pseudo-relevance feedback on request.

Feedback is Anserini's, so that scores are Pyserini's: RM3 and Rocchio. The index must store the terms of its documents
(`vectors`). A term that occurs in more than a tenth of all documents is never added to a query. Rocchio uses the
documents that a search returns, so it is tuned at the depth of the run. A document that is excluded for a query does
not contribute terms to it either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Protocol, TypeGuard

from ranktrial.bm25.lucene import FieldSearcher, Searcher, java_class, make_analyzer
from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Excluded, most, without
from ranktrial.ir.feedback import METHODS, NEGATIVE, parameters_of
from ranktrial.ir.trec import Run


def feed_back(searcher: Searcher | FieldSearcher, feedback: dict[str, dict[str, float]]) -> None:
    """Search with feedback from now on, with the parameters of one method, or without. Raises UserError for others."""
    for method, parameters in feedback.items():
        if method not in METHODS or set(parameters) != set(parameters_of(method, parameters)):
            known = "; ".join(f"{name} has {', '.join(names)}" for name, names in METHODS.items())
            raise UserError(f"no feedback {method!r} with {', '.join(parameters) or 'no parameters'}; {known}")
        if isinstance(searcher, FieldSearcher):
            raise UserError("feedback needs an index with fields: together, and another analyzer than standard")
        (_rm3 if method == "rm3" else _rocchio)(searcher, parameters)


def adds_terms(searcher: Searcher, texts: Iterable[str]) -> bool:
    """Whether feedback adds a new term to at least one of the queries."""
    analyzer, tools = make_analyzer(searcher.analyzer), java_class("io.anserini.analysis.AnalyzerUtils")
    return any(_terms(searcher, text) - set(tools.analyze(analyzer, text)) for text in texts)


def _terms(searcher: Searcher, text: str) -> set[str]:
    """The weighted terms of the second search of a query."""
    weights = searcher.java.get_feedback_terms(text)
    return {entry.getKey() for entry in weights.entrySet().toArray() if entry.getValue()} if weights else set()


def _rm3(searcher: Searcher, given: dict[str, float]) -> None:
    counts = [int(given[name]) for name in ("feedback_terms", "feedback_documents")]
    # Anserini's default, only terms of a to z and digits, is for English: in other languages it would drop most or all.
    of_english = searcher.analyzer == "english"
    searcher.java.set_rm3(None, *counts, float(given["original_query_weight"]), False, of_english)


def _rocchio(searcher: Searcher, given: dict[str, float]) -> None:
    counts = ("feedback_terms", "feedback_documents", "negative_terms", "negative_documents")
    weights = [float(given.get(name, 0)) for name in ("alpha", "beta", NEGATIVE)]
    searcher.java.set_rocchio(None, *(int(given.get(name, 1)) for name in counts), *weights, False, NEGATIVE in given)


def feeds_back(searcher: object) -> TypeGuard[Searcher]:
    """Whether a searcher searches with feedback."""
    return isinstance(searcher, Searcher) and bool(searcher.java.use_rm3() or searcher.java.use_rocchio())


def search_without(searcher: Searcher, text: str, excluded: Collection[str], depth: int) -> dict[str, float]:
    """The `depth` best documents of one query, searched with feedback as if there were none of the excluded ones.

    As Anserini's `SimpleSearcher` does, but both searches are restricted to the other documents: it accepts no filter.
    """
    java = searcher.java
    arguments = java_class("io.anserini.search.SearchCollection$Args")()
    arguments.hits = depth
    seen = arguments.rerankcutoff if java.use_rm3() else depth
    query = java.generator.buildQuery("contents", java.get_analyzer(), text)
    terms = java_class("io.anserini.analysis.AnalyzerUtils").analyze(java.get_analyzer(), text)
    others = _others(excluded)
    found = java.searcher.search(_both(query, others), seen, java.BREAK_SCORE_TIES_BY_DOCID, True)
    documents = java_class("io.anserini.search.ScoredDocs").fromTopDocs(found, java.searcher)
    made = java_class("io.anserini.rerank.RerankerContext")
    context = made(java.searcher, None, query, None, text, terms, others, arguments)
    ranked = java.cascade.run(documents, context)
    return dict(zip(ranked.docids, ranked.scores, strict=True))


def _others(excluded: Collection[str]) -> Any:
    """A query that matches all documents except the excluded ones."""
    package = "org.apache.lucene.search"
    builder, occurs = java_class(f"{package}.BooleanQuery$Builder")(), java_class(f"{package}.BooleanClause$Occur")
    builder.add(java_class(f"{package}.MatchAllDocsQuery")(), occurs.FILTER)
    for document in sorted(excluded):
        term = java_class("org.apache.lucene.index.Term")("id", document)
        builder.add(java_class(f"{package}.TermQuery")(term), occurs.MUST_NOT)
    return builder.build()


def _both(query: Any, others: Any) -> Any:
    """The query, with unchanged scores, restricted to the documents that match `others`."""
    package = "org.apache.lucene.search"
    builder, occurs = java_class(f"{package}.BooleanQuery$Builder")(), java_class(f"{package}.BooleanClause$Occur")
    builder.add(query, occurs.MUST)
    builder.add(others, occurs.FILTER)
    return builder.build()


class Searches(Protocol):
    """The common interface of searchers of local indexes and of indexes on a server."""

    def batch(self, queries: dict[str, str], depth: int) -> Run: ...


def search_all(searcher: Searches, queries: dict[str, str], depth: int, excluded: Excluded) -> Run:
    """The `depth` best documents of each query that are not excluded for it, in the order of the queries.

    As many more documents are retrieved as are excluded. With feedback this would be wrong, since an excluded document
    would contribute terms to the query: there, queries with excluded documents are searched one by one among the
    others.
    """
    if feeds_back(searcher):
        plain = {query: text for query, text in queries.items() if query not in excluded}
        found = searcher.batch(plain, depth)
        return {
            query: found[query] if query in plain else search_without(searcher, text, excluded[query], depth)
            for query, text in queries.items()
        }
    found = searcher.batch(queries, depth + most(excluded))
    return {query: without(scores, excluded.get(query, ()), depth) for query, scores in found.items()}
