"""The notes and the caption of a forest plot, a sentence each, and the verdicts on its means; reads and writes nothing.

The caption tells what is what in the plot; the notes, the tests of summaries, the definitions of heterogeneity,
intervals and p-values, the margin, clusters of queries, training data and seeds. Whether a mean effect is significant
is decided once for figures, sentences, tables and the report, so that they cannot contradict one another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum

import scipy

from ranktrial.common.plugins import own_keys
from ranktrial.records.comparison import EffectsRow, MetaRecord
from ranktrial.records.facts import LEARNT, UNSTATED, Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.moderation import between_groups
from ranktrial.reports.comparison.reading import ENDINGS, ROLES, Forest, Found, Group, Mean, PValues
from ranktrial.statistics.effects import EffectType, effect_named
from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.independent_tasks import FEWEST, MetaResult
from ranktrial.statistics.intervals import interval_named
from ranktrial.statistics.summaries import Summary
from ranktrial.statistics.task_intervals import task_interval_named

I2_CAUTION = "(relative to sampling error: rises with the queries per task)"
LIKE_THESE = "over collections like these"
TRAINED = {"treatment": "\N{DAGGER}", "control": "\N{DOUBLE DAGGER}"}
TESTS = {"t-test": "paired t-test", "randomisation": "paired randomisation test"}
CORRECTIONS = {"none": "", "holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}


class Verdict(IntEnum):
    """The result of a test with its correction, from the weakest."""

    UNTESTED = 0
    NOT_SIGNIFICANT = 1
    BEFORE_CORRECTION = 2  # significant alone, not after Holm correction
    SIGNIFICANT = 3


def verdict(test: PValues, alpha: float) -> Verdict:
    """The verdict of a test: by its own p-value, then by Holm's for all hypotheses of its family."""
    if test.p_value is None:
        return Verdict.UNTESTED
    if test.p_value >= alpha:
        return Verdict.NOT_SIGNIFICANT
    if test.holm is not None and test.holm >= alpha:
        return Verdict.BEFORE_CORRECTION
    return Verdict.SIGNIFICANT


def in_full(found: Verdict, alpha: float) -> str:
    """The verdict with its level; empty if there is no test."""
    level = f"at the {alpha:g} level"
    return {
        Verdict.UNTESTED: "",
        Verdict.NOT_SIGNIFICANT: f"not significant {level}",
        Verdict.BEFORE_CORRECTION: f"significant {level} alone, but not after Holm correction",
        Verdict.SIGNIFICANT: f"significant {level}",
    }[found]


def answer(plot: Forest, mean: Mean | None) -> tuple[str, str]:
    """The answer of a mean to the question of its comparison, and its type: better, worse or open."""
    found = Verdict.UNTESTED if mean is None else verdict(mean.test, plot.alpha)
    if mean is None or found is not Verdict.SIGNIFICANT:
        words = {
            Verdict.UNTESTED: "no test",
            Verdict.NOT_SIGNIFICANT: "not significant",
            Verdict.BEFORE_CORRECTION: "not significant after Holm correction",
        }
        return words[found], "open"
    above = mean.effect > 0
    if not (plot.lower_is_better and plot.effect.HAS_DIFFERENCE):
        return (plot.effect.ANSWERS[0], "better") if above else (plot.effect.ANSWERS[1], "worse")
    words_of = [words.partition(", ") for words in plot.effect.ANSWERS]  # yes or no, and higher or lower
    judgement, direction = (words_of[1][0], words_of[0][2]) if above else (words_of[0][0], words_of[1][2])
    return f"{judgement}, {direction}", "worse" if above else "better"


def statistic(summary: Summary) -> str:
    """The test statistic of a summary and its degrees of freedom; empty if it has no test (a standard error of 0).

    It is the quantile that belongs to the p-value and so holds on the scale of the synthesis, whatever is reported.
    """
    if summary.p_value is None:
        return ""
    df = summary.df_of_p
    name, degrees = ("z", "") if df is None else ("t", f", df = {degrees_of_freedom(df)}")
    if summary.p_value == 0:
        return f"|{name}| > 37{degrees}"  # beyond the least p-value that a number can hold
    half = summary.p_value / 2
    size = -scipy.special.ndtri(half) if df is None else -scipy.special.stdtrit(df, half)
    return f"{name} = {form.fixed(math.copysign(size, summary.effect), 2)}{degrees}"


def degrees_of_freedom(df: float) -> str:
    """Degrees of freedom: whole, or estimated ones with a decimal."""
    return f"{df:.0f}" if float(df).is_integer() else f"{df:.1f}"


def of_t(df: float | None) -> str:
    """The t distribution with these degrees of freedom, to follow a comma; empty for another distribution."""
    return "" if df is None else form.unbroken(f", t({degrees_of_freedom(df)})")


def heterogeneity(value: MetaResult, forest: Forest) -> str:
    """tau in its unit with its interval, Q, its degrees of freedom and p, and I2 with what it is relative to; a line
    breaks between them only.
    """
    unit = f" in {unit_of_tau(forest.effect, forest.measure)}"
    parts = [*tau(value.tau2, value.tau2_ci, forest, unit), *_cochran(value, forest)]
    return f"{' '.join(form.unbroken(part) for part in parts)} {forest.nouns.say(I2_CAUTION)}"


def heterogeneity_line(value: MetaResult, forest: Forest) -> str:
    """The same as a line of a panel; the notes say once what all its lines have in common."""
    parts = ["Heterogeneity:", *tau(value.tau2, value.tau2_ci, forest), *_cochran(value, forest)]
    return " ".join(form.unbroken(part) for part in parts)


def _heterogeneity_note(forest: Forest) -> str:
    """What the lines of heterogeneity have in common; empty if there are none."""
    if not any(group.heterogeneity for group in forest.groups):
        return ""
    unit = unit_of_tau(forest.effect, forest.measure)
    rises = f"rises with the {forest.nouns.queries} per task"
    return f"Heterogeneity: τ is in {unit}; I² is relative to sampling error and {rises}."


def _cochran(value: MetaResult, forest: Forest) -> list[str]:
    p = form.p_equals(value.q_p_value, forest.alpha)
    return [f"Q = {value.q:.1f},", f"df = {value.q_df},", f"{p};", f"I² = {value.i2:.1f}%"]


def tau(tau2: float, interval: tuple[float, float] | None, forest: Forest, unit: str = "") -> list[str]:
    """The standard deviation between tasks in pieces, its interval last if there is one; in the effects' form."""
    common = form.numbers(forest)
    deviation, *ends = deviations(common, tau2, *(interval or ()))
    equals = f"< {deviation[1:]}" if deviation.startswith("<") else f"= {deviation}"
    of_tau = f"τ {equals}{common.factor}{unit}"
    if not ends:
        return [f"{of_tau};"]
    return [f"{of_tau},", f"{form.percent(forest.alpha)} CI [{ends[0]}, {ends[1]}]{common.factor};"]


def unit_of_tau(effect: EffectType, measure: str) -> str:
    """The quantity whose standard deviation tau is."""
    if effect.IN_UNITS_OF_MEASURE:
        return measure
    return effect.NOUN if effect.HAS_DIFFERENCE else effect.STATISTIC


def deviations(common: form.Numbers, *variances: float) -> list[str]:
    """The roots of tau2 and of its interval."""
    return [common.deviation(math.sqrt(variance)) for variance in variances]


def no_prediction(group: Group) -> str:
    """The reason after "no prediction interval" if there are too few collections; empty otherwise."""
    return (
        f": it takes at least {form.spelled(FEWEST)} {group.found.nouns.collections}"
        if with_effect(group) < FEWEST
        else ""
    )


def with_effect(group: Group) -> int:
    """The number of its tasks with an effect."""
    return len(group.found.tested)


def method(result: MetaResult) -> str:
    """The estimator of tau2 and the kind of interval: dependent tasks may have others than asked for."""
    return f"{estimator_named(result.estimator).LABEL}, {interval_named(result.interval).LABEL}"


def _intervals(forest: Forest) -> str:
    """The methods of the intervals of tasks, summary and new tasks.

    The degrees of freedom of summary and prediction interval are those of the first group that has them.
    """
    parts = [f"tasks {task_interval(forest.comparisons[0].meta)}"]
    if several := [group for group in forest.groups if group.heterogeneity]:
        first, used = several[0], [group.result.interval for group in several]
        if first.fixed_mean:  # with variances as papers print them, normal
            known = first.found.meta.task_interval == "normal" and first.fixed_mean.df is None
            parts.append(f"mean of these tasks {'normal' if known else 't'}")
        parts.append(f"random effects {', '.join(interval_named(name).LABEL for name in dict.fromkeys(used))}")
        if first.prediction and first.result.prediction_df is None:
            parts.append("prediction by the confidence distribution of τ")
        elif first.prediction and forest.single:
            parts.append(f"prediction interval{of_t(first.result.prediction_df)}")
    return f"{form.percent(forest.alpha)} intervals: {'; '.join(parts)}."


def task_interval(meta: MetaRecord) -> str:
    """The method of the tasks' intervals."""
    effect, label = effect_named(meta.effect_type), task_interval_named(meta.task_interval).LABEL
    return label if effect.HAS_DIFFERENCE else f"{label} on {effect.STATISTIC}"


def p_text(forest: Forest) -> str:
    """The method of the p-values, by treatment if comparisons differ, and their stars."""
    treatments: dict[str, list[str]] = {}
    for group in forest.groups:
        treatments.setdefault(_test_of_tasks(group, forest), []).append(group.treatment)
    by_treatment = "; ".join(f"{', '.join(names)}: {test}" for test, names in treatments.items())
    return f"p-values of tasks: {by_treatment if len(treatments) > 1 else next(iter(treatments))}.{_stars(forest)}"


def _test_of_tasks(group: Group, forest: Forest) -> str:
    """What the p-values of a group's tasks are."""
    meta, test = group.found.meta, forest.looks.p
    if forest.p_column == "p_value":
        effect = effect_named(meta.effect_type)
        name = task_interval_named(meta.task_interval).P_VALUE.format(statistic=effect.STATISTIC)
        return name + note_of_test(group.found, "interval")
    name = TESTS[test] + note_of_test(group.found, test)
    correction = CORRECTIONS[forest.looks.correction]
    return f"{name}, {correction}-corrected for the number of tasks" if correction else name


def note_of_test(found: Found, test: str) -> str:
    """On how many tasks a test includes clusters of queries or seeds; empty if on none.

    `test` is t-test, randomisation or interval. Seeds enter what follows from a variance, not a randomisation test,
    which flips clusters as a whole unless they count as independent.
    """
    tested, clustered = len(found.tested), {row.task for row in _clustered(found) if row.effect is not None}
    if test == "randomisation":
        flipped = clustered - set(found.meta.clusters_as_independent)
        return f" (clusters flipped as a whole on {_of_tasks(len(flipped), tested)})" if flipped else ""
    with_seeds = sum((row.seeds_variance or 0) > 0 for row in found.effects)
    parts = [f"cluster-robust on {_of_tasks(len(clustered), tested)}"] if clustered else []
    parts += [f"including seed variance, above 0 on {_of_tasks(with_seeds, tested)}"] if with_seeds else []
    return f" ({', '.join(parts)})" if parts else ""


def _of_tasks(some: int, whole: int) -> str:
    return f"all {whole} tasks" if some == whole > 1 else f"{some} of {whole} task{'' if whole == 1 else 's'}"


def _of_treatments(forest: Forest) -> list[str]:
    """What both rows of a treatment are, and how the p-values of means are adjusted."""
    several = [group for group in forest.groups if group.heterogeneity]
    said = []
    if several:
        counts = sorted({with_effect(group) for group in several})
        tasks = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        methods = ", ".join(dict.fromkeys(method(group.result) for group in several))
        predicted = any(group.prediction for group in several)
        bar = f"; bar: {form.percent(forest.alpha)} prediction interval" if predicted else ""
        said.append(f"Hollow: mean of these {tasks} tasks; filled: random effects ({methods}){bar}.")
    return [*said, _stars(forest).strip()]


def _stars(forest: Forest) -> str:
    """How the p-values of means are adjusted, if they are, and which p-values bear a star."""
    correction, family = CORRECTIONS[forest.looks.correction], forest.comparisons[0].family
    means = ""
    if correction and family and family.hypotheses > 1:
        whole = f"family {family.family}" if family.family else "the experiment"
        means = f" p-values of means: {correction}-corrected for the {family.hypotheses} hypotheses of {whole}."
    star = form.unbroken(f"* p < {forest.alpha:g}")
    of_means = [mean.test.hypotheses for group in forest.groups for mean in (group.fixed_mean, group.summary) if mean]
    hypotheses = max(of_means, default=1)
    if hypotheses > 1 and correction != "Holm":
        star += f", of means after Holm correction for {form.spelled(hypotheses)} hypotheses"
    return f"{means} {star}."


def notes(forest: Forest, p_shown: bool) -> list[str]:
    """All notes of a forest plot; `p_shown`: whether the tasks' p-values are in it."""
    comparisons, labels = forest.comparisons, forest.labels
    if forest.of_treatments:
        lines = _of_treatments(forest)
    else:
        lines = [line for group in forest.groups for line in _of_group(forest, group)]
        lines += [_heterogeneity_note(forest), _intervals(forest)]
    lines += [p_text(forest)] if p_shown else []
    lines += [_margin(forest, group) for group in forest.groups if group.margin is not None]
    lines.append(clusters_note([group.found for group in forest.groups], labels))
    lines.append(negative_weights_note(comparisons, labels))
    lines += [] if forest.of_treatments else trained(forest)  # daggers stand at tasks
    return [line for line in (*lines, _seeds(forest), seeds_note(comparisons, labels)) if line]


def _of_group(forest: Forest, group: Group) -> list[str]:
    """The tests of subgroups, and those of the summaries with the names of their methods."""
    of = _of(forest, group)
    lines = [between_groups(group.subgroups, forest.alpha)] if group.subgroups else []
    name = forest.task(group.only_task) if group.only_task else "Summary"
    name = f"Random effects ({method(group.heterogeneity)})" if group.heterogeneity else name
    of_means = {"Mean of these tasks (equal weights)": group.heterogeneity and group.fixed_mean, name: group.summary}
    of_means["Fixed effect"] = group.fixed
    # the p-value of one task may be of resamples or flips, which have no z
    has_z = bool(group.heterogeneity) or task_interval_named(group.found.meta.task_interval).HOLDS_SEEDS
    tests = {name: _test_of(mean, forest, has_z) for name, mean in of_means.items() if mean}
    lines.append(" ".join(f"{name}{of}: {test}." for name, test in tests.items()))
    if group.posterior:
        low, high = (form.numbers(forest).of(None, *group.posterior.prediction_interval))[1:]
        probability = _probability(group.posterior.p_above_0)
        prior = f"half-normal prior on τ with scale {group.posterior.tau_scale:g}"
        lines.append(
            f"Bayesian{of} ({prior}): {form.percent(forest.alpha)} credible interval, P(effect > 0) {probability}, "
            f"of a new task [{low}, {high}]{form.numbers(forest).factor}."
        )
    return lines


def _test_of(mean: Summary, forest: Forest, has_z: bool) -> str:
    """The text of a test, which breaks between its parts only, such as `t = 2.16, df = 6, p = 0.074`."""
    if mean.p_value is None:
        return "no test, since its standard error is 0"
    parts = [*(statistic(mean).split(", ") if has_z or mean.df else ()), form.p_equals(mean.p_value, forest.alpha)]
    return ", ".join(map(form.unbroken, parts))


def _probability(value: float) -> str:
    """Three decimals; a probability that would print as 0 or 1 says that it is beyond them."""
    if value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.999 else f"= {value:.3f}"


def _margin(forest: Forest, group: Group) -> str:
    """What the tests against the margin say of the summary and of how many tasks, adjusted as the figure's p-values."""
    scope, tests = "random effects" if group.heterogeneity else "summary", []
    for name in ("non_inferiority", "equivalence"):
        p = group.against_margin(name).shown
        tested = "no test" if p is None else form.p_equals(p, forest.alpha)
        p_values = [getattr(row, f"{name}_p_{ENDINGS[forest.looks.correction]}") for row in group.rows]
        of_tasks = [p for p in p_values if p is not None]
        shown = f"{sum(p < forest.alpha for p in of_tasks)} of {len(of_tasks)} tasks"
        tests.append(f"{name.replace('_', '-')}: {scope} {tested}, {shown}")
    correction = CORRECTIONS[forest.looks.correction]
    how = f"{correction}-corrected" if correction else "uncorrected"
    results = f"{'; '.join(tests).capitalize()} at p < {forest.alpha:g}, {how}"
    return f"Band{_of(forest, group)}: the margin ±{group.margin:g}. {results}."


def trained(forest: Forest) -> list[str]:
    """The meaning of the daggers."""
    lines = []
    for role, mark in TRAINED.items():
        groups = [group for group in forest.groups if any(group.learnt(row, role) for row in group.rows)]
        if groups:
            one_group = groups[0].treatment if len(forest.groups) == 1 else "the treatment"
            system = forest.control if role == "control" else one_group
            lines.append(LEARNT.format(f"{mark} {system}"))
    if lines and forest.unstated:
        lines.append(UNSTATED.format(", ".join(forest.unstated)))
    return lines


def _seeds(forest: Forest) -> str:
    """Over how many seeds each system's values are averaged, where a system has several or was trained here."""
    of_control = _seeds_of(forest, forest.groups, "control")
    averaged = [f"{forest.control} {of_control}"] if of_control else []
    for group in forest.groups:
        if text := _seeds_of(forest, [group], "treatment"):
            averaged.append(f"{group.treatment} {text}")
    return f"Seeds averaged for each {forest.nouns.query}: {'; '.join(averaged)}." if averaged else ""


def _seeds_of(forest: Forest, groups: Sequence[Group], role: str) -> str:
    rows = [(group, row) for group in groups for row in group.rows]
    counts = {forest.task(row): n for _, row in rows if (n := getattr(row, f"{role}_seeds")) is not None}
    if not counts or (set(counts.values()) == {1} and not any(group.learnt(row, role) for group, row in rows)):
        return ""
    (usual, _), *others = Counter(counts.values()).most_common()
    exceptions = [f"{number} on {', '.join(t for t in counts if counts[t] == number)}" for number, _ in others]
    return "; ".join([f"{usual}", *exceptions]).replace("; ", " (", 1) + (")" if exceptions else "")


def _of(forest: Forest, group: Group) -> str:
    return f", {group.treatment}" if len(forest.groups) > 1 else ""


def seeds_note(comparisons: Sequence[Found], labels: Labels) -> str:
    """Which intervals of these comparisons include the variance between training seeds, in sentences; empty where no
    system is trained here.
    """
    said: dict[str, dict[str, None]] = {}
    unknown: dict[str, None] = {}
    for one in comparisons:
        meta = one.meta
        for role, record in meta.seeds.items() if isinstance(meta.seeds, dict) else []:
            names = [getattr(meta, role)] if role in ROLES else [meta.control, meta.treatment]
            name = " and ".join(map(labels.system, names))
            if record.status == "unknown":
                unknown[name] = None
            elif meta.meta is not None:
                lender = f" of {labels.system(record.source)}" if record.status == "borrowed" else ""
                seeds = f"{name}: {record.spread.seeds} seeds{lender}" if record.spread else name
                said.setdefault(_includes_seeds(one), {})[seeds] = None
    parts = [sentence.format("; ".join(names)) for sentence, names in said.items()]
    if unknown:
        parts.append(
            f"The seed variance of {', '.join(unknown)} is unknown: intervals do not include it and are too narrow."
        )
    return " ".join(parts)


def _includes_seeds(found: Found) -> str:
    """Which intervals include seed variance, as a sentence with a place for its sources."""
    tasks, of_tasks = len(found.tested), sum(row.seeds_variance is not None for row in found.tested)
    if found.meta.meta is None or found.meta.meta.given_seeds is None:
        return "Intervals take the seeds as given ({})."
    if of_tasks == tasks:
        return "Intervals include seed variance ({})."
    others = "those of tasks" if not of_tasks else f"those of {tasks - of_tasks} of {tasks} tasks"
    included = "Intervals of means" if not of_tasks else "Intervals"
    return f"{included} include seed variance ({{}}); {others} take the seeds as given."


def clusters_note(comparisons: Sequence[Found], labels: Labels) -> str:
    """The tasks whose queries are clustered, with the design effect as estimated and the degrees of freedom of the
    t-test (of several comparisons from the lowest to the highest); empty if none is. What counts as 1 because clusters
    are the default's choice is said.
    """
    clustered: dict[str, list[EffectsRow]] = {}
    for one in comparisons:
        for row in _clustered(one):
            clustered.setdefault(labels.task(row.task), []).append(row)
    if not clustered:
        return ""
    of_test = any(row.t_df is not None for rows in clustered.values() for row in rows)
    counts_as_1 = any(one.meta.clusters_as_independent for one in comparisons if _clustered(one))
    tasks = []
    for task, rows in clustered.items():
        count = _range([row.clusters for row in rows], "{:,.0f}".format)
        numbers = [_range([row.design_effect for row in rows], "{:.2f}".format)]
        numbers += [_range([row.t_df for row in rows], degrees_of_freedom)] if of_test else []
        tasks.append(f"{task} {count} ({', '.join(filter(None, numbers))})")
    heading = ["design effect", *["values below 1 count as 1"] * counts_as_1, *["df of t"] * of_test]
    return f"Clusters of {comparisons[0].nouns.queries} ({', '.join(heading)}): {'; '.join(tasks)}."


def _range(values: Iterable[float | None], shown: Callable[[float], str]) -> str:
    """The lowest and the highest of these numbers as they are shown; one if they look the same, empty without any."""
    ordered = sorted(value for value in values if value is not None)
    return " to ".join(dict.fromkeys(shown(value) for value in ordered[:1] + ordered[-1:]))


def _clustered(found: Found) -> list[EffectsRow]:
    """The tasks whose queries are clustered."""
    return [row for row in found.effects if row.clusters is not None and row.design_effect is not None]


def negative_weights_note(comparisons: Sequence[Found], labels: Labels) -> str:
    """Which tasks have a weight below 0 in a summary of these comparisons, and why; empty if none has."""
    rows = [row for one in comparisons for row in one.effects if row.weight is not None and row.weight < 0]
    below = ", ".join(dict.fromkeys(labels.task(row.task) for row in rows))
    return f"Negative weight ({below}): the effect correlates strongly with a more precise one." if below else ""


STARS = "A diamond that misses zero is significant before correction for the number of comparisons."
BOTH_MEANS = (
    "The hollow diamond is the mean on these collections, the filled one the mean over collections like these "
    "(random effects)"
)


def caption(plot: Forest) -> str:
    """How to read a forest plot."""
    percent, several = form.percent(plot.alpha), any(group.heterogeneity for group in plot.groups)
    drawn = any(group.only_task is None for group in plot.groups)
    effect = plot.effect.caption(plot.measure, own_keys(plot.effect, plot.comparisons[0].meta.own))
    both = plot.nouns.say(BOTH_MEANS)
    bar = f"{{}} it is the prediction interval, where the effect in a new {plot.nouns.collection} is expected"
    bar = f"; the bar {bar}" if any(group.prediction for group in plot.groups) else ""
    if plot.of_treatments:
        means = f". {both}" if several else ""
        text = f"Each row is a treatment: the {effect} with its {percent} confidence interval{means}"
        return f"{text}{bar.format('behind')}. {STARS} The figures of the treatments have their tasks."
    area = ", its area the task's weight" if plot.weighted else ""
    text = f"Each row is a task: the square is the {effect}{area}, the line its {percent} confidence interval"
    if drawn:
        means = f"{both}; each" if several else "The diamond is the effect of the only task and"
        text += f". {means} spans its interval{bar.format('below')}"
    if any(group.fixed for group in plot.groups):
        text += "; the diamond below is the fixed-effect summary"
    if any(group.posterior for group in plot.groups):
        text += "; the pale diamond is the Bayesian summary with its credible interval"
    return f"{text}. {STARS}" if drawn else f"{text}."
