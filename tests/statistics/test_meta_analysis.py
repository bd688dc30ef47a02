"""Meta-analysis against R's metafor: against its stored output, and against metafor itself where it is installed."""

import math

import numpy as np
import pytest

from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.heterogeneity import q_statistic, tau2_interval
from ranktrial.statistics.independent_tasks import FEWEST, MetaAnalysis, meta_analysis
from ranktrial.statistics.least_squares import cr2, gls
from tests.support import r_numbers
from tests.support.debian import needed
from tests.support.r_numbers import INTERVALS

CASES = r_numbers.stored("metafor")
FITS = r_numbers.fits(CASES)


def ours(case: dict, fit: dict, which: slice | list[int] = slice(None), prediction: str = "k-2") -> MetaAnalysis:
    y, v = np.array(case["yi"])[which], np.array(case["vi"])[which]
    return meta_analysis(y, v, fit["estimator"], INTERVALS[fit["test"]], case["alpha"], prediction)


def close(found: float, expected: float, scale: float = 0.0) -> bool:
    """Equal to 1e-8 of the expected value, or of the `scale` of the numbers it is a difference of."""
    return abs(found - expected) <= 1e-8 * max(abs(expected), scale)


def same_p(p: float, log10_p: float, expected: float) -> bool:
    """Equal p-values: a relative error of the statistic grows with -log p in p; metafor's 0 is below 1e-307."""
    if expected == 0:
        return p > 0 and log10_p < -307
    tolerance = 1e-8 * max(1, -2 * math.log(expected))
    return math.isclose(p, expected, rel_tol=tolerance) and math.isclose(10**log10_p, expected, rel_tol=tolerance)


@pytest.mark.parametrize(("case", "fit"), FITS)
def test_agrees_with_metafor(case, fit):
    meta = ours(case, fit)
    scale = min(case["vi"])  # a tau2 far below every sampling variance has no digits of its own
    assert close(meta.summary.effect, fit["effect"])
    assert close(meta.summary.se, fit["se"])
    assert close(meta.summary.ci_low, fit["ci_low"], fit["se"])
    assert close(meta.summary.ci_high, fit["ci_high"], fit["se"])
    assert same_p(meta.summary.p_value, meta.summary.log10_p, fit["p_value"])
    assert np.allclose(meta.weights, fit["weights"], rtol=1e-8, atol=0)
    if meta.k == 1:
        assert meta.tau2 is meta.tau2_ci is meta.q is meta.i2 is meta.h2 is meta.prediction_interval is None
        return
    assert close(meta.tau2, fit["tau2"], scale)
    assert all(close(end, expected, scale) for end, expected in zip(meta.tau2_ci, fit["tau2_ci"], strict=True))
    assert math.isclose(meta.q, fit["q"], rel_tol=1e-8)
    assert same_p(meta.q_p_value, meta.q_log10_p, fit["q_p_value"])
    assert math.isclose(meta.i2, fit["i2"], rel_tol=1e-8, abs_tol=1e-8)
    assert math.isclose(meta.h2, fit["h2"], rel_tol=1e-8)
    assert (meta.prediction_interval is None) == (meta.prediction_df is None) == (meta.k < FEWEST)
    for prediction, stored in (("k-2", "prediction_interval"), ("k-1", "prediction_interval_k1")):
        if meta.k >= FEWEST and fit[stored][0] is not None:
            ends = zip(ours(case, fit, prediction=prediction).prediction_interval, fit[stored], strict=True)
            assert all(close(end, expected, fit["se"]) for end, expected in ends)


@pytest.mark.parametrize("case", [case for case in CASES if len(case["yi"]) > 1], ids=lambda case: case["name"])
def test_knapp_hartungs_interval_is_the_wider_of_metafors_two(case):
    for estimator in ("DL", "PM", "REML"):
        fits = [fit for fit in case["fits"] if fit["estimator"] == estimator and fit["test"] != "adhoc"]
        wider = max(fits, key=lambda fit: fit["ci_high"] - fit["ci_low"])
        summary = meta_analysis(case["yi"], case["vi"], estimator, "knapp-hartung", case["alpha"]).summary
        for name in ("effect", "ci_low", "ci_high"):
            assert close(getattr(summary, name), wider[name], wider["se"])
        assert same_p(summary.p_value, summary.log10_p, wider["p_value"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_fixed_effect_agrees_with_metafor(case):
    fixed = meta_analysis(case["yi"], case["vi"], alpha=case["alpha"]).fixed
    for name in ("effect", "se", "ci_low", "ci_high"):
        assert close(getattr(fixed, name), case["fixed"][name], case["fixed"]["se"])


@pytest.mark.parametrize(("case", "fit"), [param for param in FITS if len(param.values[0]["yi"]) > 2])
def test_leave_one_out_agrees_with_metafor(case, fit):
    k = len(case["yi"])
    for left_out in range(k):
        meta = ours(case, fit, [task for task in range(k) if task != left_out])
        expected = {name: values[left_out] for name, values in fit["leave_one_out"].items()}
        assert close(meta.summary.effect, expected["estimate"])
        assert close(meta.summary.se, expected["se"])
        assert close(meta.tau2, expected["tau2"], min(case["vi"]))
        assert math.isclose(meta.q, expected["Q"], rel_tol=1e-8)
        assert math.isclose(meta.i2, expected["I2"], rel_tol=1e-8, abs_tol=1e-8)


@pytest.mark.parametrize(("case", "fit"), [param for param in FITS if len(param.values[0]["yi"]) > 1])
def test_cumulative_agrees_with_metafor(case, fit):
    for last in range(2, len(case["yi"]) + 1):
        meta = ours(case, fit, slice(last))
        expected = {name: values[last - 1] for name, values in fit["cumulative"].items()}
        assert close(meta.summary.effect, expected["estimate"])
        assert close(meta.summary.se, expected["se"])
        assert close(meta.tau2, expected["tau2"], min(case["vi"]))


@pytest.mark.long
@pytest.mark.slow  # it installs R where there is none
def test_stored_values_are_what_metafor_computes_now():
    needed(["Rscript"], ["r-base-core", "r-cran-metafor"])
    computed = r_numbers.computed("metafor", packages=("metafor",))
    assert [case["name"] for case in computed] == [case["name"] for case in CASES]
    for now, stored in zip(numbers_of(computed), numbers_of(CASES), strict=True):
        assert now == stored or math.isclose(now, stored, rel_tol=1e-10, abs_tol=1e-13)


def numbers_of(value: object) -> list:
    """All leaves of a JSON value, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in numbers_of(item)] if isinstance(value, list) else [value]


def test_one_task_is_its_own_summary():
    meta = meta_analysis([0.3], [0.04], "REML", "knapp-hartung")
    assert meta.summary.effect == 0.3
    assert meta.summary.ci_high == pytest.approx(0.3 + 1.959963984540054 * 0.2, rel=1e-14)
    assert meta.weights == (1.0,)
    assert meta.q is meta.tau2 is meta.prediction_interval is None


def test_identical_effects_leave_no_p_value_and_no_nan():
    for interval in ("equal-weights", "knapp-hartung"):
        meta = meta_analysis([0.5, 0.5, 0.5], [0.01, 0.02, 0.03], interval=interval)
        assert (meta.tau2, meta.q, meta.i2, meta.h2, meta.tau2_ci) == (0, 0, 0, 1, (0, 0))
        assert meta.summary.effect == 0.5 and meta.summary.p_value is not None
        expected = 0.06 / 9 if interval == "equal-weights" else meta.fixed.variance
        assert meta.summary.variance == pytest.approx(expected, rel=1e-14)
    unmodified = meta_analysis([0.5, 0.5, 0.5], [0.01, 0.02, 0.03], interval="knapp-hartung-unmodified").summary
    assert unmodified.ci_low == unmodified.effect == unmodified.ci_high == 0.5
    assert unmodified.p_value is None


EQUAL = {
    "literals": [0.3, 0.1 + 0.2, 0.3],
    "means": [np.full(n, 0.7).cumsum()[-1] / n - 0.6 for n in (30, 77, 1000)],  # sums of a thousand steps: 3e-16 apart
    "large": [1e8 + 0.1, 1e8 + 0.1 + 1.5e-8, 1e8 + 0.1],
    "exact": [0.5, 0.5, 0.5],
}


@pytest.mark.parametrize("interval", ["knapp-hartung-unmodified", "robust"])
def test_effects_that_differ_by_rounding_alone_are_equal(interval):
    """Their spread says nothing: before, p of the first was 4e-33."""
    for name, effects in EQUAL.items():
        found = meta_analysis(effects, [0.001, 0.002, 0.0013], interval=interval).summary
        assert found.variance == 0 and found.p_value is None, name
        fit = gls(np.array(effects), np.diag([0.001, 0.002, 0.0013]) + 0.0005)
        assert fit.q == 0 == cr2(fit).variance, name
    close = meta_analysis([0.3, 0.3 + 1e-9, 0.3], [0.001, 0.002, 0.0013], interval=interval).summary
    assert close.p_value is not None  # small, but no rounding


@pytest.mark.parametrize("seed", range(20))
def test_knapp_hartungs_interval_is_never_narrower_than_the_normal_one_or_the_unmodified(seed):
    generator = np.random.default_rng(seed)
    y, v = generator.normal(0, 0.1 * (seed % 3), 4), generator.uniform(0.001, 0.02, 4)
    widths = []
    for interval in ("knapp-hartung", "normal", "knapp-hartung-unmodified"):
        summary = meta_analysis(y, v, interval=interval).summary
        widths.append(summary.ci_high - summary.ci_low)
    assert widths[0] == pytest.approx(max(widths[1:]), rel=1e-14)
    fixed = meta_analysis(y, v).fixed
    assert widths[1] >= fixed.ci_high - fixed.ci_low


def test_extremely_uneven_variances_do_not_cancel():
    """Two tasks of ordinary precision beside one of almost none: dropping it changes nothing that can be printed."""
    y, v = np.array([0.1, 0.3, 5.0]), np.array([0.01, 0.02, 1e20])
    with_it, without = meta_analysis(y, v, "PM"), meta_analysis(y[:2], v[:2], "PM")
    assert with_it.q == pytest.approx(without.q, rel=1e-14)
    assert with_it.fixed.effect == pytest.approx(without.fixed.effect, rel=1e-14)


def test_an_exact_effect_beside_uncertain_ones_keeps_the_digits_of_q():
    """With one variance almost 0, Q is the distance of the others from it, and C twice the sum of their weights."""
    y, v = np.array([0.1, 0.3, -0.2]), np.array([1e-30, 0.02, 0.05])
    q = 0.2**2 / 0.02 + 0.3**2 / 0.05
    assert q_statistic(y, v) == pytest.approx(q, rel=1e-14)
    assert estimator_named("DL").tau2(y, v) == pytest.approx((q - 2) / (2 * (1 / 0.02 + 1 / 0.05)), rel=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_solutions_are_roots_to_the_last_digits(seed):
    """A step of 1e-12 to either side of a solution changes the sign of the equation it solves."""
    generator = np.random.default_rng(seed)
    y, v = generator.normal(0, 0.3, 8), generator.uniform(0.001, 0.02, 8)

    def score(tau2: float) -> float:
        """The REML equation with explicit matrices (Viechtbauer 2005): y'PPy = tr P."""
        w = np.diag(1 / (v + tau2))
        p = w - w @ np.ones((8, 8)) @ w / w.sum()
        return y @ p @ p @ y - np.trace(p)

    low, high = tau2_interval(y, v, 0.05)
    for equation, root in (
        (score, estimator_named("REML").tau2(y, v)),
        (lambda tau2: q_statistic(y, v, tau2) - 7, estimator_named("PM").tau2(y, v)),
        (lambda tau2: q_statistic(y, v, tau2) - 16.012764274629324, low),  # R: qchisq(0.975, 7)
        (lambda tau2: q_statistic(y, v, tau2) - 1.6898691806773544, high),  # R: qchisq(0.025, 7)
    ):
        assert root > 0
        assert equation(root * (1 - 1e-12)) > 0 > equation(root * (1 + 1e-12))


@pytest.mark.parametrize(
    ("y", "v", "best"),
    [
        ([-0.9, 0.1, 0.0, 1.0, -0.1], [0.1, 0.01, 0.001, 10, 0.01], "low"),
        ([-3.2, 0.0, -0.1, 0.0, 0.5], [1, 10, 0.001, 0.001, 10], "high"),
    ],
)
def test_reml_takes_the_higher_of_two_maxima(y, v, best):
    y, v = np.array(y), np.array(v)

    def likelihood(value: float) -> float:
        w = 1 / (v + value)
        return 0.5 * (np.log(w).sum() - np.log(w.sum()) - q_statistic(y, v, value))

    grid = np.concatenate([[0], np.geomspace(1e-6, 1e3, 3001)])
    values = np.array([likelihood(tau2) for tau2 in grid])
    inner = (np.diff(values)[:-1] > 0) & (np.diff(values)[1:] < 0)
    peaks = [*([0] if values[0] > values[1] else []), *(np.flatnonzero(inner) + 1)]
    assert len(peaks) == 2 and peaks[np.argmax(values[peaks])] == {"low": peaks[0], "high": peaks[1]}[best]
    assert likelihood(estimator_named("REML").tau2(y, v)) >= values.max()


@pytest.mark.parametrize(
    ("y", "v", "settings"),
    [
        ([], [], {}),
        ([0.1], [0.1, 0.2], {}),
        ([0.1], [0.0], {}),
        ([math.nan], [0.1], {}),
        ([0.1], [0.1], {"estimator": "ML"}),
        ([0.1], [0.1], {"interval": "t"}),
    ],
)
def test_wrong_input_is_refused(y, v, settings):
    with pytest.raises(ValueError):
        meta_analysis(y, v, **settings)
