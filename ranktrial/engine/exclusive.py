"""`timing: exclusive`: a timed ranking job does not run at the same time as other jobs of the experiment.

Reads and writes nothing. The jobs of a run share a Snakemake resource `machine`: a timed job takes all of it, any other
job one share. On a cluster, jobs are on different nodes, so that a timed job requests a node of its own from Slurm
(`--exclusive`). The parameter `timing` of these rules makes them run again if the key changes.
"""

from __future__ import annotations

from snakemake.rules import Rule
from snakemake.workflow import Workflow

from ranktrial.engine.slurm_requests import OWN_NODE

MACHINE, WHOLE = "machine", 100_000  # the resource, and more shares than a run has jobs
EXCLUSIVE = "exclusive"  # what the key `timing` says


def is_timed(rule: Rule) -> bool:
    """Whether the jobs of a rule write a run with its timing."""
    return {"run", "timing"} <= set(rule.output.keys())


def time_alone(workflow: Workflow, timing: str) -> None:
    """Let no job run at the same time as a timed one, if the timing is to be exclusive."""
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
            rule.resources[OWN_NODE] = 1
