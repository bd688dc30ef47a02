"""The formulas of the simulation of weights, for arrays, are those of the statistics."""

import numpy as np
import pytest

from ranktrial.statistics.bayes import bayesian_summary
from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.synthesise import shrunk
from tests.simulation.weighing import CANDIDATES, ends, of_tasks, shrunk_rows
from tests.simulation.weights import SIZES, World, drawn, worlds


@pytest.mark.parametrize("world", [World("GLUE (7)", "normal", 1.0), World("TREC (5 of 50)", "skewed", 0.5)])
def test_the_arrays_have_the_numbers_of_the_statistics(world):
    tasks = drawn(world, 8, np.random.default_rng(1))
    known = of_tasks(tasks)
    found = {name: ends(CANDIDATES[name](known)) for name in ("equal", "Knapp-Hartung", "Bayesian")}
    for row, (y, v) in enumerate(zip(tasks.y, tasks.v, strict=True)):
        assert known.tau2[row] == pytest.approx(float(estimator_named("REML").tau2(y, v)), rel=1e-6, abs=1e-12)
        for name, interval in (("equal", "equal-weights"), ("Knapp-Hartung", "knapp-hartung")):
            summary = meta_analysis(y, v, interval=interval).summary
            assert [end[row] for end in found[name]] == pytest.approx([summary.ci_low, summary.ci_high], abs=1e-7)
        bayes = bayesian_summary(y, np.diag(v), 0.1)
        assert [end[row] for end in found["Bayesian"]] == pytest.approx([bayes.ci_low, bayes.ci_high], abs=1e-5)


def test_variances_are_shrunk_as_in_a_summary():
    generator, n = np.random.default_rng(2), np.array([10, 30, 49, 50, 400])
    variances = generator.chisquare(n - 1.0, (20, 5)) / (n - 1) / n * generator.choice([0.01, 0.04], (20, 5))
    rows = [shrunk(own, n - 1.0, n, n) for own in variances]
    assert shrunk_rows(variances, n) == pytest.approx(np.array(rows), rel=1e-8)


def test_differences_have_the_expectation_of_their_world():
    for world in worlds():
        if world.sizes == "TREC (3 of 50)":
            assert drawn(world, 6000, np.random.default_rng(3)).y.mean() == pytest.approx(0.04, abs=0.006), world
    assert {world.sizes for world in worlds()} == set(SIZES)
