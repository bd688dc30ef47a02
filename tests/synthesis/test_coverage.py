"""Coverage of the intervals by the simulation of docs/coverage.md, at reduced size: bounds are three binomial errors."""

from __future__ import annotations

import math

import pytest

from scripts.synthesis.simulate_coverage import COLUMNS, of_task, simulated
from scripts.synthesis.simulated_worlds import OF_ONE_TASK, WORLDS

WORLD = {world.name: world for world in (*WORLDS, *OF_ONE_TASK)}
COLUMN = {column.name: column for column in COLUMNS}


def covered(world: str, columns: list[str], replicates: int = 150) -> list[float]:
    return simulated(WORLD[world], replicates, 3, [COLUMN[name] for name in columns]).coverage.tolist()


def error(share: float, replicates: int = 150) -> float:
    """Three binomial standard errors of a share."""
    return 3 * math.sqrt(share * (1 - share) / replicates)


@pytest.mark.parametrize("tau", ["0", "0.02", "0.05"])
def test_the_default_keeps_the_level_with_and_without_heterogeneity(tau):
    held, mean = covered(f"5 tasks of 30 to 1,000 queries, tau {tau}", ["equal weights", "mean"], 300)
    assert 0.95 - error(0.95, 300) <= held <= 0.95 + error(0.95, 300)
    assert 0.95 - error(0.95, 300) <= mean <= 0.95 + error(0.95, 300)


def test_equal_weights_are_not_drawn_towards_0_where_differences_are_bounded_and_mostly_0():
    name = "20 tasks of 30 queries, bounded differences, tau 0"
    equal, own = covered(name, ["equal weights", "normal, own variances"])
    assert equal >= 0.95 - error(0.95)
    assert own < equal


@pytest.mark.long
@pytest.mark.parametrize("tau", ["0", "0.02"])
def test_prediction_intervals_hold_the_effect_in_a_new_collection(tau):
    (held,) = covered(f"7 tasks of 30 to 1,000 queries, tau {tau}", ["confidence distribution"], 300)
    assert held >= 0.93 - error(0.93, 300)


@pytest.mark.long
@pytest.mark.parametrize("words", ["one seed (a sibling has five)", "three seeds"])
def test_intervals_with_seeds_hold_the_true_effect_as_often_as_they_say(words):
    name = f"10 tasks, {words} of each system, tau 0"
    ignoring, held = covered(name, ["equal weights, nothing shared", "equal weights"])
    assert ignoring < 0.95 - error(0.95)
    assert held >= 0.95 - error(0.95)


def test_intervals_of_clustered_queries_do():
    (held,) = simulated(WORLD["100 clusters of 1 to 7 queries, correlation .25"], 150, 3, [of_task("t")]).coverage
    assert held >= 0.95 - error(0.95)


@pytest.mark.long
def test_intervals_of_tasks_that_share_queries_do():
    name = "3 corpora of two tasks whose queries correlate .8"
    ignoring, held = covered(name, ["equal weights, nothing shared", "equal weights"], 300)
    assert ignoring < 0.95 - error(0.95, 300)
    assert 0.95 - error(0.95, 300) <= held < 0.985
