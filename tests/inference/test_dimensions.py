"""Queries and documents with different numbers of dimensions are refused in one line, whatever the index."""

import numpy as np
import pytest

from ranktrial.inference import exact
from ranktrial.inference.indices import approximate, token_codes
from ranktrial.inference.indices import quantised_vectors as quantised
from ranktrial.inference.searches import approximate as approximately
from ranktrial.inference.searches import quantised_vectors
from ranktrial.inference.searches import token_codes as tokens
from ranktrial.inference.vectors import similarities
from tests.support.one_line import refused

VECTORS = np.random.default_rng(1).normal(size=(600, 8)).astype(np.float32)
QUERIES = VECTORS[:3, :5].copy()
PLACES = np.arange(600)


def by_codes(precision, folder):
    quantised.write_index(folder, VECTORS, precision)
    index = quantised.open_index(folder, 600, precision)
    # Signs take a byte for up to eight dimensions.
    queries = np.tile(VECTORS[:3], 2) if precision in quantised.BINARY else QUERIES
    return quantised_vectors.search_codes(queries, index, PLACES, 2, 0, "cpu")


def by_token_codes(folder):
    token_codes.write_index(folder, VECTORS, np.full(300, 2), "IVF4,PQ4x4")
    return tokens.nearest(token_codes.open_index(folder, 300, 1), [QUERIES], PLACES[:300], 2)


SEARCHES = {
    "exact": lambda folder: exact.search(QUERIES, VECTORS, PLACES, 2, "cpu"),
    "approximate": lambda folder: approximately.nearest(approximate.build(VECTORS, "HNSW8"), QUERIES, PLACES, 2),
    "re-ranking": lambda folder: similarities(QUERIES[:1], ["d"], {"d": VECTORS[:1]}),
    **{precision: lambda folder, precision=precision: by_codes(precision, folder) for precision in ("int8", "binary")},
    "token codes": by_token_codes,
}


@pytest.mark.parametrize("search", SEARCHES)
def test_other_dimensions_are_refused(search, tmp_path):
    with refused("the queries have "):
        SEARCHES[search](tmp_path)
