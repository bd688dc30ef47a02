"""The results of a multiple comparison, and its sentence, notes and tables.

Reads multiple-comparisons/{family}.json and its TSV; writes nothing. Names are replaced by labels here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ranktrial.common.settings import read_record
from ranktrial.common.tables import read_table
from ranktrial.ir.nouns import Nouns, nouns_of
from ranktrial.records.comparison import Difference, FamilyRecord, ScopeRecord, rows_of
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.sentence import not_concluded
from ranktrial.reports.writing.content import Table, columns, listed
from ranktrial.statistics.multiple import rank_intervals

_LETTER = re.compile(r"\.*[A-Za-z]")
HIGHER, LOWER, OPEN = "higher", "lower", "no significant difference"


@dataclass(frozen=True)
class Standing:
    """A system on one task or over all: its mean, and its letters or what sets it apart from the control.

    `ranks` are the ends of its rank interval, where all pairs are compared.
    """

    system: str
    mean: float
    sign: str
    is_control: bool = False
    ranks: tuple[int, int] | None = None


@dataclass(frozen=True)
class Scope:
    """One task or all together. `standings` begin with the best mean; `groups` are the places there of systems that
    do not differ significantly.
    """

    task: str
    queries: int
    standings: tuple[Standing, ...]
    groups: tuple[tuple[int, ...], ...]
    critical_difference: float | None
    permutations: int
    exact: bool
    differences: list[Difference]


@dataclass(frozen=True)
class FoundFamily:
    """The results of one multiple comparison; the last scope is that over all tasks, or the only task."""

    record: FamilyRecord
    scopes: tuple[Scope, ...]

    @property
    def nouns(self) -> Nouns:
        """What it is over, in words."""
        return nouns_of(self.record.measure, self.record.of_tasks)

    @property
    def whole(self) -> Scope:
        """All tasks together."""
        return self.scopes[-1]

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return max(1, len(self.scopes) - 1)

    def unbeaten(self, task: str, systems: Collection[str]) -> set[str]:
        """The systems that do not differ significantly from the best on a task; none if other systems were tested."""
        for scope in self.scopes:
            names = [one.system for one in scope.standings]
            if scope.task == task and set(names) == set(systems):
                return {names[0], *(names[place] for group in scope.groups if 0 in group for place in group)}
        return set()


def read_family(table: Path, record: Path, labels: Labels) -> FoundFamily:
    """Read the two files of a multiple comparison."""
    lines = read_table(table, "task", "system", "other", "system_letters", "other_letters")
    return found_family(lines, read_record(FamilyRecord, record), labels)


def found_family(lines: pd.DataFrame, record: FamilyRecord, labels: Labels) -> FoundFamily:
    """A multiple comparison from the rows of its table and its record."""
    rows = rows_of(Difference, lines)
    scopes = [_scope(one, [row for row in rows if row.task == one.task], record, labels) for one in record.scopes]
    return FoundFamily(record, tuple(scopes))


def of_all_pairs(families: Mapping[str, FoundFamily], measure: str) -> tuple[str, FoundFamily | None]:
    """The first family of all pairs with this measure and its name."""
    every = (one for one in families.items() if one[1].record.measure == measure and one[1].record.against is None)
    return next(every, ("", None))


def read_families(tables: list[Path], records: list[Path], labels: Labels) -> dict[str, FoundFamily]:
    """All multiple comparisons by name, from their files in one order."""
    return {table.stem: read_family(table, record, labels) for table, record in zip(tables, records, strict=True)}


def _scope(scope: ScopeRecord, differences: list[Difference], family: FamilyRecord, labels: Labels) -> Scope:
    means, signs = {}, {}
    for one in differences:
        means |= {one.system: one.system_mean, one.other: one.other_mean}
        signs |= {one.system: one.system_letters or "", one.other: one.other_letters or ""}
        if family.against:
            signs |= {one.system: _verdict(one, family.alpha), one.other: "control"}
    order = sorted(means, key=means.__getitem__, reverse=not family.lower_is_better)
    ranks = dict.fromkeys(order) if family.against else _ranks(order, differences, family)
    standings = tuple(
        Standing(labels.system(name), means[name], signs[name], name == family.against, ranks[name]) for name in order
    )
    return Scope(
        task=labels.task(scope.task),
        queries=scope.queries,
        standings=standings,
        groups=tuple(group for group in _groups(standings) if len(group) > 1),
        critical_difference=scope.critical_value if family.statistic == "difference" else None,
        permutations=scope.permutations,
        exact=scope.exact,
        differences=[
            replace(one, system=labels.system(one.system), other=labels.system(one.other)) for one in differences
        ],
    )


def _ranks(order: list[str], differences: list[Difference], family: FamilyRecord) -> dict[str, tuple[int, int] | None]:
    place = {name: index for index, name in enumerate(order)}  # the better of two means stands before the other
    pairs = [sorted((place[one.system], place[one.other])) for one in differences if one.p_value < family.alpha]
    return dict(zip(order, rank_intervals(len(order), [(first, second) for first, second in pairs]), strict=True))


def _verdict(one: Difference, alpha: float) -> str:
    if one.p_value >= alpha:
        return OPEN
    return HIGHER if one.difference > 0 else LOWER


def _groups(standings: tuple[Standing, ...]) -> list[tuple[int, ...]]:
    """The places of systems that have a letter in common, or that do not differ significantly from the control."""
    if any(one.is_control for one in standings):
        return [tuple(place for place, one in enumerate(standings) if one.is_control or one.sign == OPEN)]
    members: dict[str, list[int]] = {}
    for place, one in enumerate(standings):
        for name in _LETTER.findall(one.sign):
            members.setdefault(name, []).append(place)
    return [tuple(places) for places in members.values()]


STATISTICS = {  # by the statistic, and whether the family is against a control
    ("t", False): "max-T",
    ("t", True): "max-T",
    ("difference", False): "randomised Tukey HSD",
    ("difference", True): "max-T of differences",
}

CONDITIONS = (
    "These tests are conditional: given the trained checkpoints, with queries treated as independent. A comparison "
    "of two "
    "systems can also include seed variance and the dependence between queries and between tasks, so its verdict on "
    "the same two systems may differ."
)


def heading(found: FoundFamily) -> str:
    """What is compared."""
    record = found.record
    count = len(record.systems)
    if record.against:
        others = f"{count - 1} system{'s' if count > 2 else ''}"
        return f"{others} against {_control(found)} at once"
    return f"{count} systems at once, all pairs"


def where(found: FoundFamily) -> str:
    """The scope: the task, or the number of collections."""
    whole = found.whole
    place = f"on these {form.spelled(found.tasks)} {found.nouns.collections}" if found.tasks > 1 else f"on {whole.task}"
    return f"{place} ({found.nouns.of_queries(whole.queries)})"


def sentence(found: FoundFamily) -> str:
    """The answer: the best system and those it differs from significantly, or those that differ from the control."""
    place = where(found)
    place = place[0].upper() + place[1:]
    level = f"at the familywise {found.record.alpha:g} level ({_test(found)})"
    return f"{place}, {(_against if found.record.against else _best)(found, level)}"


def _best(found: FoundFamily, level: str) -> str:
    best, following, *_ = found.whole.standings
    others = found.whole.standings[1:]
    near = {place for group in found.whole.groups if 0 in group for place in group} - {0}
    open_ones = [found.whole.standings[place].system for place in sorted(near)]
    if len(others) == 1:
        differs = f"{'does not differ' if near else 'differs'} significantly from {following.system}"
    elif not near:
        differs = f"differs significantly from all {form.spelled(len(others))} others"
    elif len(near) == len(others):
        differs = f"differs significantly from none of the {form.spelled(len(others))} others"
    else:
        apart = form.spelled(len(others) - len(near))
        differs = f"differs significantly from {apart} of {form.spelled(len(others))} others, not from "
        differs += listed(open_ones)
    lower = found.record.lower_is_better
    higher_first = (following.system, best.system) if lower else (best.system, following.system)
    extreme, direction = ("lowest", "more") if lower else ("highest", "less")
    difference = _difference(found, *higher_first)
    result = f"{best.system} has the {extreme} mean {found.record.measure} ({form.fixed(best.mean, 3)}). It {differs}"
    if len(others) == 1:
        return f"{result}, {level}. The difference is {difference}."
    return f"{result}, {level}. The next, {following.system}, has {difference} {direction}."


def size_alone(found: FoundFamily) -> str:
    """Two pairs of which the one with the larger difference alone is not significant, if there are such."""
    alpha, pairs = found.record.alpha, found.whole.differences
    least = min((one for one in pairs if one.p_value < alpha), key=lambda one: abs(one.difference), default=None)
    most = max((one for one in pairs if one.p_value >= alpha), key=lambda one: abs(one.difference), default=None)
    if not (least and most and abs(most.difference) > abs(least.difference)):
        return ""
    pairs_said = [f"{one.system} and {one.other} ({form.fixed(abs(one.difference), 4)})" for one in (most, least)]
    return (
        f"Size alone does not decide: {pairs_said[0]} do not differ significantly, {pairs_said[1]} do, "
        f"whose differences vary less between {found.nouns.queries}."
    )


def _against(found: FoundFamily, level: str) -> str:
    measure, standings = found.record.measure, found.whole.standings
    control = _control(found)
    names = {verdict: [one.system for one in standings if one.sign == verdict] for verdict in (HIGHER, LOWER, OPEN)}
    if not names[HIGHER] and not names[LOWER]:
        return f"no system differs significantly from {control} in mean {measure}, {level}."
    parts = [
        f"{listed(here)} {'has' if len(here) == 1 else 'have'} a significantly {verdict} mean {measure} than {control}"
        for verdict in (HIGHER, LOWER)
        if (here := names[verdict])
    ]
    if here := names[OPEN]:
        parts.append(f"{listed(here)} {'does' if len(here) == 1 else 'do'} not differ significantly from it")
    return f"{'; '.join(parts)}, {level}."


def _difference(found: FoundFamily, system: str, other: str) -> str:
    """How much higher one mean is than another, with interval and adjusted p-value."""
    alpha = found.record.alpha
    pair = next(one for one in found.whole.differences if {one.system, one.other} == {system, other})
    shown = pair if pair.system == system else _turned(pair)
    p = form.p_equals(shown.p_value, alpha)
    interval = "" if shown.ci_low is None else f"{form.fixed(shown.ci_low, 3)} to {form.fixed(shown.ci_high, 3)}"
    interval = f"{form.percent(alpha)} simultaneous CI {interval}; " if interval else ""
    return f"{form.fixed(abs(shown.difference), 3)} ({interval}adjusted {p})"


def _turned(one: Difference) -> Difference:
    """The same difference with the systems in reverse order."""
    low, high = (None if end is None else -end for end in (one.ci_high, one.ci_low))
    return replace(one, system=one.other, other=one.system, difference=-one.difference, ci_low=low, ci_high=high)


def _test(found: FoundFamily) -> str:
    record = found.record
    family = f"each system against {_control(found)}" if record.against else "all pairs"
    return f"{STATISTICS[record.statistic, bool(record.against)]} test, {family}"


def _control(found: FoundFamily) -> str:
    return next(one.system for one in found.whole.standings if one.is_control)


def notes(found: FoundFamily) -> list[str]:
    """The notes on the method and the scope."""
    record, whole = found.record, found.whole
    drawn = "all" if whole.exact else "random"
    drawn += {
        "t": f" sign flips of each {found.nouns.query}'s differences",
        "difference": f" permutations of the systems' values within each {found.nouns.query}",
    }[record.statistic]
    places = ", on each task and over the tasks" if found.tasks > 1 else ""
    said = [
        f"Test: {_test(found)}, {whole.permutations:,} {drawn}. p-values are adjusted for the whole family and "
        "intervals are simultaneous: the probability of even one false difference is at most "
        f"{record.alpha:g}{places}.",
    ]
    if record.against:
        said.append(
            "No significant difference (in the figure: a bar to the control) does not show that systems are equal."
        )
    else:
        said.append(
            "Systems with a letter (in the figure: a bar) in common do not differ significantly, which does not show "
            "that they are equal."
        )
        said.append(
            f"Ranks: {form.percent(record.alpha)} simultaneous rank intervals. A system ranks below all that are "
            "significantly better and above all that are significantly worse."
        )
    if found.tasks > 1:
        said.append(
            "Over tasks, each task weighs the same, and the tasks are taken as given: the result holds for these "
            f"{found.nouns.collections}, not for {found.nouns.collections} like these."
        )
    said += filter(None, [size_alone(found)])
    several = {name: seeds for name, seeds in record.seeds.items() if seeds > 1}
    if several:
        said.append(f"Several seeds of a system are averaged by {found.nouns.query}.")
    said += [not_concluded(record.measure)] if record.of_tasks else []
    return [*said, found.nouns.say(CONDITIONS)]


def standings(found: FoundFamily) -> Table:
    """Each system's mean over the tasks and on each, with its letters, and its rank interval; the best first."""
    scopes = [found.whole, *found.scopes[:-1]]
    by_system = [{one.system: f"{form.fixed(one.mean, 3)} {one.sign}" for one in scope.standings} for scope in scopes]
    ranks = [] if found.record.against else ["Rank"]
    rows = [
        [one.system, *(rank_text(one) for _ in ranks), *(cells[one.system] for cells in by_system)]
        for one in found.whole.standings
    ]
    caption = f"Mean {found.record.measure} of each system."
    if not found.record.against:
        percent = form.percent(found.record.alpha)
        caption += f" Systems with a letter in common do not differ significantly. Rank: {percent} rank interval."
    return Table(columns(["System", *ranks, *(_scope_name(found, one) for one in scopes)]), [rows], caption=caption)


def rank_text(one: Standing) -> str:
    """The rank interval, such as 1-3; one number where the rank is sure; empty if there is none."""
    if one.ranks is None:
        return ""
    best, worst = one.ranks
    return str(best) if best == worst else f"{best}-{worst}"


def differences(found: FoundFamily) -> Table:
    """The differences over all tasks, the largest first, the better system of a pair in front."""
    record = found.record
    alpha = record.alpha
    parametric = "p (Dunnett)" if record.against else "p (Tukey)"
    heads = ["System", "Minus", "Difference", f"{form.percent(alpha)} simultaneous interval", "p (max-T)", parametric]
    ordered = sorted(found.whole.differences, key=lambda one: -abs(one.difference))
    rows = [_difference_row(one, record) for one in ordered]
    over = f" over {found.tasks} tasks" if found.tasks > 1 else ""
    return Table(columns(heads, words=2), [rows],
                 caption=f"Differences in {record.measure}{over}. * p (max-T) < {alpha:g}")  # fmt: skip


def _difference_row(one: Difference, record: FamilyRecord) -> list[str]:
    worse = one.difference > 0 if record.lower_is_better else one.difference < 0
    shown = _turned(one) if worse and not record.against else one
    p, other_p = shown.p_value, shown.parametric_p_value
    return [
        shown.system,
        shown.other,
        form.fixed(shown.difference, 4),
        "" if shown.ci_low is None else f"[{form.fixed(shown.ci_low, 4)}, {form.fixed(shown.ci_high, 4)}]",
        form.p_value(p, record.alpha) + ("*" if p < record.alpha else ""),
        "" if other_p is None else form.p_value(other_p, record.alpha),
    ]


def _scope_name(found: FoundFamily, scope: Scope) -> str:
    return f"Over {found.tasks} tasks" if found.tasks > 1 and scope is found.whole else scope.task
