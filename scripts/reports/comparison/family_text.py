"""What is said about a multiple comparison: its sentence, its notes and its tables; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.families import HIGHER, LOWER, OPEN, FoundFamily, Scope
from scripts.reports.comparison.reading import Labels


def heading(found: FoundFamily, labels: Labels) -> str:
    """What is compared."""
    told = found.record
    count = len(told["systems"])
    if told["against"]:
        others = f"{count - 1} system{'s' if count > 2 else ''}"
        return f"{others} against {labels.system(told['against'])} at once"
    return f"{count} systems at once, all pairs"


def where(found: FoundFamily) -> str:
    """On what: the task, or over how many."""
    whole = found.whole
    place = f"over these {found.tasks} tasks" if found.tasks > 1 else f"on {whole.task}"
    return f"{place} ({whole.queries:,} {'query' if whole.queries == 1 else 'queries'})"


def sentence(found: FoundFamily) -> str:
    """The answer: who is best and from whom it is not told apart, or who differs from the control."""
    measure, whole = found.record["measure"], found.whole
    place = where(found)
    place = place[0].upper() + place[1:]
    if found.record["against"]:
        return f"{place}, {_against(found)}."
    best, *others = whole.standings
    groups = [group for group in whole.groups if 0 in group]
    near = sorted({place for group in groups for place in group} - {0})
    extreme = "lowest" if found.record["lower_is_better"] else "highest"
    start = f"{place}, {best.system} has the {extreme} mean {measure} ({form.fixed(best.mean, 3)})"
    if not near:
        return (
            f"{start} and is told apart from all {len(others)} others."
            if len(others) > 1
            else (f"{start} and is told apart from {others[0].system}.")
        )
    if len(near) == len(others):
        return f"{start}, and is not told apart from {'any other' if len(others) > 1 else others[0].system}."
    return f"{start}; it is not told apart from {_listed(whole.standings[place].system for place in near)}."


def _against(found: FoundFamily) -> str:
    measure, standings = found.record["measure"], found.whole.standings
    control = next(one.system for one in standings if one.is_control)
    names = {verdict: [one.system for one in standings if one.sign == verdict] for verdict in (HIGHER, LOWER, OPEN)}
    if not names[HIGHER] and not names[LOWER]:
        return f"no system is told apart from {control} in its mean {measure}"
    parts = []
    for verdict in (HIGHER, LOWER):
        if here := names[verdict]:
            parts.append(f"{_listed(here)} {_have(here)} a {verdict} mean {measure} than {control}")
    if names[OPEN]:
        parts.append(f"{_listed(names[OPEN])} {'is' if len(names[OPEN]) == 1 else 'are'} not told apart from it")
    return "; ".join(parts)


def _have(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"


def notes(found: FoundFamily) -> list[str]:
    """How the numbers were made, and what they hold for."""
    told, whole = found.record, found.whole
    family = "each system with the control" if told["against"] else "all pairs"
    statistic = {
        "t": "max-T of differences over their standard errors",
        "difference": "randomised Tukey HSD" if not told["against"] else "max-T of differences",
    }[told["statistic"]]
    drawn = "all" if whole.exact else "random"
    drawn += {
        "t": " sign flips of each query's differences",
        "difference": " permutations of the systems' values within each query",
    }[told["statistic"]]
    places = ", on each task and over the tasks" if found.tasks > 1 else ""
    said = [
        f"Test of {family}: {statistic}, {whole.permutations:,} {drawn}. p and intervals hold for the whole family "
        f"at once: the chance of even one false difference is {told['alpha']:g}{places}.",
    ]
    if told["against"]:
        said.append(
            "A system that is not told apart (in the figure: joined to the control by a bar) need not be equal."
        )
    else:
        said.append(
            "Systems with a letter (in the figure: a bar) in common are not told apart; that does not make them equal."
        )
    if found.tasks > 1:
        said.append(
            "Over tasks, each task weighs the same, and the tasks are taken as given: what is said holds for these, "
            "which is less than for collections like these."
        )
    several = {name: seeds for name, seeds in told["seeds"].items() if seeds > 1}
    if several:
        said.append("Several seeds of a system are averaged by query; what is said holds for these checkpoints.")
    return said


def standings_table(found: FoundFamily) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: each system's mean over the tasks and on each, with its letters; the best first."""
    scopes = [found.whole, *found.scopes[:-1]]
    heads = ["System", *(_scope_name(found, one) for one in scopes)]
    by_system = [{one.system: f"{form.fixed(one.mean, 3)} {one.sign}" for one in scope.standings} for scope in scopes]
    rows = [[one.system, *(cells[one.system] for cells in by_system)] for one in found.whole.standings]
    return heads, rows


def differences_table(found: FoundFamily) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: the differences over all tasks, the largest first, the better system of a pair in front."""
    told = found.record
    alpha = told["alpha"]
    parametric = "p (Dunnett)" if told["against"] else "p (Tukey)"
    heads = ["System", "Less", "Difference", f"{form.percent(alpha)} simultaneous interval", "p (max-T)", parametric]
    lines = found.whole.differences
    keyed = lines.iloc[lines["difference"].abs().sort_values(ascending=False, kind="stable").index - lines.index[0]]
    rows = []
    for line in keyed.to_dict("records"):
        worse = line["difference"] > 0 if told["lower_is_better"] else line["difference"] < 0
        turned = worse and not told["against"]
        first, second = ("other", "system") if turned else ("system", "other")
        sign = -1 if turned else 1
        ends = [sign * line[end] for end in (("ci_high", "ci_low") if turned else ("ci_low", "ci_high"))]
        interval = "" if pd.isna(ends[0]) else f"[{form.fixed(ends[0], 4)}, {form.fixed(ends[1], 4)}]"
        other_p = line["parametric_p_value"]
        rows.append(
            [
                line[first],
                line[second],
                form.fixed(sign * line["difference"], 4),
                interval,
                form.p_value(line["p_value"], alpha) + ("*" if line["p_value"] < alpha else ""),
                "" if pd.isna(other_p) else form.p_value(other_p, alpha),
            ]
        )
    return heads, rows


def _scope_name(found: FoundFamily, scope: Scope) -> str:
    return f"Over {found.tasks} tasks" if found.tasks > 1 and scope is found.whole else scope.task


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
