"""Power, detectable effects and expected intervals against R's power.t.test, Hedges and Pigott, Sakai, and by integration.

oracle/power.R wrote the stored values; where R is there, they are computed again.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, special

from ranktrial.statistics.power import Components, Design, Part, Question, power_of, precision, satterthwaite
from tests.support import r_numbers

STORED = r_numbers.stored("power")


@pytest.mark.parametrize("case", STORED["paired"])
def test_a_task_agrees_with_power_t_test(case):
    n, sd, alpha = case["n"], case["sd"], case["alpha"]
    assert math.isclose(power_of(case["delta"], [Part(sd**2 / n, n - 1)], alpha), case["power"], rel_tol=1e-10)
    found = Question(alpha, 0.8).of_task(Components(sd**2, 0.1), Design(n, 1, 1))
    assert math.isclose(found.detectable, case["detectable"], rel_tol=1e-9)


@pytest.mark.parametrize("case", STORED["summary"])
def test_a_summary_with_a_normal_interval_agrees_with_hedges_and_pigott(case):
    components, design = Components(case["query"], case["tau2"]), Design(case["n"], case["k"], 1)
    found = Question(0.05, case["power"], "normal").of_summary(components, design)
    known = [Part(found.variance, math.inf)]
    assert math.isclose(power_of(case["mu"], known, 0.05), case["power"], rel_tol=1e-12)
    if case["power"] < 0.999:  # nearer to 1 it says little of the effect
        assert math.isclose(found.detectable, case["mu"], rel_tol=1e-9)


@pytest.mark.parametrize("case", STORED["topics"])
def test_the_fewest_topics_are_those_of_sakai(case):
    def detectable(n: int) -> float:
        return precision([Part(1 / n, n - 1)], case["alpha"], case["power"]).detectable

    assert detectable(case["n"]) <= case["delta"]
    if case["n"] > 2:
        assert detectable(case["n"] - 1) > case["delta"]


@pytest.mark.parametrize("case", STORED["intervals"])
def test_the_fewest_topics_for_an_interval_are_those_of_sakai(case):
    def width(n: int) -> float:
        return 2 * precision([Part(1 / n, n - 1)], 0.05, 0.8).half_width

    assert width(case["n"]) <= case["width"] < width(case["n"] - 1)


def test_the_stored_values_are_those_of_r():
    again = r_numbers.computed("power")
    for name, cases in STORED.items():
        for stored, computed in zip(cases, again[name], strict=True):
            assert computed == pytest.approx(stored, rel=1e-9)


@pytest.mark.parametrize("df", [1, 2.5, 7, 200])
@pytest.mark.parametrize("ncp", [0.3, 2.8, 8.0, 60.0])
@pytest.mark.parametrize("floor", [0.0, 0.01, 0.6, 1.0])
def test_power_is_the_integral_over_the_estimated_variance(df, ncp, floor):
    """P(|Z + ncp| > max(c s, z sqrt(floor))) over the density of s = sqrt(chi2 / df); nctdtr is nan for some of these."""
    critical, least = float(-special.stdtrit(df, 0.025)), float(-special.ndtri(0.025)) * math.sqrt(floor)

    def half_width(s: float) -> float:
        return max(critical * s, least)

    def integrand(s: float, of: Callable[[float], float]) -> float:
        log_density = math.log(2) + df / 2 * math.log(df / 2) - special.gammaln(df / 2) - df * s * s / 2
        return of(half_width(s)) * s ** (df - 1) * math.exp(log_density)

    def mean(of: Callable[[float], float]) -> float:
        inner = (math.sqrt(2 * special.gammaincinv(df / 2, share) / df) for share in (0.01, 0.5, 0.99))
        ends = sorted([0, least / critical, *inner, 10])
        return sum(
            integrate.quad(integrand, *pair, (of,), epsabs=1e-12, limit=200)[0] for pair in itertools.pairwise(ends)
        )

    rejected = mean(lambda half: special.ndtr(ncp - half) + special.ndtr(-ncp - half))
    part = Part(1.0, df, floor)
    assert power_of(ncp, [part], 0.05) == pytest.approx(rejected, abs=1e-9)
    assert precision([part], 0.05, 0.8).half_width == pytest.approx(mean(lambda half: half), rel=1e-9)


SUMS = [
    [Part(1.0, 4.0, 0.6), Part(0.5, 1.0)],
    [Part(1.0, 199.0), Part(3.0, 1.0)],
    [Part(0.2, 9.0, 0.15), Part(3.0, 2.0), Part(1.0, 2.0)],
    [Part(1.0, 2.0), Part(0.7, 1.0), Part(0.7, 1.0)],
    [Part(1.0, math.inf), Part(0.5, 2.0)],
]


@pytest.mark.parametrize("parts", SUMS)
def test_power_of_a_sum_is_that_of_drawn_estimates(parts):
    """Satterthwaite's test as an experiment does it: variances and their degrees of freedom are both estimated."""
    found, count = precision(parts, 0.05, 0.8), 400_000
    generator = np.random.default_rng(7)

    def estimates_of(part: Part) -> tuple[np.ndarray, np.ndarray]:
        """Variances and what they add to the sum of squares over degrees of freedom; the floor counts as known."""
        if math.isinf(part.df):
            return np.full(count, part.variance), np.zeros(count)
        drawn = part.variance * generator.chisquare(part.df, count) / part.df
        narrower = -special.stdtrit(part.df, 0.025) * np.sqrt(drawn) < -special.ndtri(0.025) * math.sqrt(part.floor)
        return np.where(narrower, part.floor, drawn), np.where(narrower, 0, drawn**2 / part.df)

    drawn = [estimates_of(part) for part in parts]
    variance = np.sum([values for values, _ in drawn], axis=0)
    df = variance**2 / np.sum([uncertain for _, uncertain in drawn], axis=0)
    half_width = -special.stdtrit(df, 0.025) * np.sqrt(variance)
    estimates = generator.normal(found.detectable, math.sqrt(found.variance), count)
    assert np.mean(np.abs(estimates) > half_width) == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / count))
    assert power_of(found.detectable, parts, 0.05) == pytest.approx(0.8, abs=1e-9)
    assert found.half_width == pytest.approx(half_width.mean(), abs=4 * half_width.std() / math.sqrt(count))
    assert found.df == satterthwaite(parts)


def test_the_detectable_effect_has_the_power_asked_for():
    for df, alpha, power in ((1, 0.05, 0.8), (3.7, 0.01, 0.95), (1000, 0.1, 0.5), (math.inf, 0.05, 0.9)):
        part = [Part(1.0, df)]
        assert power_of(precision(part, alpha, power).detectable, part, alpha) == pytest.approx(power, abs=1e-9)


def test_degrees_of_freedom_of_a_sum_by_hand():
    assert satterthwaite([Part(2.0, 5.0)]) == 5.0
    assert satterthwaite([Part(1.0, 4.0), Part(1.0, 4.0)]) == pytest.approx(8.0)
    assert satterthwaite([Part(3.0, 9.0), Part(1.0, 1.0)]) == pytest.approx(16 / (9 / 9 + 1 / 1))
    assert satterthwaite([Part(3.0, math.inf), Part(0.0, 1.0)]) == math.inf


def test_many_degrees_of_freedom_come_to_the_normal_distribution():
    of_many, known = (precision([Part(0.5, df)], 0.05, 0.8) for df in (1e7, math.inf))
    assert of_many.detectable == pytest.approx(known.detectable, rel=1e-6)
    assert of_many.half_width == pytest.approx(known.half_width, rel=1e-6)
