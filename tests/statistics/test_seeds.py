"""Seeds: variance components by hand and by simulation."""

import math

import numpy as np
import pytest

from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.seeds import average, effect_variance, seed_spread

BY_HAND = np.array([[0.1, 0.3], [0.5, 0.5], [0.6, 1.0]])  # queries x seeds


def test_components_by_hand():
    """Seed means 0.4, 0.6; query means 0.2, 0.5, 0.8; MS: seed 0.06, query 0.18, residual 0.02."""
    spread = seed_spread(BY_HAND)
    assert spread.seed_means == pytest.approx((0.4, 0.6))
    assert spread.mean == pytest.approx(0.5)
    assert spread.sd == pytest.approx(math.sqrt(0.02))
    assert spread.residual == pytest.approx(0.02)
    assert spread.seed == pytest.approx((0.06 - 0.02) / 3)
    assert spread.query == pytest.approx((0.18 - 0.02) / 2)
    assert average(BY_HAND) == pytest.approx([0.2, 0.5, 0.8])


def test_share_by_hand():
    """Against BM25 with one seed: sampling is MD's variance; seeds add 0.04/3/2 and hold 0.02/(3*2) of it."""
    control = np.array([[0.2], [0.4], [0.3]])
    found = effect_variance(BY_HAND, control)
    assert found.sampling == pytest.approx(effect_size(average(BY_HAND), control[:, 0], "MD").variance)
    assert found.total == pytest.approx(found.sampling + 0.04 / 6)
    assert found.seeds == pytest.approx(0.04 / 6 + 0.02 / 6)
    assert found.seed_share == pytest.approx(found.seeds / found.total)


def test_both_systems_add_up_and_seed_counts_may_differ():
    found = effect_variance(BY_HAND, np.column_stack([BY_HAND, BY_HAND]) * 2)
    four = seed_spread(np.column_stack([BY_HAND, BY_HAND]) * 2)
    assert found.total - found.sampling == pytest.approx(0.04 / 6 + four.seed / 4)


def test_simulated_components_are_recovered():
    """10,000 queries, 400 seeds: standard errors are about 1.4% (queries) and 7% (seeds)."""
    g = np.random.default_rng(1)
    values = 0.5 + g.normal(0, 0.2, (10_000, 1)) + g.normal(0, 0.01, 400) + g.normal(0, 0.1, (10_000, 400))
    spread = seed_spread(values)
    assert spread.query == pytest.approx(0.04, rel=0.06)
    assert spread.seed == pytest.approx(1e-4, rel=0.3)
    assert spread.residual == pytest.approx(0.01, rel=0.01)


def test_total_is_the_variance_of_the_effect_over_repeated_experiments():
    """2,000 experiments with 40 queries and 3 seeds: the variance of D is the mean of `total`, standard error 3%."""
    g = np.random.default_rng(2)

    def system(query: np.ndarray) -> np.ndarray:
        return query + g.normal(0, 0.05, 3) + g.normal(0, 0.1, (40, 3))

    effects, totals = [], []
    for _ in range(2000):
        query = g.normal(0, 0.3, (40, 1))
        treatment, control = system(query + g.normal(0, 0.1, (40, 1))), system(query)
        effects.append(treatment.mean() - control.mean())
        totals.append(effect_variance(treatment, control).total)
    assert np.mean(totals) == pytest.approx(np.var(effects), rel=0.15)


def test_one_seed_has_no_spread_and_equal_seeds_none_either():
    one = seed_spread(BY_HAND[:, :1])
    assert one.sd is one.query is one.seed is one.residual is None
    assert effect_variance(BY_HAND[:, :1], BY_HAND[:, 1:]).seeds == 0
    equal = np.repeat(BY_HAND[:, :1], 4, axis=1)
    assert (seed_spread(equal).sd, seed_spread(equal).seed) == (0, 0)
    assert effect_variance(equal, equal).seed_share is None


@pytest.mark.parametrize("values", [[0.1, 0.2], [[0.1, math.nan]], np.zeros((0, 2))])
def test_wrong_shapes_are_refused(values):
    with pytest.raises(ValueError):
        seed_spread(values)


def test_different_queries_are_refused():
    with pytest.raises(ValueError):
        effect_variance(BY_HAND, BY_HAND[:2])
