"""Finer grids than the table's for the figure of a plan; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ranktrial.records.study_design import Curves
from ranktrial.statistics.power.designs import Components, Design, Question, Target
from ranktrial.statistics.power.precision import Precision

POINTS = 25  # of queries and of collections, evenly spaced on logarithmic axes


def curves(
    components: Components,
    question: Question,
    target: Target,
    queries: Sequence[int],
    collections: Sequence[int],
    seeds: Sequence[int],
    shown_seeds: int | None = None,
) -> Curves:
    """The smallest detectable effect (or half-width, if that is the target) for one collection and over collections.

    `task` has one row per number of seeds, `summary` a matrix, collections x queries. Lists must be ascending;
    `shown_seeds` is one of the numbers of seeds that must be included.
    """
    counts = few(seeds, shown_seeds) if components.seed_variances else [1]
    of_queries = np.geomspace(queries[0], queries[-1], POINTS)
    of_collections = np.geomspace(collections[0], collections[-1], POINTS) if collections else np.array([])

    def shown(found: Precision) -> float:
        return float(found.detectable if target.half_width is None else found.half_width)

    return Curves(
        quantity="detectable" if target.half_width is None else "half_width",
        queries=of_queries.tolist(),
        collections=of_collections.tolist(),
        seeds=counts,
        task=[[shown(question.of_task(components, Design(n, 1, m))) for n in of_queries] for m in counts],
        summary=[
            [[shown(question.of_summary(components, Design(n, k, m))) for n in of_queries] for k in of_collections]
            for m in counts
        ],
    )


def few(values: Sequence[int], wanted: int | None = None) -> list[int]:
    """The first, a middle and the last of the values, including the wanted one."""
    middle = values[(len(values) - 1) // 2] if wanted is None else wanted
    return sorted({values[0], middle, values[-1]})
