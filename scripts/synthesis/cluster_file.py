"""Reads a file of clusters of queries, `query <tab> cluster`; writes nothing."""

from __future__ import annotations

from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import lines


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
