"""The notes below a forest plot, a sentence each; reads and writes nothing.

The tests of summaries, the definitions of heterogeneity, intervals and p-values, the margin, clusters of queries,
training data and seeds.
"""

from __future__ import annotations

from collections import Counter

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison import plot_text
from ranktrial.reports.comparison.forest_data import AgainstMargin, Diamond, Forest, Group, Row
from ranktrial.reports.comparison.lines import TRAINED


def notes(forest: Forest, p_shown: bool) -> list[str]:
    """All notes of a forest plot; `p_shown`: whether the tasks' p-values are in it."""
    if forest.of_treatments:
        lines = plot_text.of_treatments(forest)
    else:
        lines = [line for group in forest.groups for line in _of_group(forest, group)]
        lines += filter(None, [plot_text.heterogeneity_note(forest), plot_text.intervals(forest)])
    if forest.p_note and p_shown:
        lines.append(plot_text.p_text(forest))
    for group in forest.groups:
        lines += _margin(forest, group)
    lines += filter(None, [forest.clusters_note, forest.weights_note])
    learnt = [] if forest.of_treatments else trained(forest)  # daggers stand at tasks
    return [*lines, *learnt, *seeds(forest), *filter(None, [forest.seeds_note])]


def _of_group(forest: Forest, group: Group) -> list[str]:
    """The tests of subgroups, and those of the summaries with the names of their methods."""
    of = _of(forest, group)
    lines = [group.between] if group.between else []
    name = f"Random effects ({plot_text.method(forest, group)})" if group.heterogeneity else "Summary"
    of_means = {"Mean of these tasks (equal weights)": group.heterogeneity and group.fixed_mean, name: group.summary}
    of_means["Fixed effect"] = group.fixed
    if tests := [f"{name}{of}: {_test_of(mean, forest)}." for name, mean in of_means.items() if mean]:
        lines.append(" ".join(tests))
    if group.posterior:
        low, high = (form.numbers(forest).of(None, *group.posterior.prediction_interval))[1:]
        probability = _probability(group.posterior.p_above_0)
        prior = f"half-normal prior on τ with scale {group.posterior.tau_scale:g}"
        lines.append(
            f"Bayesian{of} ({prior}): {form.percent(forest.alpha)} credible interval, P(effect > 0) {probability}, "
            f"of a new task [{low}, {high}]{form.numbers(forest).factor}."
        )
    return lines


def _test_of(mean: Diamond, forest: Forest) -> str:
    """The text of a test, which breaks between its parts only, such as `t = 2.16, df = 6, p = 0.074`."""
    if mean.own_p is None:
        return "no test, since its standard error is 0"
    parts = [*plot_text.statistic(mean).split(", "), form.p_equals(mean.own_p, forest.alpha)]
    return ", ".join(parts).replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")


def _probability(value: float) -> str:
    """Three decimals; a probability that would print as 0 or 1 says that it is beyond them."""
    if value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.999 else f"= {value:.3f}"


def _margin(forest: Forest, group: Group) -> list[str]:
    """What the tests against the margin say of the summary and of how many tasks, adjusted as the figure's p-values."""
    if group.margin is None:
        return []
    scope = "random effects" if group.heterogeneity else "summary"
    tests = [
        f"{name}: {scope} {_p_of(tested, forest)}, {_shown(group, column, forest)}"
        for name, tested, column in (
            ("non-inferiority", group.margin.non_inferiority, "non_inferiority_p_value"),
            ("equivalence", group.margin.equivalence, "equivalence_p_value"),
        )
    ]
    how = f"{forest.correction}-corrected" if forest.correction else "uncorrected"
    results = f"{'; '.join(tests).capitalize()} at p < {forest.alpha:g}, {how}"
    return [f"Band{_of(forest, group)}: the margin ±{group.margin.margin:g}. {results}."]


def _p_of(tested: AgainstMargin, forest: Forest) -> str:
    return "no test" if tested.p_value is None else form.p_equals(tested.p_value, forest.alpha)


def _shown(group: Group, column: str, forest: Forest) -> str:
    """On how many tasks a test against the margin shows it."""
    p_values = [p for row in group.rows if (p := getattr(row, column)) is not None]
    return f"{sum(p < forest.alpha for p in p_values)} of {len(p_values)} tasks"


def trained(forest: Forest) -> list[str]:
    """The meaning of the daggers."""
    lines = []
    for role, mark in TRAINED.items():
        groups = [group for group in forest.groups if any(role in row.trained for row in group.rows)]
        if groups:
            one_group = groups[0].treatment if len(forest.groups) == 1 else "the treatment"
            system = forest.control if role == "control" else one_group
            lines.append(f"{mark} {system} learnt from training queries of this task's dataset.")
    if lines and forest.unstated:
        lines.append(f"Not stated: what the published weights of {', '.join(forest.unstated)} were trained on.")
    return lines


def seeds(forest: Forest) -> list[str]:
    """Over how many seeds each system's values are averaged, where a system has several or was trained here."""
    averaged = []
    rows = [row for group in forest.groups for row in group.rows]
    if text := _seeds(rows, "control"):
        averaged.append(f"{forest.control} {text}")
    for group in forest.groups:
        if text := _seeds(group.rows, "treatment"):
            averaged.append(f"{group.treatment} {text}")
    return [f"Seeds averaged for each query: {'; '.join(averaged)}."] if averaged else []


def _seeds(rows: tuple[Row, ...] | list[Row], role: str) -> str:
    counts = {row.task: number for row in rows if (number := getattr(row, f"{role}_seeds")) is not None}
    if not counts or (set(counts.values()) == {1} and not any(role in row.trained for row in rows)):
        return ""
    (usual, _), *others = Counter(counts.values()).most_common()
    exceptions = [f"{number} on {', '.join(t for t in counts if counts[t] == number)}" for number, _ in others]
    return "; ".join([f"{usual}", *exceptions]).replace("; ", " (", 1) + (")" if exceptions else "")


def _of(forest: Forest, group: Group) -> str:
    return f", {group.treatment}" if len(forest.groups) > 1 else ""
