"""Tail probabilities against R's logarithmic ones, far below a double's range."""

import math
import sys

import pytest

from ranktrial.statistics.summaries import chi2_upper, normal_two_sided, normal_upper, t_two_sided, t_upper


@pytest.mark.parametrize(
    ("tail", "natural_log"),
    [
        (t_two_sided(60, 10_000), -1541.5901948345149),  # R: log(2) + pt(60, 10000, lower.tail = FALSE, log.p = TRUE)
        (t_two_sided(-80, 300), -468.96781591769866),
        (t_two_sided(1e30, 12), -815.51024767420597),
        (t_two_sided(45, 5e5), -1014.4861332319342),
        (t_upper(60, 10_000), -1541.5901948345149 - math.log(2)),
        (chi2_upper(5000, 6), -2485.0442551589326),  # R: pchisq(5000, 6, lower.tail = FALSE, log.p = TRUE)
        (chi2_upper(1500, 61), -627.62124046226279),
        (chi2_upper(9000, 2000), -2001.5486328130771),
        (normal_upper(60), -1804.3204135000071 - math.log(2)),
        (normal_two_sided(-60), -1804.3204135000071),  # R: pnorm(-60, log.p = TRUE) + log(2)
    ],
)
def test_logarithm_far_out(tail, natural_log):
    assert tail.log10_p == pytest.approx(natural_log / math.log(10), rel=1e-12)
    assert tail.p == pytest.approx(max(sys.float_info.min, math.exp(natural_log)), rel=1e-10)


@pytest.mark.parametrize(
    "tail", [t_two_sided(2.5, 9), t_upper(-1.2, 40), t_upper(1.2, 40), chi2_upper(130.8, 6), normal_two_sided(1.96)]
)
def test_logarithm_is_that_of_p(tail):
    assert tail.log10_p == pytest.approx(math.log10(tail.p), rel=1e-13)


@pytest.mark.parametrize("log10_p", [-288, -289.99, -290.01, -292, -305])
def test_no_jump_where_the_method_changes(log10_p):
    """A tail just above and one just below the change lie on one line, within the curvature of the logarithm."""
    t = 10 ** (-log10_p / 60)
    before, here, after = (t_two_sided(t * factor, 60).log10_p for factor in (1 - 1e-4, 1, 1 + 1e-4))
    assert before - here == pytest.approx(here - after, rel=1e-3)


def test_so_many_degrees_of_freedom_that_the_distribution_is_normal():
    """As those of seeds whose runs are the same; the change of the method is no jump either."""
    assert t_two_sided(40, 1e32).log10_p == pytest.approx(normal_two_sided(40).log10_p, rel=1e-12)
    series, normal = (t_two_sided(40, df).log10_p for df in (15_999_000, 16_001_000))
    assert series - normal == pytest.approx(2.175e-6, rel=0.01)  # as between neighbours on either side
