"""The tuning budget of a system: the number of configurations compared on dev before it was fixed."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.experiment.system_types import behind, system_type


def tried(experiment: Experiment, system: str) -> int:
    """Return the number of configurations tried for a system and those behind it, each choice counted once; 1: none.

    A selected seed counts all seeds, and a chosen recipe all recipes of its entry.
    """
    counts: dict[tuple[str, str], int] = {}
    for member in behind(experiment.systems[system], experiment.systems):
        counts["tuning", member.name] = system_type(member).tried(member)
        if member.selection:
            counts["seeds", member.selection.by] = len(member.seeds)
        if member.choice:
            counts["recipes", member.name] = len(member.choice.members)
    return max(1, sum(counts.values()))


def tried_by_comparison(experiment: Experiment) -> dict[str, list[int]]:
    """Return comparison -> the numbers tried for control and treatment; comparisons without any choice are left out."""
    both = {
        name: [tried(experiment, comparison.control), tried(experiment, comparison.treatment)]
        for name, comparison in experiment.comparisons.items()
    }
    return {name: counts for name, counts in both.items() if counts != [1, 1]}
