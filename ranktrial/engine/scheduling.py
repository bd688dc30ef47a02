"""Which jobs run first, and beside which others; reads and writes nothing.

With `timing: exclusive`, a timed ranking job does not run at the same time as other jobs of the experiment. The jobs of
a run share a Snakemake resource `machine`: a timed job takes all of it, any other job one share. On a cluster, jobs are
on different nodes, so that a timed job requests a node of its own from Slurm (`--exclusive`). The parameter `timing` of
these rules makes them run again if the key changes.

Jobs of the first comparison run first, so that its effects are there while the others' jobs run. The priority of a rule
(Snakemake's directive `priority`) decides which of the ready jobs starts, and does not affect whether a job runs again.
It is the same function for all rules, so it is set in one place. It walks the plan back from each comparison's forest
plot; a job needed by several has the priority of the first. Tables over all comparisons, from which a plot takes
corrected p-values, pass no priority on: the first comparison's values come first all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ranktrial.engine.slurm_submission import OWN_NODE

if TYPE_CHECKING:  # in another order, Snakemake's modules import each other in a circle
    from snakemake.rules import Rule
    from snakemake.workflow import Workflow

MACHINE, WHOLE = "machine", 100_000  # the resource, and more shares than a run has jobs
EXCLUSIVE = "exclusive"  # what the key `timing` says
OVER_ALL = "collect"  # the rule of these tables
Jobs = dict[tuple[str, tuple], int]


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


def prefer_first(workflow: Any, plots: Sequence[str]) -> None:
    """Give all rules priorities in the order of the forest plots."""
    priority = _priority(workflow, plots)
    for rule in workflow.rules:
        rule.priority = priority


def _priority(workflow: Any, plots: Sequence[str]) -> Callable[..., int]:
    known: dict[int, Jobs] = {}  # number of planned jobs -> their priorities; Snakemake asks once per job of a plan

    def priority(wildcards: Any, rulename: str) -> int:
        planned = len(workflow.dag.jobs)
        if planned not in known:
            known[planned] = priorities(workflow.dag, plots)
        return known[planned].get((rulename, tuple(sorted(wildcards.items()))), 0)

    return priority


def priorities(dag: Any, plots: Sequence[str]) -> Jobs:
    """The priority of each planned job that a forest plot needs, by its rule and wildcards."""
    makers = {str(path): job for job in dag.jobs for path in job.output}
    found: Jobs = {}
    for place, plot in enumerate(plots):
        waiting = [makers[plot]] if plot in makers else []
        while waiting:
            job = waiting.pop()
            key = job.rule.name, tuple(sorted(job.wildcards_dict.items()))
            if key not in found:
                found[key] = len(plots) - place
                waiting += [] if job.rule.name == OVER_ALL else dag.job_dependencies(job)
    return found
