"""What a configuration asks for that can be computed, but does not mean what it seems to: said, and not refused."""

from __future__ import annotations

from scripts.experiment.records import Experiment
from scripts.experiment.system_kinds import documents_held
from scripts.ir.measure_names import cutoff, parse

NAMED = 5  # systems in a line


def cautions(experiment: Experiment) -> list[str]:
    """A line for each group of systems that rank fewer documents a query than a measure looks at."""
    wanted = {name: cutoff(parse(name)) or 0 for name in _measures(experiment)}
    beyond = [name for name, depth in wanted.items() if depth > experiment.depth]
    groups: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for entry, names in experiment.entries.items():
        for system in map(experiment.systems.__getitem__, names):
            depth = documents_held(experiment, system)
            short = tuple(name for name, looks in wanted.items() if looks > depth and name not in beyond)
            members = groups.setdefault((depth, short), []) if short else []
            members += [entry] if entry not in members else []
    found = [_said(beyond, "every run, which holds", experiment.depth, "depth")] if beyond else []
    for (depth, short), members in groups.items():
        runs = ", ".join(members[:NAMED]) + (f" and {len(members) - NAMED} more" if len(members) > NAMED else "")
        found.append(_said(list(short), f"the runs of {runs}, which hold", depth, "rerank.depth"))
    return found


def _measures(experiment: Experiment) -> list[str]:
    """The measures of runs, those by which seeds are selected too."""
    scored = [one for task in experiment.tasks.values() if not task.values_given for one in task.measures]
    chosen = [one for system in experiment.systems.values() if system.selection for one in system.selection.score]
    return [name for name in dict.fromkeys(scored + chosen) if parse(name).NAME != "Judged"]  # a share of what is there


def _said(measures: list[str], runs: str, depth: int, key: str) -> str:
    look = "looks" if len(measures) == 1 else "look"
    counts = "what stands below counts as not retrieved, so a deeper run may score higher"
    return f"{', '.join(measures)} {look} deeper than {runs} {depth} documents a query at most ({key}): {counts}"
