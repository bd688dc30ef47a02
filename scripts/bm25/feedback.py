"""Pseudo-relevance feedback by Anserini, so that scores are Pyserini's: RM3 and Rocchio.

The index has to keep the terms of its documents (`vectors`). A term that more than a tenth of all documents have never
joins a query. Rocchio sees the documents that a search keeps, so it is tuned at the depth of the run.
"""

from __future__ import annotations

from scripts.bm25.fields import FieldSearcher
from scripts.bm25.lucene import Searcher
from scripts.common.errors import UserError
from scripts.ir.feedback import METHODS, NEGATIVE, parameters_of


def feed_back(searcher: Searcher | FieldSearcher, feedback: dict[str, dict[str, float]]) -> None:
    """Search with feedback from now on: the parameters of one method; none of none. Raises UserError for others."""
    for method, parameters in feedback.items():
        if method not in METHODS or set(parameters) != set(parameters_of(method, parameters)):
            known = "; ".join(f"{name} has {', '.join(names)}" for name, names in METHODS.items())
            raise UserError(f"no feedback {method!r} with {', '.join(parameters) or 'no parameters'}; {known}")
        if isinstance(searcher, FieldSearcher):
            raise UserError("feedback needs an index with fields: together, and another analyzer than standard")
        (_rm3 if method == "rm3" else _rocchio)(searcher, parameters)


def _rm3(searcher: Searcher, given: dict[str, float]) -> None:
    counts = [int(given[name]) for name in ("feedback_terms", "feedback_documents")]
    # Anserini's default, terms of a to z and digits alone, is for English: of other languages it takes most or all.
    of_english = searcher.analyzer == "english"
    searcher.java.set_rm3(None, *counts, float(given["original_query_weight"]), False, of_english)


def _rocchio(searcher: Searcher, given: dict[str, float]) -> None:
    counts = ("feedback_terms", "feedback_documents", "negative_terms", "negative_documents")
    weights = [float(given.get(name, 0)) for name in ("alpha", "beta", NEGATIVE)]
    searcher.java.set_rocchio(None, *(int(given.get(name, 1)) for name in counts), *weights, False, NEGATIVE in given)
