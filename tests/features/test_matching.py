"""Matching at size: 200 queries of 1,000 candidates, in seconds and in little memory, and as one by one."""

import time
import tracemalloc
from collections import Counter

import numpy as np

from ranktrial.features.families import features_in, known
from ranktrial.features.sources import Matcher, Pairs
from ranktrial.ir.term_counts import Field

TERMS, DOCUMENTS, QUERIES, DEPTH = 20_000, 10_000, 200, 1000
MOST_SECONDS = 10
MOST_BYTES = 600 << 20  # of 200,000 pairs; each with its own copy of 20,000 terms would be 16 GB


def collection(rng):
    """Documents of about 20 terms that are distributed as words are."""
    chance = 1 / np.arange(1, TERMS + 1)
    words = rng.choice(TERMS, size=(DOCUMENTS, 20), p=chance / chance.sum())
    keys, counts = np.unique(words.astype(np.int64) * DOCUMENTS + np.arange(DOCUMENTS)[:, None], return_counts=True)
    starts = np.searchsorted(keys, np.arange(TERMS + 1) * DOCUMENTS)
    place = {f"t{term}": term for term in range(TERMS)}
    field = Field(place, starts, (keys % DOCUMENTS).astype(np.int32), counts.astype(np.int32), np.full(DOCUMENTS, 20))
    return field, words


def queries_of(rng, words):
    return {f"q{i}": Counter(f"t{term}" for term in words[rng.integers(DOCUMENTS)]) for i in range(QUERIES)}


def pairs_of(rng, queries):
    rows = np.concatenate([rng.choice(DOCUMENTS, DEPTH, replace=False) for _ in queries])
    place = np.repeat(np.arange(len(queries)), DEPTH)
    return Pairs(list(queries), place, rows, np.ones(len(rows)), np.tile(np.arange(1.0, DEPTH + 1), len(queries)))


def test_all_features_of_200_queries_with_1000_candidates_take_seconds_and_little_memory():
    rng = np.random.default_rng(7)
    field, words = collection(rng)
    queries = queries_of(rng, words)
    pairs = pairs_of(rng, queries)
    features = [
        feature
        for family in dict.fromkeys(known().values())
        for feature in features_in(family).values()
        if not feature.reader
    ]
    tracemalloc.start()
    start = time.process_time()
    candidates = Matcher(field, queries, pairs.rows).match(pairs)
    values = [feature.values(candidates) for feature in features]
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(len(one) == QUERIES * DEPTH and np.isfinite(one).all() for one in values)
    assert seconds < MOST_SECONDS and peak < MOST_BYTES


def test_matches_are_those_of_pairs_one_by_one():
    rng = np.random.default_rng(3)
    field, words = collection(rng)
    queries = queries_of(rng, words)
    pairs = pairs_of(rng, queries)
    matches = Matcher(field, queries, pairs.rows).match(pairs).matches
    for pair in rng.choice(len(pairs.rows), 300, replace=False):
        own = matches.pair == pair
        query, held = queries[pairs.queries[pairs.query[pair]]], Counter(f"t{term}" for term in words[pairs.rows[pair]])
        common = sorted(query.keys() & held.keys())
        assert sorted(matches.tf[own]) == sorted(held[term] for term in common)
        most = max(query.values())
        assert sorted(matches.key_frequency[own]) == sorted(query[term] / most for term in common)
        holding = [int((words == int(term[1:])).any(axis=1).sum()) for term in common]
        assert sorted(matches.df[own]) == sorted(holding)
        assert sorted(matches.cf[own]) == sorted(int((words == int(term[1:])).sum()) for term in common)
