"""Designs against simulation: the variance of the model, and the power of the project's own tests; costs by hand."""

import math

import numpy as np
import pytest

from ranktrial.statistics.dependent_tasks import dependent_meta_analysis
from ranktrial.statistics.method import DEFAULTS
from ranktrial.statistics.observed_tasks import dependence_of, observed_task, per_unit
from ranktrial.statistics.power import (
    Components,
    Design,
    Hours,
    Question,
    SeedVariance,
    Target,
    cheapest,
    enough_collections,
    rows,
)
from ranktrial.statistics.seeds import SeedsFrom, seed_effects_of
from ranktrial.statistics.significance import paired_t_test
from tests.simulation.power import Settings, simulated

HALF = Question(0.05, 0.8)


def differences(generator, components, design, effect=0.0):
    """Differences of the treatment's seeds from a control without training: collections x queries x seeds."""
    n, k, m = design
    (seed_variance,) = components.seed_variances or (SeedVariance(0.0, 0.0, 0.0, math.inf),)
    draws = ((components.collection, (k, 1, 1)), (components.query, (k, n, 1)), (seed_variance.seed, (1, 1, m)),
             (seed_variance.seed_by_collection, (k, 1, m)), (seed_variance.seed_by_query, (k, n, m)))  # fmt: skip
    return effect + sum(math.sqrt(variance) * generator.standard_normal(shape) for variance, shape in draws)


def within(share, expected, count, errors=4):
    """Whether a share of `count` replicates agrees with what is expected, within so many standard errors."""
    return abs(share - expected) < errors * math.sqrt(expected * (1 - expected) / count)


def test_the_variances_are_those_of_the_model():
    components = Components(0.04, 0.002, (SeedVariance(0.0009, 0.0016, 0.01, 4.0),))
    design = Design(20, 4, 3)
    generator = np.random.default_rng(1)
    drawn = [differences(generator, components, design) for _ in range(4000)]
    of_summary = np.var([values.mean() for values in drawn])
    of_task = np.var([values[0].mean() for values in drawn])
    spread = 5 * math.sqrt(2 / 4000)  # five standard errors of a variance
    assert HALF.of_summary(components, design).variance == pytest.approx(of_summary, rel=spread)
    # one collection's effect is that of this collection: how collections differ is no part of its error
    assert HALF.of_task(components, design).variance + components.collection == pytest.approx(of_task, rel=spread)


def test_a_paired_t_test_detects_the_detectable_effect_as_often_as_planned():
    design, components, count = Design(25, 1, 1), Components(0.06, 0.0), 1500
    effect = HALF.of_task(components, design).detectable
    generator = np.random.default_rng(2)
    drawn = [differences(generator, components, design, effect)[0, :, 0] for _ in range(count)]
    p_values = [paired_t_test(values, np.zeros(25)).p_value for values in drawn]
    assert within(np.mean(np.array(p_values) < 0.05), 0.8, count)


@pytest.mark.parametrize("interval", ["knapp-hartung", "knapp-hartung-unmodified"])
@pytest.mark.parametrize(("collections", "tau"), [(4, 0.0), (4, 0.05), (10, 0.02)])
def test_the_summary_detects_the_detectable_effect_as_often_as_planned(interval, collections, tau):
    """Through the project's own estimators, with effects whose variances are estimated from their queries.

    (Paule and Mandel's tau2, which takes a tenth of the time of REML and of equal variances makes the same.)
    """
    count = 2000
    settings = Settings(replicates=count, seed=collections, estimator="PM", interval=interval)
    components, design = Components(0.06, tau**2), Design(60, collections, 1)
    planned = Question(0.05, 0.8, interval).of_summary(components, design)
    found = simulated(components, design, planned.detectable, settings)
    assert abs(found.power - 0.8) < 0.01 + 3 * math.sqrt(0.16 / count)
    assert found.half_width == pytest.approx(planned.half_width, rel=0.03)


@pytest.mark.long
@pytest.mark.parametrize(("seeds", "interval"), [(2, "knapp-hartung"), (3, "knapp-hartung-unmodified"), (3, "normal")])
def test_with_few_seeds_the_summary_detects_the_detectable_effect_as_often_as_planned(seeds, interval):
    """Through the project's own analysis, which estimates the seeds' variance and the degrees of freedom.

    With those at the true variances a plan of two seeds kept 68% and one of three 77%.
    """
    design, count = Design(50, 6, seeds), 800
    components = Components(0.06, 0.002, (SeedVariance(0.0004, 0.0, 0.0, math.inf),))
    planned = Question(0.05, 0.8, interval).of_summary(components, design)
    generator = np.random.default_rng(seeds)
    drawn = (differences(generator, components, design, planned.detectable) for _ in range(count))
    summaries = [analysed(values, interval) for values in drawn]
    assert within(np.mean([not one.ci_low <= 0 <= one.ci_high for one in summaries]), 0.8, count, errors=3)
    half_widths = np.array([one.ci_high - one.ci_low for one in summaries]) / 2
    assert half_widths.mean() == pytest.approx(planned.half_width, abs=3 * half_widths.std() / math.sqrt(count))


def analysed(values, interval):
    """The summary of differences (collections, queries, seeds) from a control without training."""
    treatment = {str(place): own for place, own in enumerate(values)}
    control = {name: np.zeros((len(own), 1)) for name, own in treatment.items()}
    tasks = {
        name: observed_task(own.mean(axis=1), np.zeros(len(own)), range(len(own)), DEFAULTS, shares=False)
        for name, own in treatment.items()
    }
    seed_effects = seed_effects_of({"treatment": SeedsFrom("t")}, control, treatment, per_unit(tasks, DEFAULTS))
    estimates = np.array([task.effect.estimate for task in tasks.values()])
    dependence = dependence_of(tasks, {}, list(seed_effects.values()))
    return dependent_meta_analysis(estimates, dependence, "PM", interval, 0.05, "k-2").summary


def test_more_of_anything_shows_more_but_seed_variance_remains():
    components = Components(0.06, 0.002, (SeedVariance(0.0004, 0.0001, 0.01, 9.0),))
    base = HALF.of_summary(components, Design(100, 5, 5))
    for better in (Design(400, 5, 5), Design(100, 20, 5), Design(100, 5, 10)):
        assert HALF.of_summary(components, better).detectable < base.detectable
    assert HALF.of_summary(components, Design(1e9, 10**9, 5)).variance == pytest.approx(0.0004 / 5)


def test_hours_by_hand_and_the_cheapest_design():
    trained, untrained = Hours(2.0, 0.5, 0.001), Hours(None, 0.1, 0.0)
    assert trained.of(Design(100, 4, 3)) == pytest.approx(3 * (2 + 4 * (0.5 + 0.1)))
    assert untrained.of(Design(100, 4, 3)) == pytest.approx(0.4)
    components = Components(0.06, 0.001, (SeedVariance(0.0002, 0.0, 0.0, math.inf),))
    found = rows(components, HALF, [trained, untrained], [50, 100, 400], [4, 8, 16], [1, 3])
    assert len(found) == 3 * 2 * 4 and {row.test for row in found if row.design.collections == 1} == {"task"}
    summaries = [row for row in found if row.test == "summary"]
    target = Target(effect=0.04)
    best = cheapest(summaries, target)
    meeting = [row for row in summaries if row.found.detectable <= 0.04]
    assert best in meeting and len(meeting) < len(summaries) and best.hours == min(row.hours for row in meeting)
    assert cheapest(summaries, Target(effect=0.001)) is None
    narrow = cheapest(summaries, Target(half_width=0.03))
    assert narrow.found.half_width <= 0.03


def test_without_times_the_cheapest_design_has_the_fewest_queries_and_then_seeds():
    components = Components(0.06, 0.001, (SeedVariance(0.00001, 0.0, 0.0, math.inf),))
    found = [row for row in rows(components, HALF, [], [50, 100], [4, 8], [1, 3]) if row.test == "summary"]
    best = cheapest(found, Target(effect=1.0))
    assert best.design == Design(50, 4, 1) and best.hours is None


def test_where_nothing_is_trained_seeds_are_no_part_of_a_design():
    found = rows(Components(0.06, 0.001), HALF, [], [50, 100], [4, 8], [1, 3, 5])
    assert {row.design.seeds for row in found} == {1} and len(found) == 6


def test_the_fewest_collections_that_are_enough():
    components, most, target = Components(0.06, 0.002), Design(400, 30, 1), Target(effect=0.02)
    k = enough_collections(components, HALF, most, target)
    reached = [HALF.of_summary(components, most._replace(collections=number)).detectable for number in (k - 1, k)]
    assert reached[1] <= 0.02 < reached[0]
    with_seeds = Components(0.06, 0.002, (SeedVariance(0.0004, 0.0, 0.0, math.inf),))
    assert enough_collections(with_seeds, HALF, most, target) is None  # one seed alone has an error of 0.02
    assert enough_collections(components, HALF, most, Target()) is None
