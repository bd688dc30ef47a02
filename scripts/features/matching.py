"""Matches queries with their candidates in one field: which of a query's terms does each candidate hold how often.

The postings of the queries' terms become one sparse matrix of candidates by terms. A batch of queries then takes its
rows of it, so memory grows with the candidates and the terms that they hold, and not with their product. Reads and
writes nothing.
"""

from __future__ import annotations

from collections import Counter
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
    """Queries with their candidates, query by query; `rows` are those of the term counts, -1 for a document without."""

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
        bounds = np.searchsorted(pairs.query, np.arange(len(pairs.queries) + 1))
        weight_of = np.zeros(len(self.column))  # of each term in the query at hand
        pair, tf, weight, column, queries = [], [], [], [], []
        for name, start, end in zip(pairs.queries, bounds, bounds[1:], strict=False):
            counted = self.queries[name]
            own = np.array([self.column[term] for term in counted], dtype=np.int32)
            counts = np.array(list(counted.values()), dtype=np.float64)
            queries.append(QueryTerms(counts, self.df[own]))
            weight_of[own] = key_frequencies(counts)
            known = np.flatnonzero(pairs.rows[start:end] >= 0) + start
            held = self.matrix[self.place[pairs.rows[known]]]
            mine = np.flatnonzero(weight_of[held.indices])  # a candidate also holds terms of other queries
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
    """The arrays as one; without any an empty one."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
