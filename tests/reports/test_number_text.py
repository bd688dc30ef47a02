"""How numbers are written: digits, signs, p-values, heterogeneity; and how text is broken."""

# ruff: noqa: RUF001 (the typographic minus, times and dash are what is tested)

from dataclasses import replace

import pytest

from ranktrial.records.comparison import EffectsRow
from ranktrial.reports.comparison import notes
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.reading import Forest, Found, Looks
from ranktrial.reports.figures.fonts import width, wrap
from tests.support.meta_records import facts, meta_record


def plain(*intervals: tuple[float, float], summary: dict | None = None, **changes) -> Forest:
    ends = {"weight": 0.5, "control_mean": 0.1, "treatment_mean": 0.2}
    tasks = [
        EffectsRow(task="a", n=9, effect=(low + high) / 2, ci_low=low, ci_high=high, **ends) for low, high in intervals
    ]
    found = Found(tuple(tasks), meta_record(summary=summary, **changes))
    return Forest((found,), Looks(alpha=0.05, judged=""), facts())


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(0.10, 0.27), (0.004, 0.014), (-0.01, 0.04)], form.Numbers(0, 3)),  # median half-width 0.025
        ([(0.2, 0.6)], form.Numbers(0, 2)),
        ([(-3.0, 9.0)], form.Numbers(0, 1)),
        ([(100.0, 900.0)], form.Numbers(0, 0)),
        ([(2e-7, 6e-7)], form.Numbers(-9, 0)),
        ([(2e6, 6e6)], form.Numbers(6, 1)),
        ([], form.Numbers(0, 3)),
        ([(0.5, 0.5)], form.Numbers(0, 3)),
    ],
)
def test_common_form_has_two_digits_of_the_median_half_width(intervals, expected):
    assert form.numbers(plain(*intervals)) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0042, 0.0138, ("0.009", "0.004", "0.014")),
        (0.0004, 0.0138, ("0.007", "0.0004", "0.014")),
        (-0.0138, -0.00004, ("−0.007", "−0.014", "−0.00004")),
        (0.0, 0.0138, ("0.007", "0.000", "0.014")),
        (3e-9, 0.5, ("0.250", "3.0×10⁻⁹", "0.500")),
    ],
)
def test_a_bound_prints_as_zero_only_if_it_is(low, high, expected):
    assert form.Numbers(0, 3).of((low + high) / 2, low, high) == expected


def test_an_effect_that_rounds_to_zero_has_no_minus():
    assert form.Numbers(0, 2).of(-0.001, -0.2, 0.2) == ("0.00", "−0.20", "0.20")
    assert form.Numbers(0, 2).of(None, -0.2, 0.2)[0] == ""


def test_a_sentence_has_the_decimals_that_its_bounds_need():
    common = form.Numbers(0, 3)
    assert form.in_text(common, -0.0138, -0.00004) == form.Numbers(0, 5)
    assert form.in_text(common, 0.0, 0.0138) == common == form.in_text(common, 3e-9, 0.5)


def test_a_column_has_the_decimals_of_the_unit_that_needs_most():
    assert form.of_several_units([("MD in AP", 0.03, 0.07), ("MD in ms", 100.0, 900.0)]) == form.Numbers(0, 3)
    assert form.of_several_units([("MD in AP", 0.03, 0.07), ("MD in AP", 0.1, 0.9)]) == form.Numbers(0, 2)
    assert form.of_several_units([("MD in AP", 1e-12, 1.1e-12)]) == form.Numbers(0, 6)
    assert form.of_several_units([]) == form.Numbers(0, 3)


def test_a_deviation_prints_as_zero_only_if_it_is():
    common = form.Numbers(0, 3)
    assert [common.deviation(value) for value in (0.0, 0.0004, 0.0006)] == ["0.000", "<0.001", "0.001"]


def test_powers_of_ten():
    assert form.Numbers(-6, 1).of(2.25e-6, 1e-6, 3.5e-6) == ("2.3", "1.0", "3.5")
    assert (form.Numbers(-6, 1).factor, form.Numbers(0, 1).factor) == ("×10⁻⁶", "")


@pytest.mark.parametrize(
    ("p", "alpha", "expected"),
    [
        (0.0004, 0.05, "<0.001"),
        (2.2e-308, 0.05, "<0.001"),
        (0.012, 0.05, "0.012"),
        (0.0499, 0.05, "<0.050"),
        (0.05004, 0.05, ">0.050"),
        (0.05, 0.05, "0.050"),
        (1.0, 0.05, "1.000"),
        (0.0009, 0.0005, "<0.001"),
    ],
)
def test_p_values_of_a_column_have_three_decimals(p, alpha, expected):
    assert form.p_value(p, alpha) == expected


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.0004, "p < 0.001"),
        (0.012, "p = 0.012"),
        (0.0499, "p = 0.0499"),
        (0.05004, "p = 0.05004"),
        (0.05, "p = 0.050"),
        (0.0500000001, "p > 0.05"),
        (0.04999999999, "p < 0.05"),
    ],
)
def test_p_values_of_sentences_have_the_decimals_they_need(p, expected):
    assert form.p_equals(p, 0.05) == expected


@pytest.mark.parametrize(("alpha", "expected"), [(0.05, "95%"), (0.1, "90%"), (0.001, "99.9%"), (0.3173, "68.27%")])
def test_confidence_level(alpha, expected):
    assert form.percent(alpha) == expected


def spoken(**changes) -> str:
    values = {"q": 130.84, "q_df": 6, "q_p_value": 1e-25, "i2": 95.36, "tau2": 0.00096, "tau2_ci": (0.00039, 0.0083)}
    wide = {"effect": 0.4, "ci_low": 0.2, "ci_high": 0.6}  # a summary as wide as the task
    forest = plain((0.2, 0.6), summary=wide, **(values | changes))
    return notes.heterogeneity(forest.groups[0].heterogeneity, forest).replace("\N{NO-BREAK SPACE}", " ")


def test_heterogeneity():
    """tau and its interval are roots of those of tau2, in the unit of the effect."""
    assert spoken() == (
        "τ = 0.03 in nDCG@10, 95% CI [0.02, 0.09]; Q = 130.8, df = 6, p < 0.001; I² = 95.4% (relative to sampling "
        "error: rises with the queries per task)"
    )
    assert "Q = 130.8, df = 6, p = 0.200;" in spoken(q_p_value=0.2)
    for tau2, interval, expected in (
        (0.0, (0.0, 0.0123), "τ = 0.00 in nDCG@10, 95% CI [0.00, 0.11];"),
        (9e-12, (0.0, 4e-10), "τ < 0.01 in nDCG@10, 95% CI [0.00, <0.01];"),
        (0.04, None, "τ = 0.20 in nDCG@10;"),
    ):
        assert spoken(tau2=tau2, tau2_ci=interval).startswith(expected), (tau2, interval)
    for effect, unit in (("SMD", "standardised difference"), ("CORR", "Fisher's z")):
        assert spoken(effect_type=effect).startswith(f"τ = 0.03 in {unit}, 95% CI")


def test_an_interval_that_has_no_name_is_not_called_normal():
    result = meta_record().meta
    assert notes.method(result) == "DL, normal interval"
    assert notes.method(replace(result, interval="knapp-hartung")) == "DL, Knapp-Hartung"
    with pytest.raises(
        ValueError,
        match="unknown 'other'; expected one of equal-weights, knapp-hartung, knapp-hartung-unmodified, normal",
    ):
        notes.method(replace(result, interval="other"))


def test_means_lose_decimals_as_they_grow():
    assert form.mean_decimals([0.494, None, 0.679]) == form.mean_decimals([]) == 3
    assert [form.mean_decimals([value]) for value in (10.5, 250.0, 99_999.0)] == [2, 1, 0]
    assert form.means(0.4941, None, 3) == ("0.494", "→", "–")


def test_summary_is_included_in_the_common_form():
    summary = {"effect": 0.3, "ci_low": 0.2999, "ci_high": 0.3001}
    assert form.numbers(plain((0.2, 0.6), summary=summary)).decimals == 1 - (-1)


@pytest.mark.parametrize("limit", [20.0, 45.0, 90.0, 400.0])
@pytest.mark.parametrize("text", ["a few plain words", "one/path-with_parts.and:more", "unbreakable" * 4, "", "x"])
def test_wrapped_lines_fit_and_lose_nothing(text, limit):
    lines = wrap(text, limit, 7.0)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width(line, 7.0) <= limit for line in lines)
    assert len(lines) == 1 or limit < 400


def test_text_breaks_at_spaces_before_it_breaks_words():
    assert wrap("alpha beta", width("alpha be", 7.0), 7.0) == ["alpha", "beta"]
    assert wrap("alpha-beta", width("alpha-be", 7.0), 7.0) == ["alpha-", "beta"]
    kept = "alpha\N{NO-BREAK SPACE}b"
    assert wrap(f"{kept} c", width(kept, 7.0), 7.0) == [kept, "c"]
