"""Effect sizes against the worked examples of Borenstein et al. (2009) and against what is undefined."""

import math

import numpy as np
import pytest

from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.paired import Hedges


def paired_sample(n: int, means: tuple[float, float], sd: float, r: float) -> tuple[np.ndarray, np.ndarray]:
    """Treatment and control of size n with exactly these means, one standard deviation (n - 1) and correlation r."""
    basis = np.linalg.qr(np.column_stack([np.ones(n), np.arange(n), np.arange(n) ** 2]))[0][:, 1:] * math.sqrt(n - 1)
    control = means[1] + sd * basis[:, 0]
    return means[0] + sd * (r * basis[:, 0] + math.sqrt(1 - r**2) * basis[:, 1]), control


# Borenstein et al. (2009), page 29: n = 50 pairs, means 103 and 100, S_difference = 5.5, r = 0.7.
TREATMENT, CONTROL = paired_sample(50, (103, 100), 5.5 / math.sqrt(0.6), 0.7)


def test_mean_difference_of_the_book():
    effect = effect_size(TREATMENT, CONTROL, "MD")
    assert (effect.treatment_mean, effect.control_mean, effect.n) == (pytest.approx(103), pytest.approx(100), 50)
    assert effect.effect == pytest.approx(3, rel=1e-12)
    assert effect.variance == pytest.approx(0.605, rel=1e-12)  # 5.5^2 / 50


def test_ddof_zero_divides_by_n():
    assert effect_size(TREATMENT, CONTROL, "MD", ddof=0).variance == pytest.approx(0.605 * 49 / 50, rel=1e-12)
    assert effect_size(TREATMENT, CONTROL, "CORR", ddof=0) == effect_size(TREATMENT, CONTROL, "CORR", ddof=1)


def test_standardised_mean_difference_of_the_book():
    d = effect_size(TREATMENT, CONTROL, "SMD", keys=Hedges(hedges=False))
    assert (round(d.effect, 4), round(d.variance, 4), round(d.se, 4)) == (0.4225, 0.0131, 0.1143)
    g = effect_size(TREATMENT, CONTROL, "SMD")
    assert (round(g.effect, 4), round(g.variance, 4)) == (0.4160, 0.0127)
    assert g.effect / d.effect == pytest.approx(1 - 3 / 195, rel=1e-14)  # J with 49 degrees of freedom
    assert g.variance / d.variance == pytest.approx((1 - 3 / 195) ** 2, rel=1e-14)


def test_standardised_mean_difference_with_ddof_zero():
    d = effect_size(TREATMENT, CONTROL, "SMD", ddof=0, keys=Hedges(hedges=False))
    expected = 3 / (5.5 / math.sqrt(0.6)) * math.sqrt(50 / 49)
    assert d.effect == pytest.approx(expected, rel=1e-12)
    assert d.variance == pytest.approx((1 / 50 + expected**2 / 100) * 0.6, rel=1e-12)


def test_correlation_of_the_book():
    """Borenstein et al. (2009), page 42: r = 0.5, n = 100."""
    effect = effect_size(*paired_sample(100, (0, 0), 1, 0.5), "CORR")
    assert (round(effect.estimate, 4), round(effect.variance, 4), round(effect.se, 4)) == (0.5493, 0.0103, 0.1015)
    assert effect.effect == pytest.approx(0.5, rel=1e-12)


def test_correlation_close_to_one_keeps_its_digits():
    """1 - r of 5e-17 is lost in r = 1.0, but not in Fisher's z: r is cos(angle) of the centred vectors."""
    angle = 1e-8
    treatment, control = paired_sample(20, (0, 0), 1, 0.0)
    treatment = math.cos(angle) * control + math.sin(angle) * treatment
    assert effect_size(treatment, control, "CORR").estimate == pytest.approx(-math.log(math.tan(angle / 2)), rel=1e-8)


SPREAD = np.array([0.1, 0.7, 0.3, 0.9])


@pytest.mark.parametrize(
    ("treatment", "control", "kind", "ddof", "reason"),
    [
        ([], [], "MD", 1, "0 queries"),
        ([1.0], [0.5], "MD", 1, "1 query:"),
        ([1.0], [0.5], "MD", 0, "1 query:"),
        (SPREAD + 0.1, SPREAD, "MD", 1, "same for every query"),
        (SPREAD, SPREAD, "MD", 1, "same for every query"),
        (SPREAD + 0.1, SPREAD, "SMD", 1, "same for every query"),
        (SPREAD * 0.3, SPREAD, "SMD", 1, "r = 1"),
        ([0.5] * 4, SPREAD, "SMD", 1, "treatment has the same value"),
        (SPREAD, [0.1] * 4, "SMD", 1, "control has the same value"),
        ([0.1, 0.5], [0.4, 0.2], "SMD", 1, "J is 0"),
        (SPREAD[:3], SPREAD[:3] ** 2, "CORR", 1, "needs at least 4"),
        (SPREAD * 0.3 + 1, SPREAD, "CORR", 1, "(r = 1)"),
        (1 - SPREAD * 0.7, SPREAD, "CORR", 1, "(r = -1)"),
        (SPREAD, [0.1] * 4, "CORR", 1, "control has the same value"),
    ],
)
def test_undefined_effects_say_why(treatment, control, kind, ddof, reason):
    effect = effect_size(np.array(treatment), np.array(control), kind, ddof)
    assert reason in effect.undefined
    assert effect.estimate is effect.variance is effect.effect is effect.se is None
    assert effect.n == len(control)


@pytest.mark.parametrize("shift", [0.1, -0.3, 7.7])
@pytest.mark.parametrize("scale", [1, 100])
@pytest.mark.parametrize("effect", ["MD", "SMD", "d_av"])
def test_a_constant_difference_of_32_bits_is_constant_and_one_step_more_is_not(effect, scale, shift):
    control = (scale * np.random.default_rng(1).random(50)).astype(np.float32)
    treatment = control + np.float32(scale * shift)
    assert "same for every query" in effect_size(treatment, control, effect).undefined
    assert effect_size(treatment.astype(float) + 1e-12 * control, control, "MD").undefined is None, "of 64 bits"
    treatment[np.abs(treatment).argmax()] += 3 * np.spacing(np.abs(treatment).max())
    assert effect_size(treatment, control, "MD").undefined is None


def test_almost_constant_differences_are_not_taken_for_constant():
    treatment = SPREAD + 0.1
    treatment[0] += 1e-14
    assert effect_size(treatment, SPREAD, "MD").undefined is None


@pytest.mark.parametrize(
    ("treatment", "control", "kind"),
    [([1.0, 2.0], [1.0], "MD"), ([[1.0]], [[1.0]], "MD"), ([1.0, math.nan], [1.0, 2.0], "MD"), ([1.0], [1.0], "RR")],
)
def test_wrong_input_is_refused(treatment, control, kind):
    with pytest.raises(ValueError):
        effect_size(np.array(treatment), np.array(control), kind)


def test_only_correlations_are_turned_back():
    assert [effect_named(name).reported(2.0) for name in ("MD", "SMD", "d_av")] == [2.0, 2.0, 2.0]
    assert effect_named("CORR").reported(math.atanh(0.3)) == pytest.approx(0.3, rel=1e-15)
