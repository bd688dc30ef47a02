"""A comparison in sentences: on these collections, over collections like them, in a new one; reads, writes nothing.

Each sentence gives estimate, interval, test, correction and scope. What cannot be said (a prediction from fewer than
four collections) has a sentence in its place.

Remarks follow. Two or three collections: an interval with one or two degrees of freedom may hold more than any
difference could be, and a reader of its bounds alone would take it for a finding. Weights of tasks: another common
weighting gives another answer, or a task alone decides the width of an interval. Unjudged documents, with a table: they
could change the answer on these collections, that is, the sign of the mean difference and whether it is significant
before correction.

The task scores of a leaderboard, without values per query, give a task no variance of its own: nobody knows how its
score would differ for other queries. The tasks are the sample. Their mean difference is the equally weighted one, and
its interval, by t with one degree of freedom less than there are tasks, is for tasks like these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ranktrial.ir.measure_names import canonical, cutoff, parse
from ranktrial.ir.nouns import nouns_of
from ranktrial.records.comparison import MetaRecord, SensitivityRecord, UnjudgedCase
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.notes import (
    LIKE_THESE,
    Verdict,
    answer,
    in_full,
    method,
    no_prediction,
    seeds_note,
    verdict,
)
from ranktrial.reports.comparison.number_text import spelled
from ranktrial.reports.comparison.reading import ROLES, Forest, Mean, PValues
from ranktrial.reports.writing.content import Table, columns
from ranktrial.statistics.independent_tasks import MetaResult
from ranktrial.statistics.intervals import has_own_weights
from ranktrial.statistics.measure_scale import within_reach
from ranktrial.statistics.paired import SAME_DIFFERENCE
from ranktrial.statistics.summaries import Part, Summary, half_width
from ranktrial.statistics.synthesise import INVERSE_VARIANCE

FEW_COLLECTIONS = 3


def few_collections_remark(plot: Forest, summary: Mean, k: int) -> str:
    """A clause on a summary whose interval is too wide to say anything; empty for any other."""
    says_nothing = summary.ci_low <= 0 <= summary.ci_high and (k == 2 or _is_beyond(plot, summary))
    if k > FEW_COLLECTIONS or not says_nothing:
        return ""
    several = plot.nouns.collections
    return f"; {spelled(k)} {several} provide almost no information about {several} like these"


def _is_beyond(plot: Forest, summary: Mean) -> bool:
    """Whether an interval goes to, or beyond, what a difference in the measure can be, if that is known."""
    reach = plot.groups[0].found.meta.reach if plot.effect.IN_UNITS_OF_MEASURE else None
    return reach is not None and max(-summary.ci_low, summary.ci_high) >= reach


HALF = 0.5  # of the width, at most, without a task that alone decides it
FEWEST_LEFT = 4  # tasks without it: the tau of fewer is often 0 by chance, and the interval too narrow
NAMES = {  # the record's names of weightings -> as a sentence puts them
    INVERSE_VARIANCE: "by precision (DerSimonian-Laird, normal interval)",
    "knapp-hartung": "by precision (REML, Knapp-Hartung)",
    "equal-weights": "with equal weights",
}


def other_answer(meta: MetaRecord, plot: Forest) -> str:
    """Both numbers, if the mean over collections like these has another answer (before correction) with another common
    weighting; else empty."""
    own = meta.summary
    if own is None or meta.meta is None:
        return ""
    answer = sign(own, plot.alpha)
    for name in NAMES:
        other = meta.weightings.get(name)
        if other is not None and sign(other, plot.alpha) != answer:
            means = f"{_uncorrected(plot, own)} {_own_name(meta.meta)} and {_uncorrected(plot, other)} {NAMES[name]}"
            # a mean that is the same has the same weights
            same = math.isclose(other.effect, own.effect, rel_tol=1e-9, abs_tol=1e-12)
            what = "the interval" if same else f"how {plot.nouns.collections} are weighed"
            return f" This answer depends on {what}: the mean is {means}."
    return ""


def _own_name(meta: MetaResult) -> str:
    return NAMES["equal-weights"] if has_own_weights(meta.interval) else f"by precision ({method(meta)})"


def deciding_task(meta: MetaRecord, plot: Forest) -> str:
    """The task without which an interval would be at most half as wide; empty if there is none."""
    if meta.summary is None or meta.fixed_mean is None:
        return ""
    variances = {row.task: row.variance or 0.0 for row in plot.groups[0].found.tested}
    said: dict[str, list[str]] = {}
    for mean, without, scope in (
        (meta.fixed_mean, meta.fixed_mean_without, f"on the other {form.spelled(meta.k - 1)} {plot.nouns.collections}"),
        (meta.summary, {task: of.summary for task, of in meta.leave_one_out.items()}, plot.nouns.say(LIKE_THESE)),
    ):
        found = narrowest(mean, without, variances, plot.alpha)
        if found is not None:
            task, ratio = found
            interval = _interval(plot, without[task])
            said.setdefault(task, []).append(f"{ratio:.0%} as wide {scope} ({interval})")
    return " ".join(
        f"{plot.labels.task(task)} alone decides the width: without it, the interval would be {' and '.join(parts)}."
        for task, parts in said.items()
    )


def narrowest(
    mean: Summary, without: Mapping[str, Summary], variances: Mapping[str, float], alpha: float
) -> tuple[str, float] | None:
    """The task without which the interval is the narrowest, and its width in units of that with all.

    None if none halves it, if fewer than FEWEST_LEFT others remain, or if the interval is then narrower than the
    sampling errors of the others allow: z sqrt(sum V) / k, of their mean with equal weights. `variances` has each V.
    """
    half = mean.half_width(alpha)
    if len(without) <= FEWEST_LEFT or not half:
        return None
    halves = {task: one.half_width(alpha) for task, one in without.items()}
    task = min(halves, key=lambda name: halves[name])
    of_others = sum(variances[other] for other in without if other != task) / (len(without) - 1) ** 2
    least = half_width(Part(of_others, math.inf), alpha) * (1 - 1e-9)
    return (task, halves[task] / half) if least <= halves[task] <= HALF * half else None


ONE_ALONE = "One collection does not show how effects vary between collections, so nothing follows for others."
NEW = "In a new collection"
NOT_CONCLUDED = (
    "The scores are means of tasks without values per query, so no task has a variance of its own. It cannot be "
    "concluded whether the systems differ on a single task, whether they differ on these tasks for other queries, nor "
    "how much true differences vary between tasks (τ). Tasks that share a corpus or queries count as independent."
)


def not_concluded(measure: str) -> str:
    """What the scores of a leaderboard's tasks do not show."""
    return nouns_of(measure, of_tasks=False).say(NOT_CONCLUDED)  # of what each score is a mean of


def leaderboard_scope(plot: Forest) -> str:
    """The scope of the mean."""
    row = plot.groups[0].rows[0]
    return f"Over tasks like the {row.n} of {plot.task(row)}"


def in_a_further_task(plot: Forest, meta: MetaRecord) -> tuple[float, float] | None:
    """The prediction interval of the difference reported for a further task: mean -+ t(k - 1) s sqrt(1 + 1 / k).

    None if the interval of the mean is another than t(k - 1) s / sqrt(k), from which it is computed.
    """
    k, mean = plot.groups[0].rows[0].n, meta.fixed_mean
    if mean is None or mean.df != k - 1 or not plot.effect.IN_UNITS_OF_MEASURE:
        return None
    half = mean.half_width(plot.alpha) * math.sqrt(k + 1)
    return within_reach(mean.effect - half, meta.reach), within_reach(mean.effect + half, meta.reach)


AS_JUDGED = "as judged"
FEW_JUDGED = 0.5  # share of judged documents below which extreme assumptions about the others often allow any answer
CASES = {  # a case -> how a sentence puts it, how the table does
    AS_JUDGED: ("none is relevant", "Not relevant (as judged)"),
    "lowest": ("they are judged least favourably for {treatment}", "Least favourable to {treatment}"),
    "highest": ("they are judged most favourably for {treatment}", "Most favourable to {treatment}"),
    "all": ("all are relevant", "All relevant"),
    "condensed": ("they are removed (condensed lists)", "Removed (condensed lists)"),
}


def cases_of(meta: MetaRecord) -> dict[str, UnjudgedCase]:
    """The means as judged and in each other case; none if nothing is unjudged."""
    if meta.unjudged is None or meta.fixed_mean is None or meta.summary is None:
        return {}
    return {AS_JUDGED: UnjudgedCase(meta.fixed_mean, meta.summary), **meta.unjudged.cases}


def changing(meta: MetaRecord, alpha: float) -> dict[str, UnjudgedCase]:
    """The cases in which the answer on these collections is another than as judged."""
    cases = cases_of(meta)
    answers = {name: sign(case.fixed_mean, alpha) for name, case in cases.items()}
    return {name: case for name, case in cases.items() if answers[name] != answers[AS_JUDGED]}


def unjudged_remark(meta: MetaRecord, plot: Forest) -> str:
    """The share of judged documents, and in which cases the answer is another; empty if it is the same in all.

    If most documents are unjudged and the extreme cases give opposite answers, only the condensed case is given.
    """
    changed = changing(meta, plot.alpha)
    if not changed or meta.unjudged is None:
        return ""
    number, documents = (sum(of.values()) / len(of) for of in (meta.unjudged.number, meta.unjudged.documents))
    share = 1 - number / documents
    said = f"Of the documents {_ranks(plot.measure)}, {share:.0%} are judged; the others count as not relevant. "
    means = {name: _uncorrected(plot, case.fixed_mean) for name, case in cases_of(meta).items()}
    extremes = [case for name, case in meta.unjudged.cases.items() if name in ("lowest", "highest")]
    if share < FEW_JUDGED and {sign(case.fixed_mean, plot.alpha) for case in extremes} == {-1, 1}:
        said += "With so few, extreme assumptions about the others allow any answer."
        if "condensed" in means:
            said += (
                f" Without unjudged documents (condensed lists), the mean {plot.effect.NOUN} is {means['condensed']}."
            )
    else:
        cases = [f"{means[name]} if {CASES[name][0]}" for name in changed]
        said += f"The answer depends on them: the mean {plot.effect.NOUN} is {', '.join(cases)}."
    return said.format(treatment=plot.groups[0].treatment)


def _ranks(measure: str) -> str:
    """Where a measure reads both runs."""
    name = canonical(measure)  # none for a measure that tasks have each their own of
    depth = cutoff(parse(name)) if name else None
    return f"in the top {form.spelled(depth)} of either system" if depth else "in the runs of both systems"


def cases_tables(meta: MetaRecord, plot: Forest) -> list[Table]:
    """Both means in each case, where the answer is another in one of them."""
    if not changing(meta, plot.alpha):
        return []
    rows = []
    for name, case in sorted(cases_of(meta).items(), key=lambda item: list(CASES).index(item[0])):
        means = [case.fixed_mean, case.summary] if meta.k > 1 else [case.fixed_mean]
        rows.append(
            [
                CASES[name][1].format(treatment=plot.groups[0].treatment),
                *(cell for mean in means for cell in _cells(mean, plot)),
            ]
        )
    heads = ["Unjudged documents", "On these collections", "p", "Over collections like these", "p (like these)"]
    caption = f"Mean {plot.effect.NOUN} in {plot.measure} by the relevance of unjudged documents; p without correction."
    return [Table(columns(heads[: len(rows[0])]), [rows], caption=caption)]


def _cells(mean: Summary, plot: Forest) -> list[str]:
    effect, low, high = (_with_unit(plot, text) for text in _texts(plot, mean))
    return [f"{effect} [{low}, {high}]", "" if mean.p_value is None else form.p_value(mean.p_value, plot.alpha)]


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
        return [Answer("On these collections", *answer(plot, None), _no_effect(plot))]
    nouns = plot.nouns
    here = f"On this {nouns.collection}" if k == 1 else f"On these {form.spelled(k)} {nouns.collections}"
    here = leaderboard_scope(plot) if meta.of_tasks else here
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
        return [*found, Answer("In other collections", "not known", "open", nouns.say(ONE_ALONE))]
    like_these = (
        f"Over {nouns.collections} like these, the mean {plot.effect.NOUN} is estimated at {_number(plot, summary)}"
    )
    like_these += f" {_tested(plot, summary)}{few_collections_remark(plot, summary, k)}."
    like_these += _why_they_differ(meta, plot, mean, summary) + other_answer(meta, plot)
    found.append(Answer("Over collections like these", *answer(plot, summary), like_these))
    return [*found, Answer("In a new collection", *_prediction(plot, group.prediction, summary.test))]


def _no_effect(plot: Forest) -> str:
    """Why no task has an effect, and of which systems."""
    group, nouns = plot.groups[0], plot.nouns
    if all(row.undefined == SAME_DIFFERENCE and row.control_mean == row.treatment_mean for row in group.rows):
        same = f"{group.treatment} and {plot.control} have the same {plot.measure} on every {nouns.query}"
        return f"{same}: there is nothing to test."
    why = nouns.say("; ".join(dict.fromkeys(row.undefined for row in group.rows if row.undefined)))
    return f"No {nouns.collection} has an effect of {group.treatment} over {plot.control} that can be computed: {why}."


def _of_leaderboard(meta: MetaRecord, plot: Forest, mean: Mean) -> list[Answer]:
    """The answer of a comparison of task scores for a further task, and its limits."""
    nothing = Answer("On single tasks", "not known", "open", not_concluded(plot.measure))
    interval = in_a_further_task(plot, meta)
    if interval is None:
        return [nothing]
    further = _prediction(plot, interval, mean.test, "In a further task")
    return [Answer("In a further task", *further), nothing]


def remarks(meta: MetaRecord, plot: Forest) -> list[str]:
    """What qualifies the answers: who learnt from the collections, tasks without a difference, the margin, unjudged
    documents, seeds.
    """
    said = [*filter(None, [in_domain(plot), _no_task_alone(plot), deciding_task(meta, plot)])]
    if meta.sensitivity:
        said.append(_with_identical(meta.sensitivity, meta.k, plot))
    if meta.equivalence and meta.equivalence.p_non_inferiority is not None:
        said.append(_non_inferiority(meta, plot))
    return [*said, *filter(None, [unjudged_remark(meta, plot), seeds_note(plot.comparisons, plot.labels)])]


def in_domain(plot: Forest) -> str:
    """On how many collections control and treatment learnt from training queries; empty if that is the same."""
    group = plot.groups[0]
    learnt = {role: {row.task for row in group.rows if group.learnt(row, role)} for role in ROLES}
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


def sign(mean: Summary, alpha: float) -> int:
    """1 or -1: significantly above or below 0 before correction; else 0."""
    if mean.p_value is None or mean.p_value >= alpha:
        return 0
    return 1 if mean.effect > 0 else -1


def _finding(plot: Forest, mean: Mean) -> str:
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


def _signed(plot: Forest, mean: Mean) -> str:
    """The estimate with its sign, where the finding gives its size alone and its interval is of negative numbers."""
    number = _number(plot, mean)
    sized = "{size}" in plot.effect.FINDING and mean.effect < 0 and _has_digits(number)
    return f"difference {number}, " if sized else ""


def _number(plot: Forest, mean: Summary) -> str:
    return _with_unit(plot, _texts(plot, mean)[0])


def _interval(plot: Forest, mean: Summary) -> str:
    _, low, high = _texts(plot, mean)
    return f"{form.percent(plot.alpha)} CI {low} to {_with_unit(plot, high)}"


def _uncorrected(plot: Forest, mean: Summary) -> str:
    """The estimate, its interval and its p-value."""
    p = "" if mean.p_value is None else f"; {form.p_equals(mean.p_value, plot.alpha)} without correction"
    return f"{_number(plot, mean)} ({_interval(plot, mean)}{p})"


def _texts(plot: Forest, mean: Summary) -> tuple[str, str, str]:
    return _numbers(plot, mean.ci_low, mean.ci_high).of(mean.effect, mean.ci_low, mean.ci_high)


def _numbers(plot: Forest, low: float, high: float) -> form.Numbers:
    """The figure's form of numbers, with more decimals where the half-width of this interval would be less than five
    units of the last, or a bound would print as 0.
    """
    common, half = form.numbers(plot), (high - low) / 2
    if plot.looks.digits is not None or half <= 0:
        return common
    own = math.ceil(round(math.log10(5 * 10**common.exponent / half), 9))
    return form.in_text(form.Numbers(common.exponent, max(common.decimals, own)), low, high)


def _with_unit(plot: Forest, number: str) -> str:
    factor = form.numbers(plot).factor
    return f"{number} {factor}" if factor else number


def _tested(plot: Forest, mean: Mean, signed: str = "", counted: bool = False) -> str:
    """Interval (after `signed`), test, correction (`counted`: with the number of hypotheses) and verdict."""
    interval = signed + _interval(plot, mean)
    found = verdict(mean.test, plot.alpha)
    if found is Verdict.UNTESTED:
        return f"({interval}; no test, since the effects of the tasks are equal)"
    return f"({interval}; {_p_values(mean.test, plot.alpha, counted)}): {in_full(found, plot.alpha)}"


def _p_values(test: PValues, alpha: float, counted: bool = False) -> str:
    assert test.p_value is not None
    own = form.p_equals(test.p_value, alpha)
    if test.holm is None or test.hypotheses < 2:
        return own
    number = f" for {spelled(test.hypotheses)} hypotheses" if counted else ""
    return f"{own}, Holm-corrected {form.p_equals(test.holm, alpha)}{number}"


def _why_they_differ(meta: MetaRecord, plot: Forest, mean: Mean, summary: Mean) -> str:
    """The reason why the second scope may differ from the first in significance or sign."""
    opposed = mean.effect * summary.effect < 0
    tested = mean.p_value is not None and summary.p_value is not None
    stronger = tested and verdict(summary.test, plot.alpha) > verdict(mean.test, plot.alpha)
    if not stronger and not opposed:
        return ""
    if not opposed and mean.p_value is not None and mean.p_value < plot.alpha:
        return " Each scope has its own Holm correction; before it, both means are significant."
    assert meta.meta is not None
    if not has_own_weights(meta.meta.interval):
        return f" The first mean weighs the {plot.nouns.collections} equally, the second by precision."
    q, df = meta.meta.q, meta.meta.q_df
    if q is not None and df is not None and q < df:
        return f" The effects differ less between the {plot.nouns.collections} than their sampling errors suggest."
    return f" The first interval is from the spread of the {plot.nouns.queries}, the second from that of the effects."


def _prediction(
    plot: Forest, predicted: tuple[float, float] | None, mean: PValues, where: str = ""
) -> tuple[str, str, str]:
    """The prediction interval of the effect in a new collection; its conclusion only if the mean supports it."""
    if predicted is None:
        why = no_prediction(plot.groups[0])
        return "no prediction", "open", f"There is no prediction interval for a new {plot.nouns.collection}{why}."
    low, high = predicted
    _, low_text, high_text = _numbers(plot, low, high).of(None, low, high)
    level = f"{form.percent(plot.alpha)} prediction interval"
    expected = f"{where or plot.nouns.say(NEW)}, the {plot.effect.NOUN} is expected between {low_text} and "
    expected += f"{_with_unit(plot, high_text)} ({level})"
    interval = f"{low_text} to {_with_unit(plot, high_text)}"
    if not plot.effect.HAS_DIFFERENCE:
        return interval, "open", f"{expected}."
    if low <= 0 <= high:
        return interval, "open", f"{expected}, so either system may be better there."
    found = verdict(mean, plot.alpha)
    if found is Verdict.SIGNIFICANT:
        better = (low > 0) != plot.lower_is_better
        system = plot.groups[0].treatment if better else plot.control
        return interval, "better" if better else "worse", f"{expected}, so {system} is expected to be better there."
    uncorrected = ", which excludes 0 without correction" if found is Verdict.BEFORE_CORRECTION else ""
    return interval, "open", f"{expected}{uncorrected}."


def _no_task_alone(plot: Forest) -> str:
    """That a significant mean rests on the agreement of tasks none of which is significant alone."""
    group = plot.groups[0]
    tasks = group.found.tested
    means = [mean for mean in (group.fixed_mean, group.summary) if mean is not None]
    significant = any(verdict(mean.test, plot.alpha) is Verdict.SIGNIFICANT for mean in means)
    if len(tasks) < 2 or not significant or any(not row.ci_low <= 0 <= row.ci_high for row in tasks):
        return ""
    return f"The {form.percent(plot.alpha)} CI of each single {plot.nouns.collection} includes 0."


def _with_identical(sensitivity: SensitivityRecord, k: int, plot: Forest) -> str:
    """The means in which tasks keep their place on which every query has the same difference."""
    count = len(sensitivity.tasks)
    parts = [
        f"{_number(plot, mean)} ({_interval(plot, mean)}) {scope}"
        for mean, scope in (
            (sensitivity.fixed_mean, f"on these {form.spelled(k + count)} {plot.nouns.collections}"),
            (sensitivity.summary, plot.nouns.say(LIKE_THESE)),
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
        said.append(f"{_the_collections(same, plot)} on which both systems are the same")
    if others := [difference for difference in differences if difference]:
        numbers = ", ".join(_with_unit(plot, _numbers(plot, one, one).bound(one)) for one in others)
        each = "" if len(others) == 1 else " of one of them"
        said.append(
            f"{_the_collections(len(others), plot)} on which every {plot.nouns.query}{each} differs by {numbers}"
        )
    return said


def _the_collections(count: int, plot: Forest) -> str:
    return f"the {plot.nouns.collection}" if count == 1 else f"the {form.spelled(count)} {plot.nouns.collections}"


def _non_inferiority(meta: MetaRecord, plot: Forest) -> str:
    """Whether the treatment is shown to be no worse than the margin, by the corrected test; in the summary's scope."""
    scope = f"on this {plot.nouns.collection}" if meta.k == 1 else plot.nouns.say(LIKE_THESE)
    scope = leaderboard_scope(plot).replace("Over", "over", 1) if meta.of_tasks else scope
    tested, margin = plot.groups[0].against_margin("non_inferiority"), plot.groups[0].margin
    shown = "shown" if verdict(tested, plot.alpha) is Verdict.SIGNIFICANT else "not shown"
    names = f"{plot.groups[0].treatment} to {plot.control}"
    return (
        f"Non-inferiority of {names} {scope}, with margin {margin:g}, is {shown} at the "
        f"{plot.alpha:g} level ({_p_values(tested, plot.alpha, counted=True)})."
    )
