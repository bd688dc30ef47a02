"""What features are made from: matches of terms in one field, scores of other systems, and texts.

The postings of the queries' terms form one sparse matrix of candidates by terms. A batch of queries then uses its rows,
so memory grows with the number of matches between candidates and terms, not with their product. The prepared corpus is
read line by line, and only candidates are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ranktrial.common.errors import UserError
from ranktrial.configuration.sections.features import FeatureColumn
from ranktrial.features.families import Candidates, Feature, Matches, QueryTerms, TextReader, features_in
from ranktrial.ir.collection import read_texts
from ranktrial.ir.term_counts import Field
from ranktrial.ir.trec import Run

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


LOWEST = "lowest"


class SystemScore:
    """The scores of a run, unchanged.

    A document missing from the run gets the value `missing`: a number or, with `lowest`, the lowest score in the run
    for the query (0 if the query has none). `lacking` counts the pairs that were missing.
    """

    def __init__(self, run: Run, missing: float | str) -> None:
        self.run, self.lacking = run, 0
        self.missing = {query: lowest_of(scores) for query, scores in run.items()} if missing == LOWEST else {}
        self.otherwise = 0.0 if missing == LOWEST else float(missing)

    def values(self, queries: list[str], documents: list[str]) -> np.ndarray:
        """The score of each pair."""
        found = [self.run.get(query, {}).get(document) for query, document in zip(queries, documents, strict=True)]
        self.lacking += found.count(None)
        return np.array(
            [
                self.missing.get(query, self.otherwise) if score is None else score
                for query, score in zip(queries, found, strict=True)
            ]
        )


def lowest_of(scores: dict[str, float]) -> float:
    """The lowest score of a run for a query."""
    return min(scores.values(), default=0.0)


def text_features(of: list[FeatureColumn]) -> dict[str, Feature]:
    """The text features among the entries of a feature set, by column."""
    own = [entry for entry in of if not entry.system]
    found = {entry.name: features_in(entry.family)[entry.feature] for entry in own}
    return {name: feature for name, feature in found.items() if feature.reader}


class Texts:
    """The inputs of text features; empty if there are none."""

    def __init__(self, features: dict[str, Feature], paths: list[Path], structures: Path | None) -> None:
        """`paths` are the files of the queries and the corpus, `structures` that of a model's labels.

        Raises UserError if a feature needs texts and none are given.
        """
        if features and len(paths) != 2:
            raise UserError(f"--texts: expected the files of queries and corpus, which {next(iter(features))} needs")
        self.features, self.paths, self.structures = features, paths, structures
        self.made: dict[TextReader, Any] = {}

    def read(self, candidates: dict[str, list[str]]) -> None:
        """Read the texts of queries and their candidates. Raises UserError if a query has none."""
        if not self.features:
            return
        queries, corpus = self.paths
        wanted = frozenset(document for documents in candidates.values() for document in documents)
        texts = {name: text for name, text in read_texts(queries) if name in candidates}
        if lacking := [query for query in candidates if query not in texts]:
            raise UserError(f"{queries}: has no text of query {lacking[0]}")
        for reader in dict.fromkeys(feature.reader for feature in self.features.values() if feature.reader):
            self.made[reader] = reader(texts, _only(corpus, wanted), self.structures)

    def values(self, queries: list[str], documents: list[str]) -> dict[str, np.ndarray]:
        """The features of pairs, by column."""
        return {
            name: feature.function(self.made[feature.reader], queries, documents)
            for name, feature in self.features.items()
            if feature.reader
        }


def _only(corpus: Path, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in read_texts(corpus) if name in wanted)
