"""Lengths, and statistics of a query's terms that do not depend on a ranking. Reads and writes no files.

The idf of a term is lg((N+1)/(df+.5)), Terrier's idfDFR (Amati and van Rijsbergen 2002, TOIS 20(4)): positive, also for
a term that occurs in no document, and finite. For a query without terms after analysis, each of these features is 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranktrial.features.families import Candidates, QueryTerms, of_pairs

NAME = "lengths-and-terms"


def of_queries(candidates: Candidates, value: Callable[[QueryTerms], float]) -> np.ndarray:
    """A value of each query, for each of its pairs; 0 for a query without terms."""
    values = [value(query) if len(query.counts) else 0.0 for query in candidates.queries]
    return np.array(values, dtype=np.float64)[candidates.query]


def idf(candidates: Candidates, query: QueryTerms) -> np.ndarray:
    """lg((N+1)/(df+.5)) of each distinct term of a query."""
    return np.log2((candidates.matches.documents + 1) / (query.df + 0.5))


@of_pairs("document_length")
def document_length(candidates: Candidates) -> np.ndarray:
    """The number of tokens of the document after analysis (Qin et al. 2010, LETOR, Inf. Retrieval 13(4))."""
    return candidates.document_length


@of_pairs("query_length", by_field=False)
def query_length(candidates: Candidates) -> np.ndarray:
    """The number of tokens of the query after analysis, with repetitions."""
    return of_queries(candidates, lambda query: query.counts.sum())


@of_pairs("query_idf_sum")
def query_idf_sum(candidates: Candidates) -> np.ndarray:
    """The sum of idf over the query's distinct terms.

    Cronen-Townsend et al. (2002); Kwok (1996) weights rare terms in this way.
    """
    return of_queries(candidates, lambda query: idf(candidates, query).sum())


@of_pairs("query_idf_mean")
def query_idf_mean(candidates: Candidates) -> np.ndarray:
    """The mean idf of the query's distinct terms: AvIDF of He and Ounis (2004), Inferring Query Performance, SPIRE."""
    return of_queries(candidates, lambda query: idf(candidates, query).mean())


@of_pairs("query_idf_max")
def query_idf_max(candidates: Candidates) -> np.ndarray:
    """The idf of the query's rarest term: MaxIDF of Scholer, Williams and Turpin (2004), JASIST 55(7)."""
    return of_queries(candidates, lambda query: idf(candidates, query).max())


@of_pairs("query_idf_min")
def query_idf_min(candidates: Candidates) -> np.ndarray:
    """The idf of the query's most common term."""
    return of_queries(candidates, lambda query: idf(candidates, query).min())


@of_pairs("matched_share")
def matched_share(candidates: Candidates) -> np.ndarray:
    """The share of the query's distinct terms in the document (Qin and Liu 2013, LETOR 4.0, covered terms)."""
    matched = np.bincount(candidates.matches.pair, minlength=len(candidates.query))
    return matched / np.maximum(of_queries(candidates, lambda query: len(query.counts)), 1)


@of_pairs("matched_idf_share")
def matched_idf_share(candidates: Candidates) -> np.ndarray:
    """The idf of the query terms that the document contains, divided by that of all distinct terms of the query."""
    matches = candidates.matches
    weights = np.log2((matches.documents + 1) / (matches.df + 0.5))
    matched = np.bincount(matches.pair, weights=weights, minlength=len(candidates.query))
    total = query_idf_sum.function(candidates)
    return np.divide(matched, total, out=np.zeros(len(total)), where=total > 0)
