"""Fuse the runs of several systems on a task into one.

Reads a run of each system, in the order of the settings' `systems`, and (optionally) the weights that tuning chose.
Writes a TREC run of the `depth` best documents per query, and its timing: of fusing alone, not of the fused runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.timing import clock, latency, single_seconds, write_timing
from ranktrial.ir.fusion import Scores, comb_mnz, comb_sum, fused, normalised, reciprocal_ranks, weighted_sum
from ranktrial.ir.trec import Run, read_run, write_run


@dataclass(frozen=True)
class Settings:
    systems: Annotated[list[str], "the systems whose runs are fused"]
    method: Annotated[Literal["reciprocal-rank", "weighted-sum", "CombSUM", "CombMNZ"], "how they are fused"]
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]
    k: Annotated[float, "reciprocal-rank: a document at rank r gets 1 / (k + r)"] = 60
    normalise: Annotated[Literal["min-max", "z-score", "rank"], "the sums: how scores are made comparable"] = "min-max"
    weights: Annotated[dict[str, float] | None, "weighted-sum: of each system; null where a file has them"] = None


def fuser(settings: Settings, weights: dict[str, float]) -> Callable[[list[Scores]], Scores]:
    """Joins a query's lists of (normalised) scores, one per system, into one list."""
    if settings.method == "weighted-sum":
        in_order = [weights[name] for name in settings.systems]
        return lambda lists: weighted_sum(lists, in_order)
    return comb_mnz if settings.method == "CombMNZ" else comb_sum


def comparable(runs: list[Run], settings: Settings) -> list[Run]:
    """The runs with the scores that are summed."""
    if settings.method == "reciprocal-rank":
        return [{query: reciprocal_ranks(scores, settings.k) for query, scores in member.items()} for member in runs]
    return [normalised(member, settings.normalise) for member in runs]


def fuse(runs: list[Run], settings: Settings, weights: dict[str, float]) -> Run:
    """The runs of the systems, in their order, as one run."""
    return fused(comparable(runs, settings), fuser(settings, weights), settings.depth)


def read_weights(settings: Settings, files: list[Path]) -> dict[str, float]:
    """The weight of each system: tuned, given, or none for a method without. Raises UserError if one is missing."""
    weights = json.loads(files[0].read_text())["weights"] if files else settings.weights or {}
    if settings.method == "weighted-sum" and set(weights) != set(settings.systems):
        place = files[0] if files else "--settings: weights"
        raise UserError(f"{place}: expected a weight for each of {', '.join(settings.systems)}")
    return weights


def main() -> None:
    options = parser(__doc__, "runs*", "weights*", "run", "timing", settings=Settings).parse_args()
    settings = options.settings
    if len(options.runs) != len(settings.systems):
        raise UserError(f"--runs: expected {len(settings.systems)} files, one per system, not {len(options.runs)}")
    weights = read_weights(settings, options.weights)
    runs = [read_run(path) for path in options.runs]
    start = clock()
    ranked = fuse(runs, settings, weights)
    seconds = clock() - start
    if not ranked:
        raise UserError(f"{options.runs[0]}: not one of the runs has a query, so there is nothing to fuse")
    singles = single_seconds(
        lambda query: fuse([{query: member.get(query, {})} for member in runs], settings, weights), list(ranked)
    )
    write_run(options.run, ranked, settings.tag)
    write_timing(
        options.timing,
        method=settings.method,
        **({"weights": weights} if weights else {}),
        depth=settings.depth,
        queries=len(ranked),
        seconds=seconds,
        queries_per_second=len(ranked) / seconds,
        latency_ms=latency(singles),
        threads=1,
        precision="fp64",
    )


if __name__ == "__main__":
    run(main)
