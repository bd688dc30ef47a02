"""Matching queries with their candidates in one field: how often each candidate contains each query term.

The postings of the queries' terms form one sparse matrix of candidates by terms. A batch of queries then uses its rows,
so memory grows with the number of matches between candidates and terms, not with their product. Reads and writes no
files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ranktrial.features.families import Candidates, Matches, QueryTerms
from ranktrial.ir.term_counts import Field

QueryCounts = dict[str, Counter[str]]  # query id -> frequency of its terms


def key_frequencies(counts: np.ndarray) -> np.ndarray:
    """The counts of a query's terms divided by the largest of them, which is Terrier's key frequency."""
    return counts / counts.max() if len(counts) else counts


@dataclass(frozen=True)
class Pairs:
    """Queries with their candidates, query by query; `rows` index the term counts, -1 if a document has none."""

    queries: list[str]
    query: np.ndarray  # index of each pair's query in `queries`
    rows: np.ndarray
    score: np.ndarray
    rank: np.ndarray


class Matcher:
    """A field of an index, with the terms of some queries and the rows of their candidates loaded."""

    def __init__(self, field: Field, queries: QueryCounts, rows: np.ndarray) -> None:
        """Read what the queries need; `rows` are those of all candidates, -1 for one that is not in the index."""
        self.field, self.queries = field, queries
        self.documents, self.tokens = len(field.lengths), field.tokens
        terms = sorted({term for counts in queries.values() for term in counts})
        self.column = {term: column for column, term in enumerate(terms)}
        self.candidates = np.unique(rows[rows >= 0])
        self.place = np.full(self.documents + 1, -1, dtype=np.int32)  # the last entry belongs to row -1
        self.place[self.candidates] = np.arange(len(self.candidates), dtype=np.int32)
        self.df = np.zeros(len(terms))
        self.cf = np.zeros(len(terms))
        self.matrix = self._matrix(terms)

    def _matrix(self, terms: list[str]) -> sparse.csr_array:
        """The matrix of candidates by terms; also fills df and cf."""
        columns, places, counts = [], [], []
        for column, term in enumerate(terms):
            rows, frequencies = self.field.entries(term)
            self.df[column], self.cf[column] = len(rows), frequencies.sum(dtype=np.int64)
            held = self.place[rows]
            kept = held >= 0
            places.append(held[kept])
            counts.append(np.asarray(frequencies[kept], dtype=np.int32))
            columns.append(np.full(int(kept.sum()), column, dtype=np.int32))
        entries = (joined(counts), (joined(places), joined(columns)))
        return sparse.csr_array(entries, shape=(len(self.candidates), len(terms)), dtype=np.int32)

    def match(self, pairs: Pairs) -> Candidates:
        """The matches of pairs in this field."""
        bounds = np.searchsorted(pairs.query, np.arange(len(pairs.queries) + 1))
        weight_of = np.zeros(len(self.column))  # of each term in the current query
        pair, tf, weight, column, queries = [], [], [], [], []
        for name, start, end in zip(pairs.queries, bounds, bounds[1:], strict=False):
            counted = self.queries[name]
            own = np.array([self.column[term] for term in counted], dtype=np.int32)
            counts = np.array(list(counted.values()), dtype=np.float64)
            queries.append(QueryTerms(counts, self.df[own]))
            weight_of[own] = key_frequencies(counts)
            known = np.flatnonzero(pairs.rows[start:end] >= 0) + start
            held = self.matrix[self.place[pairs.rows[known]]]
            mine = np.flatnonzero(weight_of[held.indices])  # a candidate may also contain terms of other queries
            pair.append(np.repeat(known, np.diff(held.indptr))[mine])
            tf.append(held.data[mine])
            column.append(held.indices[mine])
            weight.append(weight_of[column[-1]])
            weight_of[own] = 0
        lengths = np.where(pairs.rows >= 0, self.field.lengths[pairs.rows], 0).astype(np.float64)
        matches = Matches(
            pair=joined(pair),
            tf=joined(tf).astype(np.float64),
            document_length=lengths[joined(pair)],
            key_frequency=joined(weight),
            df=self.df[joined(column)],
            cf=self.cf[joined(column)],
            documents=self.documents,
            tokens=self.tokens,
        )
        return Candidates(pairs.query, pairs.score, pairs.rank, lengths, queries, matches)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """The arrays concatenated; an empty array if there are none."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
