"""Matches queries with their candidates in one field: which of a query's terms does each candidate hold how often.

The postings of the queries' terms become one sparse matrix of candidates by terms. A batch of queries then takes its
rows of it, so memory grows with the candidates and the terms that they hold, and not with their product. Reads and
writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from scripts.features.families import Candidates, Matches, QueryTerms
from scripts.ir.term_counts import Field

QueryCounts = dict[str, Counter[str]]  # query id -> its terms, and how often it has each


def key_frequencies(counts: np.ndarray) -> np.ndarray:
    """The counts of a query's terms over the largest of them, as Terrier weighs them."""
    return counts / counts.max() if len(counts) else counts


@dataclass(frozen=True)
class Pairs:
    """Queries and their candidates, in order; `rows` are the candidates' rows in the term counts, -1 where none."""

    queries: list[str]
    query: np.ndarray  # the place of each pair's query in `queries`
    rows: np.ndarray
    score: np.ndarray
    rank: np.ndarray


class Matcher:
    """A field of an index, of which the terms of some queries and the rows of their candidates were read."""

    def __init__(self, field: Field, queries: QueryCounts, rows: np.ndarray) -> None:
        """Read what the queries need; `rows` are those of all candidates, -1 for one that the index lacks."""
        self.field, self.queries = field, queries
        self.documents, self.tokens = len(field.lengths), field.tokens
        terms = sorted({term for counts in queries.values() for term in counts})
        self.column = {term: column for column, term in enumerate(terms)}
        self.candidates = np.unique(rows[rows >= 0])
        self.place = np.full(self.documents + 1, -1, dtype=np.int32)  # the last one is of row -1
        self.place[self.candidates] = np.arange(len(self.candidates), dtype=np.int32)
        self.df = np.zeros(len(terms))
        self.cf = np.zeros(len(terms))
        self.matrix = self._matrix(terms)

    def _matrix(self, terms: list[str]) -> sparse.csr_array:
        """Candidates by terms; also fills in df and cf."""
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
        """The matches of pairs, in this field."""
        known = pairs.rows >= 0
        pair, column, tf = self._entries(np.flatnonzero(known), self.place[pairs.rows[known]])
        weights, queries = self._weights(pairs.queries)
        weight = np.asarray(weights[pairs.query[pair], column]).ravel()
        mine = weight > 0  # the candidate also holds terms of other queries
        pair, column = pair[mine], column[mine]
        lengths = np.where(known, self.field.lengths[pairs.rows], 0).astype(np.float64)
        matches = Matches(
            pair,
            tf[mine].astype(np.float64),
            lengths[pair],
            weight[mine],
            self.df[column],
            self.cf[column],
            self.documents,
            self.tokens,
        )
        return Candidates(pairs.query, pairs.score, pairs.rank, lengths, queries, matches)

    def _entries(self, pair: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(pair, term, tf) of all that the candidates in these places of the matrix hold."""
        rows = self.matrix[places]
        return np.repeat(pair, np.diff(rows.indptr)), rows.indices, rows.data

    def _weights(self, names: Iterable[str]) -> tuple[sparse.csr_array, list[QueryTerms]]:
        """Queries by terms: the key frequencies; and what is known of each query's terms."""
        columns, weights, starts, queries = [], [], [0], []
        for name in names:
            counted = self.queries[name]
            own = np.array([self.column[term] for term in counted], dtype=np.int32)
            counts = np.array(list(counted.values()), dtype=np.float64)
            columns.append(own)
            weights.append(key_frequencies(counts))
            starts.append(starts[-1] + len(own))
            queries.append(QueryTerms(counts, self.df[own]))
        shape = (len(queries), len(self.column))
        return sparse.csr_array((joined(weights), joined(columns), np.array(starts)), shape=shape), queries


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """The arrays as one; without any an empty one."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
