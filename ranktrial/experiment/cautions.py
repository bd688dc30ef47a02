"""Warnings about settings that can be computed but are easily misinterpreted; they are printed, not refused."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.experiment.system_types import documents_held
from ranktrial.ir.measure_names import cutoff, parse

NAMED = 5  # systems in a line


def cautions(experiment: Experiment) -> list[str]:
    """Return a line for each group of systems that rank fewer documents per query than a measure's cutoff."""
    cutoffs = {name: cutoff(parse(name)) or 0 for name in _measures(experiment)}
    held = {name: documents_held(experiment, system) for name, system in experiment.systems.items()}
    deepest = max(experiment.depth, *held.values())
    beyond = [name for name, depth in cutoffs.items() if depth > deepest]
    groups: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for entry, names in experiment.entries.items():
        for depth in map(held.__getitem__, names):
            short = tuple(name for name, looks in cutoffs.items() if looks > depth and name not in beyond)
            members = groups.setdefault((depth, short), []) if short else []
            members += [entry] if entry not in members else []
    lines = [_caution(beyond, "every run, which contains", deepest, "depth")] if beyond else []
    for (depth, short), members in groups.items():
        runs = ", ".join(members[:NAMED]) + (f" and {len(members) - NAMED} more" if len(members) > NAMED else "")
        key = "rerank.depth" if depth < experiment.depth else "depth"
        lines.append(_caution(list(short), f"the runs of {runs}, which contain", depth, key))
    return lines


def _measures(experiment: Experiment) -> list[str]:
    """Return the measures computed from runs, including those that select seeds and recipes."""
    scored = [name for task in experiment.tasks.values() if not task.values_given for name in task.measures]
    chosen = [name for system in experiment.systems.values() if system.selection for name in system.selection.score]
    chosen += [system.choice.measure for system in experiment.systems.values() if system.choice]
    return [name for name in dict.fromkeys(scored + chosen) if parse(name).NAME != "Judged"]  # valid at any depth


def _caution(measures: list[str], runs: str, depth: int, key: str) -> str:
    look = "looks" if len(measures) == 1 else "look"
    counts = "documents below count as not retrieved, so a deeper run may score higher"
    return f"{', '.join(measures)} {look} deeper than {runs} at most {depth} documents per query ({key}): {counts}"
