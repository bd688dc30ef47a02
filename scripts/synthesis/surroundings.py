"""Clusters of queries from a file, and a warning where seeds are averaged on some tasks and selected on others.

Reads a file of clusters; writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.experiment.records import SELECTED


def read_clusters(path: Path) -> dict[str, str]:
    """Query id -> cluster, from lines of both with a tab between. Raises UserError with the line for another line."""
    clusters: dict[str, str] = {}
    for number, line in lines(path):
        query, _, cluster = line.partition("\t")
        if query in clusters:
            raise UserError(f"{path}:{number}: duplicate query {query}")
        if not (query and cluster.strip()):
            raise UserError(f"{path}:{number}: expected a query id, a tab and the name of its cluster")
        clusters[query] = cluster
    return clusters


def mixed_estimands(name: str, seeds: Mapping[str, Sequence[str]]) -> list[str]:
    """Whether a system has the mean of its seeds on some tasks and a selected one on others, as text; seeds by
    task."""
    several = {task: len(of_task) for task, of_task in seeds.items() if len(of_task) > 1}
    selected = [task for task, of_task in seeds.items() if of_task[0] == SELECTED]
    if not (several and selected):
        return []
    return [
        f"{name}: the mean of {next(iter(several.values()))} seeds on {', '.join(several)}, but on "
        f"{', '.join(selected)} the seed that was the best on its selection task: the summary is over two quantities"
    ]
