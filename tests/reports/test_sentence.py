"""The sentences of a comparison: what each scope says, and that they never contradict one another."""

import itertools
import re
from dataclasses import replace

import pandas as pd
from scipy import stats

from ranktrial.records.comparison import ComparisonRow, EffectsRow, rows_of
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.notes import Verdict
from ranktrial.reports.comparison.reading import Forest, Found, Group, Looks, Mean
from ranktrial.reports.comparison.sentence import Answer, answers, sentence
from ranktrial.reports.comparison.table import as_table, notes, tasks_table
from tests.support.meta_records import facts, meta_record

MINUS = "\N{MINUS SIGN}"
LOOKS = Looks(alpha=0.05, judged="")
LABELS = Labels({}, {"t": "Tuned & Co", "c": "BM25"})
SUMMARY = {"effect": 0.05, "se": 0.01, "ci_low": 0.03, "ci_high": 0.07, "df": None, "p_value": 1e-6}
META = {
    "control": "c", "treatment": "t", "measure": "nDCG@10", "effect_type": "MD", "task_interval": "t", "k": 4,
    "summary": SUMMARY, "fixed_mean": SUMMARY | {"effect": 0.045, "ci_low": 0.04, "ci_high": 0.05}, "fixed": SUMMARY,
    "prediction_interval": [-0.02, 0.12], "prediction_df": None, "q": 5.0, "q_df": 3, "q_p_value": 0.08, "i2": 60.0,
    "tau2": 0.001, "tau2_ci": [0.0, 0.01], "warnings": [],
}  # fmt: skip
OLD_WORDS = ("chance", "told apart", "luck", "beyond", "a gain", "a loss", "not worse")


def found(family: ComparisonRow | None = None, low: float = 0.01, **changes) -> Found:
    """A comparison with one row per task, the lower ends of their intervals at `low`."""
    k = changes.get("k", 4)
    variances = changes.pop("variances", [4e-4] * k)
    rows = [{"task": f"task {place}", "n": 50, "effect": 0.05, "ci_low": low, "ci_high": 0.09, "weight": 1 / k, "p_value": 0.01,
             "variance": variances[place], "control_mean": 0.3, "treatment_mean": 0.35, "t_p_value": 0.01} for place in range(k)]  # fmt: skip
    table = pd.DataFrame(
        rows
        or [{"task": "a", "n": 1, "undefined": "too few queries", "effect": None, "weight": None, "t_p_value": None}]
    )
    return Found(tuple(rows_of(EffectsRow, table)), meta_record(**META | changes), family)


def plot_of(one: Found, looks: Looks = LOOKS, **known) -> Forest:
    return as_table(one, looks, facts(LABELS, **known))


def said(one: Found | None = None, looks: Looks = LOOKS, known: dict | None = None, **changes) -> str:
    one = one or found(**changes)
    return sentence(one.meta, plot_of(one, looks, **known or {}))


def holm(summary: float, mean: float, hypotheses: int = 8, non_inferiority: float = 0.04) -> ComparisonRow:
    return ComparisonRow(
        comparison="x", control="c", treatment="t", measure="nDCG@10", effect_type="MD", k=4, hypotheses=hypotheses,
        p_holm=summary, p_bh=summary, fixed_mean_p_holm=mean, fixed_mean_p_bh=mean, margin_hypotheses=2,
        p_non_inferiority_holm=non_inferiority, p_non_inferiority_bh=non_inferiority,
    )  # fmt: skip


def test_a_comparison_answers_in_three_scopes():
    assert said() == (
        "On these four collections, mean nDCG@10 of Tuned & Co exceeds that of BM25 by 0.045 (95% CI 0.040 to 0.050; "
        "p < 0.001): significant at the 0.05 level. Over collections like these, the mean difference is estimated at 0.050 "
        "(95% CI 0.030 to 0.070; p < 0.001): significant at the 0.05 level. In a new collection, the difference is "
        f"expected between {MINUS}0.020 and 0.120 (95% prediction interval), so either system may be better there."
    )


def test_a_correction_is_named_with_its_number_of_hypotheses():
    summary = SUMMARY | {"p_value": 0.009}
    text = said(found(holm(0.064, 2e-6), summary=summary, prediction_interval=[0.01, 0.1]))
    assert "p < 0.001, Holm-corrected p < 0.001 for eight hypotheses): significant at the 0.05 level. " in text
    assert (
        "p = 0.009, Holm-corrected p = 0.064): significant at the 0.05 level alone, but not after Holm correction. "
        in text
    )
    assert text.endswith("and 0.100 (95% prediction interval), which excludes 0 without correction.")
    alone = said(found(holm(0.009, 0.01, hypotheses=1), summary=summary))
    assert "Holm" not in alone and "p = 0.009): significant at the 0.05 level. " in alone


def test_the_sentences_follow_the_numbers():
    below = {"effect": -0.05, "ci_low": -0.1, "ci_high": -0.01}
    for changes, expected in (
        ({"fixed_mean": SUMMARY | below}, f"is below that of BM25 by 0.050 (difference {MINUS}0.050, 95% CI "),
        ({"summary": SUMMARY | below}, f"estimated at {MINUS}0.050 (95% CI {MINUS}0.100 to {MINUS}0.010;"),
        ({"prediction_interval": [0.01, 0.1]}, ", so Tuned & Co is expected to be better there."),
        ({"summary": SUMMARY | below, "prediction_interval": [-0.2, -0.01]}, ", so BM25 is expected to be better there."),
        ({"effect_type": "SMD"}, "exceeds that of BM25 by 0.045 standard deviations (95% CI"),
        ({"effect_type": "d_av"}, "the mean standardised difference is estimated at 0.050"),
        ({"effect_type": "CORR"}, "On these four collections, the mean correlation of Tuned & Co with BM25 is 0.045"),
        ({"effect_type": "CORR"}, f"the correlation is expected between {MINUS}0.020 and 0.120 (95% prediction interval)."),
        ({"k": 3, "prediction_interval": None},
         "There is no prediction interval for a new collection: it takes at least four collections."),
        ({"k": 1, "prediction_interval": None, "q": None}, "On this collection, mean nDCG@10"),
        ({"k": 1, "prediction_interval": None, "q": None},
         "One collection does not show how effects vary between collections, so nothing follows for others."),
        ({"k": 0, "summary": None, "fixed_mean": None, "q": None}, "No collection has an effect of Tuned & Co over BM25 that can be computed"),
        ({"summary": SUMMARY | {"ci_low": 0.05, "ci_high": 0.05, "p_value": None}},
         "(95% CI 0.050 to 0.050; no test, since the effects of the tasks are equal)."),
        ({"low": -0.01}, "The 95% CI of each single collection includes 0."),
    ):  # fmt: skip
        assert expected in said(**changes), changes


def test_two_collections_whose_mean_is_open_say_next_to_nothing_about_others():
    clause = "; {} collections provide almost no information about collections like these."
    open_mean = SUMMARY | {"ci_low": -0.2, "ci_high": 0.3, "p_value": 0.3}
    none = {"prediction_interval": None}
    two = said(k=2, summary=open_mean, **none)
    assert clause.format("two") in two and "p = 0.300): not significant at the 0.05 level; two" in two
    assert "almost no information" not in said(k=2, **none) + said(k=3, summary=open_mean, **none) + said(
        summary=open_mean
    )
    for reach in (1.0, 100.0):
        beyond = open_mean | {"ci_low": -1.2 * reach}
        within = open_mean | {"ci_low": -0.9 * reach, "ci_high": 0.9 * reach}
        assert clause.format("three") in said(k=3, summary=beyond, reach=reach, **none)
        for others in (
            {"summary": beyond},
            {"k": 3, "summary": beyond, "effect_type": "SMD", **none},
            {"k": 3, "summary": within, **none},
        ):
            assert "almost no information" not in said(**others, reach=reach), others


def test_an_estimate_of_zero_has_no_direction():
    for effect in (0.0, 0.0001, -0.0001):
        text = said(fixed_mean=SUMMARY | {"effect": effect, "ci_low": -0.03, "ci_high": 0.03, "p_value": 0.99})
        assert "the mean difference in nDCG@10 between Tuned & Co and BM25 is 0.000 (95% CI" in text
        assert "exceeds" not in text and "below" not in text
    tiny = {"ci_low": 1e-7, "ci_high": 3e-7, "effect": 2e-7}
    text = said(fixed_mean=SUMMARY | tiny, summary=SUMMARY | tiny, prediction_interval=None)
    assert "exceeds that of BM25 by 0.00000020" in text or "exceeds that of BM25 by 2.0" in text


def test_a_mean_that_is_more_exact_than_the_tasks_keeps_its_digits():
    """Two decimals fit tasks with intervals of 0.2; those of 48 tasks' mean would read 0.08 (0.07 to 0.10)."""
    wide = found(fixed_mean=SUMMARY | {"effect": 0.0823, "ci_low": 0.0671, "ci_high": 0.0975}, summary=SUMMARY)
    wide = replace(wide, effects=tuple(replace(row, ci_low=-0.05, ci_high=0.15) for row in wide.effects))
    text = said(wide)
    assert "by 0.082 (95% CI 0.067 to 0.098;" in text and "estimated at 0.050 (95% CI 0.030 to 0.070;" in text
    assert f"between {MINUS}0.02 and 0.12 (95% prediction" in text
    assert "by 0.08 (95% CI 0.07 to 0.10;" in said(wide, looks=replace(LOOKS, digits=2))


def test_lower_is_better_turns_who_is_better_not_which_mean_is_higher():
    text = said(known={"lower_is_better": True}, prediction_interval=[0.01, 0.1])
    assert "exceeds that of BM25" in text and text.endswith("so BM25 is expected to be better there.")


def test_both_means_have_the_collections_on_which_systems_are_the_same():
    mean = {"ci_low": 0.01, "ci_high": 0.03}
    one = found(sensitivity={"summary": mean | {"effect": 0.02}, "fixed_mean": mean | {"effect": 0.015}, "tasks": {"d": {}, "e": {}}})  # fmt: skip
    assert (
        "With the two collections on which both systems are the same (variance pooled from the others), the mean "
        "difference is 0.015 (95% CI 0.010 to 0.030) on these six collections and 0.020 (95% CI 0.010 to 0.030) over "
        "collections like these."
    ) in said(one)


def test_a_difference_that_every_query_has_is_not_called_the_same():
    mean = {"ci_low": 0.01, "ci_high": 0.03}
    for differences, expected in (
        ({"d": -0.4}, f"With the collection on which every query differs by {MINUS}0.400 (variance pooled"),
        ({"d": 0.0, "e": 0.25}, "With the collection on which both systems are the same and the collection on which "
         "every query differs by 0.250 (variance"),
        ({"d": 0.1, "e": -0.25}, "With the two collections on which every query of one of them differs by 0.100, "
         f"{MINUS}0.250 (variance"),
    ):  # fmt: skip
        of_tasks = {task: {"effect": effect} for task, effect in differences.items()}
        of_means = {"summary": mean | {"effect": 0.02}, "fixed_mean": mean | {"effect": 0.015}}
        assert expected in said(sensitivity={"tasks": of_tasks, **of_means})


def test_non_inferiority_has_the_scope_of_the_summary():
    margin = {"margin": 0.01, "p_equivalence": 0.2, "p_non_inferiority": 0.03}
    one = said(k=1, q=None, prediction_interval=None, equivalence=margin)
    assert "Non-inferiority of Tuned & Co to BM25 on this collection, with margin" in one
    tasks = said(k=1, q=None, prediction_interval=None, equivalence=margin, of_tasks=True)
    assert "Non-inferiority of Tuned & Co to BM25 over tasks like the 50 of task 0, with" in tasks


def test_non_inferiority_is_corrected_as_the_verdicts_are():
    margin = {"margin": 0.01, "p_equivalence": 0.2, "p_non_inferiority": 0.03}
    text = said(found(holm(0.001, 0.001), equivalence=margin))
    assert (
        "Non-inferiority of Tuned & Co to BM25 over collections like these, with margin 0.01, is shown at the 0.05 level "
        "(p = 0.030, Holm-corrected p = 0.040 for two hypotheses)." in text
    )
    adjusted = holm(0.001, 0.001, non_inferiority=0.06)
    assert "is not shown at the 0.05 level (p = 0.030, Holm-corrected p = 0.060" in said(
        found(adjusted, equivalence=margin)
    )


def mean_of(effect: float, p: float | None) -> dict:
    """A mean with the interval of its p-value."""
    half = 0.0 if p is None else abs(effect or 0.02) * stats.norm.ppf(0.975) / max(stats.norm.isf(p / 2), 1e-9)
    return {"effect": effect, "ci_low": effect - half, "ci_high": effect + half, "df": None, "p_value": p}


EFFECTS = (0.04, 0.0, -0.04)
TESTS = {  # p, and Holm's for eight hypotheses
    (0.001, 0.008): Verdict.SIGNIFICANT,
    (0.02, 0.16): Verdict.BEFORE_CORRECTION,
    (0.3, 1.0): Verdict.NOT_SIGNIFICANT,
    (None, None): Verdict.UNTESTED,
}
PREDICTIONS = (None, (-0.1, 0.1), (0.0, 0.1), (0.01, 0.1), (-0.1, -0.01))


def results():
    """A grid of results: both means by sign and significance, prediction, with and without a margin, either direction."""
    means = [(effect, test) for effect in EFFECTS for test in TESTS if effect or test[0] == 0.3]
    for (here, like), prediction, lower in itertools.product(
        itertools.product(means, means), PREDICTIONS, (False, True)
    ):
        (effect, (p, by_holm)), (other, (own, adjusted)) = here, like
        if p is None:
            continue  # the mean on these collections always has a test
        margin = (
            {"equivalence": {"margin": 0.01, "p_equivalence": 0.2, "p_non_inferiority": 0.03}} if prediction else {}
        )
        one = found(holm(adjusted, by_holm), fixed_mean=mean_of(effect, p), summary=mean_of(other, own),
                    prediction_interval=prediction, **margin)  # fmt: skip
        yield one, lower


def test_equal_weights_give_both_means_one_estimate_and_why_the_second_may_be_the_surer():
    surer = {"fixed_mean": mean_of(0.05, 0.3), "summary": mean_of(0.05, 0.001)}
    text = said(found(None, interval="equal-weights", q=1.0, **surer))
    assert "The effects differ less between the collections than their sampling errors suggest." in text
    assert "weighs the collections equally" not in text and "sampling errors" in text
    spread = said(found(None, interval="equal-weights", q=9.0, **surer))
    assert "sampling errors" not in spread
    assert "The first interval is from the spread of the queries, the second from that of the effects." in spread
    holm_alone = {"fixed_mean": mean_of(0.05, 0.027), "summary": mean_of(0.05, 0.047)}
    by_holm = said(found(holm(0.047, 0.055), interval="equal-weights", q=1.0, **holm_alone))
    assert "Each scope has its own Holm correction; before it, both means are significant." in by_holm
    assert "sampling errors" not in by_holm
    less_sure = {"fixed_mean": mean_of(0.05, 0.001), "summary": mean_of(0.05, 0.3)}
    assert "sampling errors" not in said(found(None, interval="equal-weights", **less_sure))


VERDICTS = {
    Verdict.SIGNIFICANT: "): significant at the 0.05 level.",
    Verdict.BEFORE_CORRECTION: "): significant at the 0.05 level alone, but not after Holm correction.",
    Verdict.NOT_SIGNIFICANT: "): not significant at the 0.05 level.",
    Verdict.UNTESTED: "; no test, since the effects of the tasks are equal).",
}


def contradictions(one: Found, plot: Forest) -> list[str]:
    """What is wrong with the sentences of one result."""
    mean, summary = plot.groups[0].fixed_mean, plot.groups[0].summary
    here, like, new = answers(one.meta, plot)
    text = sentence(one.meta, plot)
    stronger = TESTS[summary.p_value, summary.test.holm] > TESTS[mean.p_value, mean.test.holm]
    opposed = summary.effect * mean.effect < 0
    by_holm = stronger and not opposed and mean.p_value < plot.alpha
    by_precision = opposed or (stronger and not by_holm)
    checks = {
        "old words": not any(word in text.lower() for word in OLD_WORDS),
        "non-inferiority is corrected": ("Non-inferiority" in text) == ("Holm-corrected p = 0.040 for two" in text),
        "why the means differ": ("weighs the collections equally" in text) == by_precision,
        "that Holm differs": ("before it, both means are significant" in text) == by_holm,
        "relation": ("exceeds that of" in text, "is below that of" in text) == (mean.effect > 0, mean.effect < 0),
        **mean_checks("here", here, mean, plot),
        **mean_checks("like these", like, summary, plot),
        **prediction_checks(new, plot.groups[0], plot),
    }
    return [f"{name}: {text}" for name, holds in checks.items() if not holds]


def mean_checks(name: str, answer: Answer, mean: Mean, plot: Forest) -> dict[str, bool]:
    """Sentence, short answer and its colour say the same of a mean."""
    expected = TESTS[mean.p_value, mean.test.holm]
    significant = expected is Verdict.SIGNIFICANT
    better = (mean.effect > 0) != plot.lower_is_better
    words = f"{'yes' if better else 'no'}, {'higher' if mean.effect > 0 else 'lower'}"
    return {
        f"verdict {name}": [one for one, text in VERDICTS.items() if text in answer.sentence] == [expected],
        f"kind {name}": answer.kind == (("better" if better else "worse") if significant else "open"),
        f"words {name}": (answer.words == words) if significant else not answer.words.startswith(("yes", "no,")),
        f"correction {name}": ("p = " in answer.sentence or "p < " in answer.sentence) == ("Holm-c" in answer.sentence),
    }


def prediction_checks(new: Answer, group: Group, plot: Forest) -> dict[str, bool]:
    """A winner in a new collection is named only where the interval excludes 0 and the mean over collections is
    significant.
    """
    if group.prediction is None:
        return {"no prediction": "no prediction interval" in new.sentence and new.kind == "open"}
    low, high = group.prediction
    excludes_0 = low > 0 or high < 0
    significant = TESTS[group.summary.p_value, group.summary.test.holm] is Verdict.SIGNIFICANT
    winner = re.search(r"so (Tuned & Co|BM25) is expected to be better", new.sentence)
    treatment = (low > 0) != plot.lower_is_better
    return {
        "a winner": bool(winner) == (excludes_0 and significant) == (new.kind != "open"),
        "the winner": winner is None or winner[1] == ("Tuned & Co" if treatment else "BM25"),
        "either may be better": ("either system may be better" in new.sentence) != excludes_0,
    }


def test_sentences_never_contradict():
    count = 0
    for one, lower in results():
        assert contradictions(one, plot_of(one, lower_is_better=lower)) == []
        count += 1
    assert count > 400


def test_a_sentence_says_which_side_learnt_from_the_collections():
    one = found()
    learnt = {"trained": {"t": ["task 1", "task 2"], "c": ["task 1"]}}
    expected = (
        "In-domain training: Tuned & Co learnt from training queries of two of these four collections, BM25 of one."
    )
    assert expected in said(one, known=learnt) and "In-domain" not in said(one)
    both = {"trained": {"t": ["task 1"], "c": ["task 1"]}}
    assert "In-domain" not in said(one, known=both)
    every = {"trained": {"c": [f"task {place}" for place in range(4)]}}
    assert "Tuned & Co learnt from training queries of none of these four collections, BM25 of all." in said(
        one, known=every
    )
    alone = said(known={"trained": {"c": ["task 0"]}}, k=1)
    assert "BM25 learnt from training queries of this collection, Tuned & Co did not." in alone


def test_a_sentence_says_what_is_not_stated_of_published_weights():
    one, unstated = found(), {"trained": {"t": ["task 1"]}, "unstated": ("c",)}
    assert "BM25 of none, as far as is stated." in said(one, known=unstated)
    assert "stated" not in said(one, known=unstated | {"unstated": ()})
    assert "stated" not in said(one, known={"unstated": ("c",)})  # nobody is known to have learnt from them
    alone = said(known={"trained": {"t": ["task 0"]}, "unstated": ("c",)}, k=1)
    assert (
        "Tuned & Co learnt from training queries of this collection, whether the published weights of BM25 did" in alone
    )
    assert "Not stated: what the published weights of BM25 were trained on." in notes(plot_of(one, **unstated))


def test_tasks_of_a_table_are_marked_as_in_the_figure():
    one = found()
    plot = plot_of(one, trained={"t": ["task 1"]})
    assert [row[0] for row in tasks_table(plot).blocks[0]] == ["task 0", "task 1\N{DAGGER}", "task 2", "task 3"]
    assert "\N{DAGGER} Tuned & Co learnt from training queries of this task's dataset." in notes(plot)
