"""Coverage of the intervals by the simulation of docs/coverage.md, at reduced size: bounds are three binomial errors wide."""

from __future__ import annotations

import math

import pytest

from scripts.synthesis.simulate_coverage import SITUATIONS, coverage

BY_NAME = {situation.name: situation for situation in SITUATIONS}
REPLICATES = 150
WITH_SEEDS = [
    ("10 tasks, one seed of each system, a sibling with five", 0.70),
    ("3 tasks, three seeds of each system", 0.97),
    ("10 tasks, three seeds of each system", 0.85),
]


def error(share: float, replicates: int = REPLICATES) -> float:
    """Three binomial standard errors of a share."""
    return 3 * math.sqrt(share * (1 - share) / replicates)


@pytest.mark.parametrize(("name", "at_most_before"), WITH_SEEDS)
def test_intervals_with_seeds_hold_the_true_effect_as_often_as_they_say(name, at_most_before):
    before, after, _ = coverage(BY_NAME[name], REPLICATES, seed=3)
    assert before < at_most_before
    assert after >= 0.95 - error(0.95)


def test_the_part_of_seeds_by_itself_keeps_the_level():
    """Without max(1, q), which makes few tasks cautious: neither too rarely nor, beyond chance, too often."""
    before, after, unmodified = coverage(BY_NAME["5 tasks, three seeds of each system"], 600, seed=3)
    assert before < 0.91 and after > unmodified
    assert 0.95 - error(0.95, 600) <= unmodified <= 0.95 + error(0.95, 600)


def test_the_default_keeps_the_level_where_true_effects_differ():
    """What max(1, q) guards against is there, so its caution costs nothing."""
    before, after, _ = coverage(BY_NAME["5 tasks whose true effects differ, one seed of each system"], 600, seed=3)
    assert before < 0.93
    assert 0.95 - error(0.95, 600) <= after <= 0.95 + error(0.95, 600)


def test_intervals_of_clustered_queries_do():
    before, after = coverage(BY_NAME["one task, 100 clusters of 1 to 7 queries, correlation .25"], REPLICATES, seed=3)
    assert before < 0.95 - error(0.95)
    assert after >= 0.95 - error(0.95)


def test_intervals_of_tasks_that_share_queries_do():
    before, after = coverage(BY_NAME["2 corpora of two tasks whose queries correlate .8"], REPLICATES, seed=3)
    assert before < 0.95 - error(0.95)
    assert after >= 0.95 - error(0.95)


def test_the_interval_with_a_level_of_collections_is_neither_too_narrow_nor_too_wide():
    """Knapp and Hartung's q of 5 degrees of freedom with t of 2 held the truth in all experiments."""
    _, after = coverage(BY_NAME["3 corpora of two tasks whose queries correlate .8"], 400, seed=3)
    assert 0.95 - error(0.95, 400) <= after < 0.985
