"""The jobs behind files, and which jobs run first and beside which others.

The jobs behind files are found by walking the rules back from the files to the raw data.

Snakemake's own graph of jobs has no public form, does not exist yet when an input function needs it, and lacks jobs
that a single target does not need. So this module asks the rules themselves, by `products`, `is_producer`,
`get_wildcards` and `expand_input` of Snakemake's class Rule. Jobs that Snakemake has already made have the same inputs.
None of this is documented: tests/engine/test_snakemake_inside.py fails if a new version changes it.

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

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snakemake.iocontainers import Wildcards

from ranktrial.common.ledger import LEDGER, entries, read_entry, recorded
from ranktrial.engine.slurm_submission import OWN_NODE

if TYPE_CHECKING:
    from snakemake.rules import Rule
    from snakemake.workflow import Workflow


@dataclass(frozen=True)
class RuleGraph:
    """`jobs`: (rule, its wildcards) -> Snakemake's rule with the wildcards; `feeds`: (producer, consumer) rules."""

    jobs: dict[tuple[str, tuple], tuple[Any, Wildcards]]
    feeds: set[tuple[str, str]]

    def outputs(self) -> list[str]:
        """The files that the jobs write, in order."""
        return sorted(
            str(path.apply_wildcards(wildcards)) for rule, wildcards in self.jobs.values() for path in rule.output
        )

    def drawn(self, order: Iterable[str]) -> dict[str, Any]:
        """The number of jobs of each rule, and the pairs (rule, rule that uses its output).

        `order` has the rules' names in the order of the files. A recipe may start from another, and a selected seed
        depends on scores: edges back to earlier rules come last.
        """
        place = {name: number for number, name in enumerate(order)}
        counted = Counter(name for name, _ in self.jobs)
        feeds = sorted(self.feeds, key=lambda pair: (place[pair[0]] >= place[pair[1]], pair))
        return {"jobs": dict(sorted(counted.items())), "feeds": feeds}


def rule_graph(rules: Iterable[Any], targets: Iterable[str], made: Iterable[Any] = ()) -> RuleGraph:
    """The jobs behind the targets; `rules` are Snakemake's, and `made` the jobs that it has already made.

    A file that no rule makes is raw data.
    """
    makers = [rule for rule in rules if rule.products()]
    known = {str(path): job for job in made for path in job.output}
    graph = RuleGraph({}, set())
    made_by: dict[str, str | None] = {}
    waiting: list[tuple[str | None, str]] = [(None, path) for path in targets]
    while waiting:
        taker, path = waiting.pop()
        if path not in made_by:
            job = known.get(path)
            maker = job.rule if job else next((rule for rule in makers if rule.is_producer(path)), None)
            made_by[path] = maker.name if maker else None
            if maker:
                wildcards = job.wildcards if job else Wildcards(fromdict=maker.get_wildcards(path))
                key = (maker.name, tuple(sorted(wildcards.items())))
                if key not in graph.jobs:
                    graph.jobs[key] = maker, wildcards
                    inputs = job.input if job else maker.expand_input(wildcards)[0]
                    waiting += [(maker.name, str(name)) for name in inputs]
        maker_name = made_by[path]
        if maker_name and taker:
            graph.feeds.add((maker_name, taker))
    return graph


def deleted_outputs(graph: RuleGraph) -> list[str]:
    """The outputs of jobs of the graph that no longer exist, or lack a file, according to the ledger."""
    return [path for path in graph.outputs() if not all(map(os.path.exists, recorded(Path(path)) or ()))]


def on_missing(missing: list[str], configuration: str) -> str:
    """The line on such files. Nobody need have deleted them: Snakemake removes the outputs of a job that fails."""
    many = "1 file that is missing is" if len(missing) == 1 else f"{len(missing)} files that are missing are"
    return (
        f"{many} made again, with all that depends on them, such as {missing[0]}: deleted, or removed when a job "
        f"failed (that one alone: snakemake {missing[0]} --configfile {configuration})"
    )


def deleted_from(folder: str) -> Iterator[str]:
    """The files and folders that jobs wrote into a folder of results/, by the ledger, and that no longer exist.

    There is almost never one, and the ledger shows that faster than the graph of all jobs.
    """
    for entry in entries(LEDGER / folder):
        name = entry.relative_to(LEDGER).as_posix()
        files = read_entry(entry) or {} if os.path.isdir(name) else [name]
        yield from (file for file in files if not os.path.exists(file))


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
