"""What a forest plot shows by option and what it says at its foot: further summaries, limits, columns, the margin."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ranktrial as rt
from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.records.comparison import ComparisonRow, EffectsRow
from ranktrial.reports.comparison import number_text
from ranktrial.reports.comparison.notes import notes as foot
from ranktrial.reports.comparison.notes import statistic
from ranktrial.reports.comparison.plot_text import axis_label
from ranktrial.reports.comparison.reading import Forest, Looks, PValues, read_found
from ranktrial.reports.figures.forest import forest_plot
from ranktrial.reports.figures.forest_layout import common_limits
from ranktrial.statistics.bayes import BayesianSummary
from ranktrial.statistics.summaries import Summary, SummaryEquivalence
from ranktrial.statistics.task_intervals import all_task_intervals
from tests.reports import test_forest
from tests.reports.test_forest import UNDEFINED, changed, of, outside, overlapping, patches, rows, with_rows, words
from tests.support.meta_records import facts, meta_record

BASE = test_forest.forest(7)
FIXED = {"effect": 0.018, "ci_low": 0.012, "ci_high": 0.024, "p_value": 1e-7}
SUMMARY = {"effect": 0.02, "ci_low": 0.005, "ci_high": 0.035, "p_value": 0.01, "df": 6}
MARGIN = SummaryEquivalence(0.01, 0.4, 0.003)
POSTERIOR = BayesianSummary(
    effect=0.021,
    sd=0.01,
    ci_low=0.002,
    ci_high=0.04,
    p_above_0=0.983,
    tau_median=0.02,
    tau_ci=(0.0, 0.05),
    prediction_interval=(-0.05, 0.08),
    tau_scale=0.1,
)
FIXED_MEAN = {"effect": 0.019, "ci_low": 0.011, "ci_high": 0.027, "p_value": 0.0002, "df": 60.4}


def found_in_full(**changes):
    given = {"summary": SUMMARY, "prediction_df": 5, "fixed": FIXED, "fixed_mean": FIXED_MEAN} | changes
    one = test_forest.found(7, **given)
    return replace(one, meta=replace(one.meta, equivalence=MARGIN, bayesian=POSTERIOR))


FULL = of(found_in_full(), fixed=True, bayesian=True)
OPTIONS = {
    "all": {},
    "narrow limits": {"limits": (-0.03, 0.03), "ticks": (-0.03, 0.0, 0.03), "digits": 2},
    "nothing in the limits": {"limits": (-0.0001, 0.0001)},
    "no columns": {"columns": ()},
    "some columns": {"columns": ("n", "p")},
    "many digits": {"digits": 5},
}


def notes(plot) -> str:
    """The text of a figure, in one line."""
    return " ".join(words(forest_plot(plot)))


@pytest.mark.parametrize("width", ["single column", "double column"])
@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_fits_the_page(option, width):
    figure = forest_plot(changed(FULL, width=width, **OPTIONS[option]))
    assert overlapping(figure) == []
    assert outside(figure) == []


def test_the_foot_states_the_intervals_the_test_of_the_summary_and_the_total():
    said = notes(FULL)
    t = abs(stats.t.ppf(0.01 / 2, 6))
    assert f"t = {t:.2f}, df = 6, p = 0.010." in said
    adjusted = changed(in_family(p_holm=0.03), correction="holm")
    assert f"t = {t:.2f}, df = 6, p = 0.010." in notes(adjusted)  # the test is the summary's own
    assert "95% intervals: tasks t; mean of these tasks t; random effects Knapp-Hartung." in said
    mean = abs(stats.t.ppf(0.0001, 60.4))
    assert f"Mean of these tasks (equal weights): t = {mean:.2f}, df = 60.4, p < 0.001. Random effects (DL" in said
    assert "Mean of these 7 tasks" in said
    assert "95% prediction interval, t(5)" in said
    assert f"{sum(row.n for row in rows(7)):,}" in said
    assert "Fixed effect: z = 5.33, p < 0.001." in said
    assert "prediction interval, t(5)." in notes(changed(FULL, width="single column"))


def in_family(**p_values):
    """The plot with the place of its comparison among eight."""
    family = ComparisonRow(comparison="x", control="c", treatment="t", measure="m", effect_type="MD", k=7, hypotheses=8,
                           margin_hypotheses=8, **p_values)  # fmt: skip
    return replace(FULL, comparisons=(replace(FULL.comparisons[0], family=family),))


def summary_of(effect, p, df=None):
    return Summary(effect, 1e-4, 1e-2, effect - 0.1, effect + 0.1, df, p, None)


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        (summary_of(-0.1, 0.05), "z = \N{MINUS SIGN}1.96"),
        (summary_of(0.1, 0.05, 3.46), f"t = {-stats.t.ppf(0.025, 3.46):.2f}, df = 3.5"),
        (summary_of(0.1, 0.0), "|z| > 37"),
        (summary_of(0.1, None, 1), ""),
    ],
)
def test_the_statistic_is_the_quantile_of_the_p_value(summary, said):
    assert statistic(summary) == said


@pytest.mark.parametrize("name", all_task_intervals())
def test_one_task_has_a_statistic_only_if_its_p_value_is_of_one(name):
    values = np.random.default_rng(1).normal(0.4, 0.1, (2, 30))
    found = rt.compare({"a": (values[0], values[1] + 0.04)}, task_interval=name, permutations=200)
    said = foot(found.plot(), True)[0].replace("\N{NO-BREAK SPACE}", " ")
    assert said.startswith({"t": "a: t = ", "normal": "a: z = "}.get(name, "a: p = ")), said


def test_a_summary_without_a_test_says_so():
    same = SUMMARY | {"effect": 0.1, "ci_low": 0.1, "ci_high": 0.1, "p_value": None}
    assert "Random effects (DL, Knapp-Hartung): no test, since its standard error is 0." in notes(
        of(found_in_full(summary=same))
    )


def test_further_summaries_are_diamonds_of_their_own():
    figure = forest_plot(FULL)
    assert [len(patches(figure, kind)) for kind in ("mean-", "diamond-", "fixed-", "posterior-")] == [1, 1, 1, 1]
    said = " ".join(words(figure))
    assert "P(effect > 0) = 0.983, of a new task [\N{MINUS SIGN}0.050, 0.080]" in said and "scale 0.1" in said
    plain = forest_plot(BASE)
    assert patches(plain, "fixed-") == patches(plain, "posterior-") == patches(plain, "margin") == []


def test_the_margin_is_a_band_and_its_tests_are_said():
    tested = [
        replace(row, equivalence_p_value=0.2, non_inferiority_p_value=p) for row, p in zip(rows(7), PS, strict=True)
    ]
    figure = forest_plot(with_rows(FULL, *tested))
    (band,) = patches(figure, "margin")
    fixed = patches(figure, "fixed-")[0].get_xy()[:, 0]  # 0.012 to 0.024: gives the scale
    assert band.get_width() / (fixed.max() - fixed.min()) == pytest.approx(0.02 / 0.012)
    said = " ".join(words(figure))
    assert (
        "Non-inferiority: random effects p = 0.003, 2 of 7 tasks; equivalence: random effects p = 0.400, 0 of 7 tasks at"
        in said
    )
    assert "p < 0.05, uncorrected." in said
    corrected = in_family(p_equivalence_holm=1.0, p_non_inferiority_holm=0.024)
    holm = [replace(row, non_inferiority_p_holm=row.non_inferiority_p_value) for row in tested]
    said = notes(changed(with_rows(corrected, *holm), correction="holm"))
    assert "Non-inferiority: random effects p = 0.024, 2 of 7 tasks; equivalence: random effects p = 1.000" in said
    assert "p < 0.05, Holm-corrected." in said


def test_too_few_tasks_have_a_sentence_in_place_of_a_prediction_interval():
    figure = forest_plot(forest_of(3, prediction=False))
    assert patches(figure, "prediction-") == []
    assert {"95% prediction interval", "none: it takes at least four collections"} <= set(words(figure))
    assert not any("prediction" in text for text in words(forest_plot(forest_of(1, prediction=False))))


def forest_of(k: int, prediction: bool):
    one = test_forest.found(k)
    return of(one if prediction else test_forest.found(k, prediction_interval=None))


PS = (0.01, 0.04, 0.06, 0.5, 0.9, 0.2, 0.3)


def test_intervals_that_limits_cut_end_in_arrows_and_what_lies_outside_has_no_mark():
    figure = forest_plot(changed(FULL, limits=(-0.03, 0.03), ticks=(-0.03, 0.0, 0.03)))
    assert {"\N{MINUS SIGN}0.03", "0.00", "0.03"} <= set(words(figure))
    inside = [row for row in rows(7) if -0.03 <= row.effect <= 0.03]
    assert len(patches(figure, "square-")) == len(inside) < 7
    beyond = forest_plot(changed(FULL, limits=(-0.0001, 0.0001)))
    assert patches(beyond, "diamond-") == [] != patches(beyond, "arrow")


def test_columns_and_digits_follow_the_configuration():
    shown = words(forest_plot(changed(BASE, columns=("n",), digits=1)))
    assert "n" in shown and not {"p", "Weight", "Mean difference"} & set(shown)
    shown = words(forest_plot(changed(BASE, digits=5)))
    assert f"{rows(7)[0].effect:.5f}" in shown


def test_sides_follow_the_direction_of_the_measure():
    shown = words(forest_plot(replace(BASE, facts=facts(lower_is_better=True))))
    assert {"← favours Uni-ColBERTer", "favours TAS-B →"} <= set(shown)


def test_tasks_that_a_system_learnt_from_are_marked():
    said = notes(replace(BASE, facts=facts(trained={"Uni-ColBERTer": ["Task 1", "Task 2"], "TAS-B": ["Task 2"]})))
    assert "Task 1† " in said and "Task 2†‡ " in said and "Task 3 " in said
    assert "† Uni-ColBERTer learnt from training queries of this task's dataset." in said
    assert "‡ TAS-B learnt" in said
    assert "†" not in notes(BASE)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([(1, 1)] * 7, None),
        ([(1, 5)] * 7, "Seeds averaged for each query: Uni-ColBERTer 5."),
        ([(3, 10)] + [(3, 1)] * 6, "Seeds averaged for each query: TAS-B 3; Uni-ColBERTer 1 (10 on Task 1)."),
    ],
)
def test_numbers_of_seeds_are_said(counts, said):
    made = [replace(row, control_seeds=c, treatment_seeds=t) for row, (c, t) in zip(rows(7), counts, strict=True)]
    text = notes(with_rows(BASE, *made))
    assert (said in text) if said else ("Seeds" not in text)


def test_a_trained_system_with_one_seed_says_so():
    made = [replace(row, control_seeds=1, treatment_seeds=1) for row in rows(7)]
    trained = replace(with_rows(BASE, *made), facts=facts(trained={"Uni-ColBERTer": ["Task 1"]}))
    assert "Seeds averaged for each query: Uni-ColBERTer 1." in notes(trained)


def test_a_task_that_is_left_out_keeps_a_readable_line():
    for width in ("single column", "double column"):
        figure = forest_plot(changed(with_rows(BASE, *rows(7), UNDEFINED), limits=(-0.01, 0.01), width=width))
        assert UNDEFINED.undefined in words(figure) and overlapping(figure) == []


def found(tmp_path, name: str, shift: float):
    """The files of a comparison whose tasks lie around `shift`."""
    own = {"control_mean": 0.3, "treatment_mean": 0.3 + shift, "effect": shift, "ci_low": shift - 0.02, "ci_high": shift + 0.02,
           "weight": 0.5, "control_seeds": 1, "treatment_seeds": 3, "p_value": 0.01, "equivalence_p_value": 0.2,
           "non_inferiority_p_value": 0.01, "non_inferiority_p_holm": 0.02, "t_p_holm": 0.04, "t_p_value": 0.02}  # fmt: skip
    table = [EffectsRow(task=task, n=n, **own) for task, n in (("a", 50), ("b", 60))]
    summary = {"effect": shift, "ci_low": shift - 0.01, "ci_high": shift + 0.01, "p_value": 0.04, "df": 1}
    meta = {"control": "c", "treatment": "t", "measure": "nDCG@10", "effect_type": "MD", "k": 2, "summary": summary,
            "fixed": summary | {"df": None}, "fixed_mean": summary, "prediction_interval": [0, 1], "prediction_df": 3, "q": None, "task_interval": "bca",
            "equivalence": {"margin": 0.01, "p_equivalence": 0.4, "p_non_inferiority": None},
            "bayesian": {"effect": shift, "sd": 0.01, "ci_low": shift - 0.01, "ci_high": shift + 0.01, "p_above_0": 0.9,
                         "prediction_interval": [0, 1], "tau_scale": 0.1, "tau_median": 0.1, "tau_ci": [0, 0.2]}}  # fmt: skip
    pd.DataFrame(table).to_csv(tmp_path / f"{name}.tsv", sep="\t", index=False)
    (tmp_path / f"{name}.json").write_text(json.dumps(given(meta_record(**meta))))
    return read_found(tmp_path / f"{name}.tsv", tmp_path / f"{name}.json")


LOOKS = Looks(alpha=0.05, judged="")
FACTS = facts()


def test_a_figure_is_read_from_files_as_its_looks_say(tmp_path):
    comparison = found(tmp_path, "x", 0.05)
    plain = Forest((comparison,), LOOKS, FACTS)
    (group,) = plain.groups
    assert group.fixed is group.posterior is None and group.margin == 0.01
    assert group.against_margin("equivalence") == PValues(0.4, 0.4)
    assert group.against_margin("non_inferiority") == PValues(None, None)
    assert "intervals: tasks BCa bootstrap" in notes(plain)
    assert (plain.p_column, Forest((comparison,), replace(LOOKS, correction="holm"), FACTS).p_column) == (
        "t_p_value",
        "t_p_holm",
    )
    looks = replace(LOOKS, fixed=True, bayesian=True, limits=(-1, 1), ticks=(0,), columns=("n",))
    plot = Forest((comparison,), looks, facts(trained={"t": ["b"]}))
    (group,) = plot.groups
    assert group.fixed.df is None and group.posterior.tau_scale == 0.1 and plot.limits == (-1, 1)
    assert [group.learnt(row, "treatment") for row in group.rows] == [False, True]
    assert "Non-inferiority: summary no test" in notes(plot) and "equivalence: summary p = 0.400" in notes(plot)


def test_more_than_three_treatments_have_a_row_each_unless_tasks_are_asked_for(tmp_path):
    several = tuple(found(tmp_path, f"x{number}", 0.05) for number in range(4))
    assert Forest(several, LOOKS, FACTS).of_treatments
    assert not Forest(several, replace(LOOKS, rows="tasks"), FACTS).of_treatments
    assert not Forest(several[:3], LOOKS, FACTS).of_treatments
    assert Forest(several[:2], replace(LOOKS, rows="treatments"), FACTS).of_treatments
    assert not Forest(several[:1], replace(LOOKS, rows="treatments"), FACTS).of_treatments


def test_figures_with_a_common_axis_have_limits_that_hold_all_of_them(tmp_path):
    comparisons = [found(tmp_path, "x", 0.05), found(tmp_path, "y", -0.3)]
    low, high = common_limits(comparisons, LOOKS, FACTS)
    assert low < -0.32 and high > 0.07
    assert common_limits(comparisons[::-1], replace(LOOKS, fixed=True), FACTS) == (low, high)


@pytest.mark.parametrize("inches", [(3.4, 6.0), (5.0, None), (6.0, 3.5), (8, 8), (12.0, 5.0)])
def test_width_and_height_in_inches(inches):
    """As the toolkit Ranger takes them: fig_width and fig_height."""
    width, height = inches
    figure = forest_plot(changed(FULL, width=width, height=height))
    assert figure.get_size_inches() == pytest.approx((width, height or figure.get_figheight()), abs=1e-9)
    assert overlapping(figure) == [] and outside(figure) == []


def test_a_height_that_the_lines_do_not_fit_in_is_refused():
    with pytest.raises(
        UserError, match=r"figure\.height: 3\.4 inches are too few for all lines, which need at least \d\.\d\d"
    ):
        forest_plot(changed(test_forest.forest(30), height=3.4))


def test_a_label_of_the_axis_of_ones_own():
    figure = forest_plot(changed(BASE, x_label="Difference of the means"))
    assert "Difference of the means" in words(figure)
    assert axis_label(BASE, number_text.numbers(BASE)) not in words(figure)
