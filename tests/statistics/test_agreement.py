"""Agreement of assessors, held against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from ranktrial.statistics.agreement import cohens_kappa, confusion, order_correlation


def drawn(seed, n=200):
    generator = np.random.default_rng(seed)
    human = generator.integers(0, 3, n)
    model = np.where(generator.random(n) < 0.6, human, generator.integers(0, 4, n))
    return [(int(one), int(other)) for one, other in zip(human, model, strict=True)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_matrix_and_kappa_are_those_of_scikit_learn(seed):
    pairs = drawn(seed)
    human, model = zip(*pairs, strict=True)
    assert cohens_kappa(pairs) == pytest.approx(cohen_kappa_score(human, model))
    matrix = confusion_matrix(human, model)
    assert {cell: count for cell, count in confusion(pairs).items() if count} == {
        (row, column): matrix[row, column] for row, column in np.argwhere(matrix).tolist()
    }


def test_kappa_is_undefined_where_both_say_the_same_of_all_and_0_where_they_agree_by_chance():
    assert cohens_kappa([(1, 1)] * 5) is None and cohens_kappa([]) is None
    assert cohens_kappa([(0, 0), (0, 1), (1, 0), (1, 1)]) == 0
    assert cohens_kappa([(0, 0), (1, 1)]) == 1


def test_the_order_of_systems():
    assert order_correlation([0.1, 0.2, 0.3], [0.2, 0.5, 0.9]) == pytest.approx(1)
    assert order_correlation([0.1, 0.2, 0.3], [0.9, 0.5, 0.2]) == pytest.approx(-1)
    assert order_correlation([0.1], [0.2]) is None and order_correlation([0.1, 0.2], [0.3, 0.3]) is None
