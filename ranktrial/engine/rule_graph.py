"""The jobs behind files, found by walking the rules back from the files to the raw data.

Snakemake's own graph of jobs has no public form, does not exist yet when an input function needs it, and lacks jobs
that a single target does not need. So this module asks the rules themselves, by `products`, `is_producer`,
`get_wildcards` and `expand_input` of Snakemake's class Rule. Jobs that Snakemake has already made have the same inputs.
None of this is documented: tests/engine/test_snakemake_inside.py fails if a new version changes it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake.iocontainers import Wildcards

from ranktrial.common.ledger import LEDGER, entries, read_entry, recorded


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
    """The files that jobs of the graph wrote, according to the ledger, and that no longer exist."""
    return [path for path in graph.outputs() if not Path(path).exists() and recorded(Path(path))]


def deleted_from(folder: str) -> Iterator[str]:
    """The files and folders that jobs wrote into a folder of results/, by the ledger, and that no longer exist.

    There is almost never one, and the ledger shows that faster than the graph of all jobs.
    """
    for entry in entries(LEDGER / folder):
        name = entry.relative_to(LEDGER).as_posix()
        files = read_entry(entry) or {} if os.path.isdir(name) else [name]
        yield from (file for file in files if not os.path.exists(file))
