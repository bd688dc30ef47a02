"""The comparisons of an experiment, resolved: which tasks each one is on, and which are drawn in one figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scripts.common.checker import Checker

if TYPE_CHECKING:
    from scripts.common.experiment import System, Task

COST_FIGURE = "cost-"  # how the names of the figures begin that set effects against costs
DRAWN_ALIKE = ("measure", "effect", "alpha", "estimator", "interval")  # what one forest plot has one of


@dataclass(frozen=True)
class Comparison:
    """Control against treatment over tasks; `settings` are the statistics', `figure` the looks."""

    name: str
    control: str
    treatment: str
    tasks: tuple[str, ...]
    settings: dict
    figure: dict


def comparison(check: Checker, name: str, systems: dict[str, System], tasks: dict[str, Task]) -> Comparison:
    """Resolve the comparison `name`. Raises UserError for an unknown name, and for a task without a run or measure."""
    entry, key = check.config["comparisons"][name], f"comparisons.{name}"
    if name.startswith(COST_FIGURE):
        raise check.fail(key, f"names that begin with {COST_FIGURE!r} are those of the figures of costs")
    for role in ("control", "treatment"):
        check.known(f"{key}.{role}", entry[role], "systems")
    if entry["control"] == entry["treatment"]:
        raise check.fail(key, f"control and treatment are both {entry['control']!r}")
    names = list(tasks) if entry["tasks"] == "all" else entry["tasks"]
    for task in names:
        check.known(f"{key}.tasks", task, "tasks")
        for role in ("control", "treatment"):
            system = systems[entry[role]]
            if system.kind == "external" and task not in system.settings:
                what = "scores" if tasks[task].format == "scores" else "run"
                raise check.fail(key, f"{system.name} has no {what} for task {task!r}; add one or list the tasks")
        if entry["measure"] not in tasks[task].measures:
            known = list(tasks[task].measures)
            what = "measures" if tasks[task].format != "scores" else f"the measures of task {task!r}"
            raise check.fail(f"{key}.measure", f"{entry['measure']!r} is not among {what}: {known}")
    statistics = {k: v for k, v in entry.items() if k not in ("control", "treatment", "tasks", "figure")}
    return Comparison(name, entry["control"], entry["treatment"], tuple(names), statistics, entry["figure"])


def drawn_together(check: Checker, comparisons: dict[str, Comparison]) -> dict[str, tuple[str, ...]]:
    """Figure name -> the comparisons that it shows, of one control against several treatments.

    Raises UserError where a figure's name is that of a comparison, or its comparisons do not fit in one figure.
    """
    groups: dict[str, list[Comparison]] = {}
    for one in comparisons.values():
        if "together" in one.figure:
            groups.setdefault(one.figure["together"], []).append(one)
    for name, group in groups.items():
        first = group[0]
        if name in comparisons:
            raise check.fail(f"comparisons.{first.name}.figure.together", f"{name!r} is the name of a comparison")
        for other in group[1:]:
            key = f"comparisons.{other.name}.figure.together"
            differ = [k for k in DRAWN_ALIKE if first.settings[k] != other.settings[k]]
            differ += ["control"] if first.control != other.control else []
            if differ:
                raise check.fail(key, f"cannot be drawn with {first.name}: they differ in {', '.join(differ)}")
    return {name: tuple(one.name for one in group) for name, group in groups.items()}


def cost_figures(comparisons: dict[str, Comparison], timed: set[str]) -> dict[str, tuple[str, ...]]:
    """Figure name (without its beginning) -> the comparisons whose effects it sets against costs.

    One figure for each control, or several, then named after their first comparison too, where its comparisons differ
    in what they measure or on which tasks; only `timed` systems are in it, each treatment once.
    """
    groups: dict[tuple, dict[str, Comparison]] = {}
    for one in comparisons.values():
        if one.treatment in timed and one.settings["effect"] != "CORR":
            key = (one.control, one.settings["measure"], one.settings["effect"], one.settings["alpha"], one.tasks)
            groups.setdefault(key, {}).setdefault(one.treatment, one)
    controls = [control for control, *_ in groups]
    found = {}
    for (control, *_), group in groups.items():
        if len(group) + (control in timed) > 1:
            several = controls.count(control) > 1
            name = f"{control}-{next(iter(group.values())).name}" if several else control
            found[name] = tuple(one.name for one in group.values())
    return found
