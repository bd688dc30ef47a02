"""A comparison in sentences: on these collections, over collections like them, in a new one; reads, writes nothing.

Each sentence gives estimate, interval, test, correction and scope. What cannot be said (a prediction from fewer than
four collections) has a sentence in its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ranktrial.records.comparison import MetaRecord, SensitivityRecord
from ranktrial.reports.comparison import few_collections, leaderboard, plot_text, unjudged, weights_text
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.forest_data import AgainstMargin, Diamond, Forest
from ranktrial.reports.comparison.verdict import Verdict, answer, in_full, verdict
from ranktrial.statistics.intervals import has_own_weights
from ranktrial.statistics.meta_analysis.summaries import Summary


@dataclass(frozen=True)
class Answer:
    """The answer of a comparison in one scope: a word or two with their type (better, worse, open), and a sentence."""

    scope: str
    words: str
    kind: str
    sentence: str


def sentence(meta: MetaRecord, plot: Forest) -> str:
    """All that the comparison of a meta record says, as one paragraph. `plot` is its forest plot, whose numbers it
    repeats.
    """
    return " ".join([*(one.sentence for one in answers(meta, plot)), *remarks(meta, plot)])


def answers(meta: MetaRecord, plot: Forest) -> list[Answer]:
    """The answers of a comparison: one for each scope that has one."""
    group = plot.groups[0]
    mean, summary, k = group.fixed_mean, group.summary, meta.k
    if mean is None or summary is None:
        nothing = "No task has an effect that can be computed."
        return [Answer("On these collections", *answer(plot, None), nothing)]
    here = "On this collection" if k == 1 else f"On these {form.spelled(k)} collections"
    here = leaderboard.scope(plot) if meta.of_tasks else here
    found = [
        Answer(
            here,
            *answer(plot, mean),
            f"{here}, {_finding(plot, mean)} {_tested(plot, mean, _signed(plot, mean), True)}.",
        )
    ]
    if meta.of_tasks:
        return [*found, *_of_leaderboard(meta, plot, mean)]
    if k == 1:
        nothing = "One collection does not show how effects vary between collections, so nothing follows for others."
        return [*found, Answer("In other collections", "not known", "open", nothing)]
    like_these = f"Over collections like these, the mean {plot.effect.NOUN} is estimated at {_number(plot, summary)}"
    like_these += f" {_tested(plot, summary)}{few_collections.remark(plot, summary, k)}."
    like_these += _why_they_differ(meta, plot, mean, summary) + weights_text.other_answer(meta, plot)
    found.append(Answer("Over collections like these", *answer(plot, summary), like_these))
    return [*found, Answer("In a new collection", *_prediction(plot, summary))]


def _of_leaderboard(meta: MetaRecord, plot: Forest, mean: Diamond) -> list[Answer]:
    """The answer of a comparison of task scores for a further task, and its limits."""
    nothing = Answer("On single tasks", "not known", "open", leaderboard.NOT_CONCLUDED)
    interval = leaderboard.in_a_further_task(plot, meta)
    if interval is None:
        return [nothing]
    further = _prediction(plot, replace(mean, prediction_interval=interval), "In a further task")
    return [Answer("In a further task", *further), nothing]


def remarks(meta: MetaRecord, plot: Forest) -> list[str]:
    """What qualifies the answers: who learnt from the collections, tasks without a difference, the margin, unjudged
    documents, seeds.
    """
    group = plot.groups[0]
    said = [*filter(None, [in_domain(plot), _no_task_alone(plot), weights_text.deciding_task(meta, plot)])]
    if meta.sensitivity:
        said.append(_with_identical(meta.sensitivity, meta.k, plot))
    if group.margin and group.margin.non_inferiority.own_p is not None:
        said.append(_non_inferiority(meta, plot, group.margin.margin, group.margin.non_inferiority))
    return [*said, *filter(None, [unjudged.remark(meta, plot), plot.seeds_note])]


def in_domain(plot: Forest) -> str:
    """On how many collections control and treatment learnt from training queries; empty if that is the same."""
    group = plot.groups[0]
    learnt = {role: {row.task for row in group.rows if role in row.trained} for role in ("treatment", "control")}
    if learnt["treatment"] == learnt["control"]:
        return ""
    if len(group.rows) == 1:
        names = (group.treatment, plot.control) if learnt["treatment"] else (plot.control, group.treatment)
        other = "whether the published weights of {} did is not stated" if names[1] in plot.unstated else "{} did not"
        said = f"In-domain training: {{}} learnt from training queries of this collection, {other}."
        return said.format(*names)
    k = len(group.rows)
    sides = {group.treatment: learnt["treatment"], plot.control: learnt["control"]}
    unstated = any(name in plot.unstated and len(tasks) < k for name, tasks in sides.items())
    counts = {role: {0: "none", k: "all"}.get(len(tasks), form.spelled(len(tasks))) for role, tasks in learnt.items()}
    known = ", as far as is stated" if unstated else ""
    return (
        f"In-domain training: {group.treatment} learnt from training queries of {counts['treatment']} of these "
        f"{form.spelled(k)} collections, {plot.control} of {counts['control']}{known}."
    )


def _finding(plot: Forest, mean: Diamond) -> str:
    """The estimate as the effect type puts it; an estimate that prints as 0 has no direction."""
    number = _number(plot, mean)
    names = {"measure": plot.measure, "control": plot.control, "treatment": plot.groups[0].treatment}
    if plot.effect.HAS_DIFFERENCE and not _has_digits(number):
        between = "between {treatment} and {control}".format(**names)
        return f"the mean {plot.effect.NOUN} in {plot.measure} {between} is {number}"
    relation = "exceeds" if mean.effect > 0 else "is below"
    return plot.effect.FINDING.format(**names, number=number, size=number.lstrip(form.MINUS), relation=relation)


def _has_digits(number: str) -> bool:
    """Whether a number prints as another one than 0."""
    return any(digit in number.split(form.TIMES)[0] for digit in "123456789")


def _signed(plot: Forest, mean: Diamond) -> str:
    """The estimate with its sign, where the finding gives its size alone and its interval is of negative numbers."""
    number = _number(plot, mean)
    sized = "{size}" in plot.effect.FINDING and mean.effect < 0 and _has_digits(number)
    return f"difference {number}, " if sized else ""


def _number(plot: Forest, mean: Diamond) -> str:
    return _with_unit(plot, _numbers(plot, mean.ci_low, mean.ci_high).of(mean.effect, mean.ci_low, mean.ci_high)[0])


def _numbers(plot: Forest, low: float, high: float) -> form.Numbers:
    """The figure's form of numbers, with more decimals where the half-width of this interval would be less than five
    units of the last, or a bound would print as 0.
    """
    common, half = form.numbers(plot), (high - low) / 2
    if plot.digits is not None or half <= 0:
        return common
    own = math.ceil(round(math.log10(5 * 10**common.exponent / half), 9))
    return form.in_text(form.Numbers(common.exponent, max(common.decimals, own)), low, high)


def _with_unit(plot: Forest, number: str) -> str:
    factor = form.numbers(plot).factor
    return f"{number} {factor}" if factor else number


def _tested(plot: Forest, mean: Diamond, signed: str = "", counted: bool = False) -> str:
    """Interval (after `signed`), test, correction (`counted`: with the number of hypotheses) and verdict."""
    _, low, high = _numbers(plot, mean.ci_low, mean.ci_high).of(mean.effect, mean.ci_low, mean.ci_high)
    interval = f"{signed}{form.percent(plot.alpha)} CI {low} to {_with_unit(plot, high)}"
    found = verdict(mean, plot.alpha)
    if found is Verdict.UNTESTED:
        return f"({interval}; no test, since the effects of the tasks are equal)"
    return f"({interval}; {_p_values(mean, plot.alpha, counted)}): {in_full(found, plot.alpha)}"


def _p_values(mean: Diamond | AgainstMargin, alpha: float, counted: bool = False) -> str:
    assert mean.own_p is not None
    own = form.p_equals(mean.own_p, alpha)
    if mean.p_holm is None or mean.hypotheses < 2:
        return own
    number = f" for {form.spelled(mean.hypotheses)} hypotheses" if counted else ""
    return f"{own}, Holm-corrected {form.p_equals(mean.p_holm, alpha)}{number}"


def _why_they_differ(meta: MetaRecord, plot: Forest, mean: Diamond, summary: Diamond) -> str:
    """The reason why the second scope may differ from the first in significance or sign."""
    opposed = mean.effect * summary.effect < 0
    tested = mean.own_p is not None and summary.own_p is not None
    stronger = tested and verdict(summary, plot.alpha) > verdict(mean, plot.alpha)
    if not stronger and not opposed:
        return ""
    if not opposed and mean.own_p is not None and mean.own_p < plot.alpha:
        return " Each scope has its own Holm correction; before it, both means are significant."
    if not has_own_weights(plot.interval):
        return " The first mean weighs the collections equally, the second by precision."
    q, df = (meta.meta.q, meta.meta.q_df) if meta.meta else (None, None)
    if q is not None and df is not None and q < df:
        return " The effects differ less between the collections than their sampling errors suggest."
    return " The first interval is from the spread of the queries, the second from that of the effects."


def _prediction(plot: Forest, summary: Diamond, where: str = "In a new collection") -> tuple[str, str, str]:
    """The prediction interval of the effect in a new collection; its conclusion only if the mean supports it."""
    if summary.prediction_interval is None:
        why = plot_text.no_prediction(plot.groups[0])
        return "no prediction", "open", f"There is no prediction interval for a new collection{why}."
    low, high = summary.prediction_interval
    _, low_text, high_text = _numbers(plot, low, high).of(None, low, high)
    level = f"{form.percent(plot.alpha)} prediction interval"
    expected = f"{where}, the {plot.effect.NOUN} is expected between {low_text} and "
    expected += f"{_with_unit(plot, high_text)} ({level})"
    interval = f"{low_text} to {_with_unit(plot, high_text)}"
    if not plot.effect.HAS_DIFFERENCE:
        return interval, "open", f"{expected}."
    if low <= 0 <= high:
        return interval, "open", f"{expected}, so either system may be better there."
    found = verdict(summary, plot.alpha)
    if found is Verdict.SIGNIFICANT:
        better = (low > 0) != plot.lower_is_better
        system = plot.groups[0].treatment if better else plot.control
        return interval, "better" if better else "worse", f"{expected}, so {system} is expected to be better there."
    uncorrected = ", which excludes 0 without correction" if found is Verdict.BEFORE_CORRECTION else ""
    return interval, "open", f"{expected}{uncorrected}."


def _no_task_alone(plot: Forest) -> str:
    """That a significant mean rests on the agreement of tasks none of which is significant alone."""
    group = plot.groups[0]
    tasks = [row for row in group.rows if row.effect is not None]
    means = [mean for mean in (group.fixed_mean, group.summary) if mean is not None]
    significant = any(verdict(mean, plot.alpha) is Verdict.SIGNIFICANT for mean in means)
    if len(tasks) < 2 or not significant or any(not row.ci_low <= 0 <= row.ci_high for row in tasks):
        return ""
    return f"The {form.percent(plot.alpha)} CI of each single collection includes 0."


def _with_identical(sensitivity: SensitivityRecord, k: int, plot: Forest) -> str:
    """The means in which tasks keep their place on which every query has the same difference."""
    count = len(sensitivity.tasks)
    parts = [
        f"{_interval_of(mean, plot)} {scope}"
        for mean, scope in (
            (sensitivity.fixed_mean, f"on these {form.spelled(k + count)} collections"),
            (sensitivity.summary, "over collections like these"),
        )
    ]
    return (
        f"With {' and '.join(_without_variance(sensitivity, plot))} (variance pooled from the others), "
        f"the mean {plot.effect.NOUN} is {' and '.join(parts)}."
    )


def _without_variance(sensitivity: SensitivityRecord, plot: Forest) -> list[str]:
    """The collections on which both systems are the same, and those on which every query has one other difference."""
    differences = [task.effect for task in sensitivity.tasks.values()]
    said = []
    if same := differences.count(0.0):
        said.append(f"{_the_collections(same)} on which both systems are the same")
    if others := [difference for difference in differences if difference]:
        numbers = ", ".join(_with_unit(plot, _numbers(plot, one, one).bound(one)) for one in others)
        each = "" if len(others) == 1 else " of one of them"
        said.append(f"{_the_collections(len(others))} on which every query{each} differs by {numbers}")
    return said


def _the_collections(count: int) -> str:
    return "the collection" if count == 1 else f"the {form.spelled(count)} collections"


def _interval_of(mean: Summary, plot: Forest) -> str:
    effect, low, high = _numbers(plot, mean.ci_low, mean.ci_high).of(mean.effect, mean.ci_low, mean.ci_high)
    interval = f"{form.percent(plot.alpha)} CI {low} to {_with_unit(plot, high)}"
    return f"{_with_unit(plot, effect)} ({interval})"


def _non_inferiority(meta: MetaRecord, plot: Forest, margin: float, tested: AgainstMargin) -> str:
    """Whether the treatment is shown to be no worse than the margin, by the corrected test; in the summary's scope."""
    scope = "on this collection" if meta.k == 1 else "over collections like these"
    scope = leaderboard.scope(plot).replace("Over", "over", 1) if meta.of_tasks else scope
    shown = "shown" if verdict(tested, plot.alpha) is Verdict.SIGNIFICANT else "not shown"
    names = f"{plot.groups[0].treatment} to {plot.control}"
    return (
        f"Non-inferiority of {names} {scope}, with margin {margin:g}, is {shown} at the "
        f"{plot.alpha:g} level ({_p_values(tested, plot.alpha, counted=True)})."
    )
