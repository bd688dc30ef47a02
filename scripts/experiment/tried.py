"""How many configurations were compared on dev before a system stood as it is: its budget of tuning, in numbers."""

from __future__ import annotations

from scripts.experiment.records import Experiment
from scripts.experiment.system_kinds import behind, system_kind


def tried(experiment: Experiment, system: str) -> int:
    """The configurations tried for a system and those whose runs it takes, each choice counted once; 1: none was tuned.

    Of a selected seed all seeds were tried, of a chosen recipe all that its entry became.
    """
    counts: dict[tuple[str, str], int] = {}
    for member in behind(experiment.systems[system], experiment.systems):
        counts["tuning", member.name] = system_kind(member).tried(member)
        if member.selection:
            counts["seeds", member.selection.by] = len(member.seeds)
        if member.choice:
            counts["recipes", member.name] = len(member.choice.members)
    return max(1, sum(counts.values()))


def tried_by_comparison(experiment: Experiment) -> dict[str, list[int]]:
    """What was tried for control and for treatment, by comparison; those without any choice are left out."""
    both = {
        name: [tried(experiment, comparison.control), tried(experiment, comparison.treatment)]
        for name, comparison in experiment.comparisons.items()
    }
    return {name: counts for name, counts in both.items() if counts != [1, 1]}
