"""`timing: exclusive`: a job that ranks, and times it, runs beside no other job of the experiment.

Reads and writes nothing. Snakemake gives the jobs of a run shares of a resource `machine`: one job that is timed takes
all of it, any other one share. On a cluster jobs are on different nodes, so there a timed job asks Slurm for a node of
its own (`--exclusive`). The parameter `timing` of these rules makes a change of the key time them again.
"""

from __future__ import annotations

from snakemake.rules import Rule
from snakemake.workflow import Workflow

MACHINE, WHOLE = "machine", 100_000  # the resource, and more shares than a run has jobs
OWN_NODE = "--exclusive"
EXCLUSIVE = "exclusive"  # what the key `timing` says


def is_timed(rule: Rule) -> bool:
    """Whether the jobs of a rule write a run with its timing."""
    return {"run", "timing"} <= set(rule.output.keys())


def time_alone(workflow: Workflow, timing: str) -> None:
    """Let no job run beside one that is timed, where the timing is to be exclusive."""
    if timing != EXCLUSIVE:
        return
    on_cluster = workflow.resource_settings.nodes is not None
    if not on_cluster:
        workflow.register_resource(MACHINE, WHOLE)
    for rule in workflow.rules:
        timed = is_timed(rule)
        if timed:
            rule.set_params(timing=EXCLUSIVE)
        if not on_cluster:
            rule.resources[MACHINE] = WHOLE if timed else 1
        elif timed:
            rule.resources["slurm_extra"] = OWN_NODE
