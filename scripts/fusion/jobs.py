"""Fusion: the runs of several systems on a task as one, weights of a sum tuned on dev, and runs of folds joined.

Reads TREC runs, in the order of the settings' `systems` or of the folds. Writes a TREC run of the `depth` best
documents per query and its timing: of joining alone, not of the joined runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal, NamedTuple

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.progress import track
from ranktrial.common.timing import clock, latency, single_seconds, write_timing
from ranktrial.ir import choosing
from ranktrial.ir.fusion import (
    Scores,
    comb_mnz,
    comb_sum,
    fused,
    normalised,
    reciprocal_ranks,
    weighted_sum,
    weightings,
)
from ranktrial.ir.query_samples import fold_of
from ranktrial.ir.trec import Qrels, Run, read_qrels, read_run, top, write_run

Normalise = Literal["min-max", "z-score", "rank"]


@dataclass(frozen=True)
class Fusion:
    """The settings of `fuse`."""

    systems: Annotated[list[str], "the systems whose runs are fused"]
    method: Annotated[Literal["reciprocal-rank", "weighted-sum", "CombSUM", "CombMNZ"], "how they are fused"]
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]
    k: Annotated[float, "reciprocal-rank: a document at rank r gets 1 / (k + r)"] = 60
    normalise: Annotated[Normalise, "the sums: how scores are made comparable"] = "min-max"
    weights: Annotated[dict[str, float] | None, "weighted-sum: of each system; null where a file has them"] = None


class Trial(NamedTuple):
    """The weights of the systems, in their order, and the mean of the measure that they reached."""

    weights: tuple[float, ...]
    value: float


def tune_fusion(
    runs: list[Path], qrels: Path, weights: Path, grid: Path,
    systems: Annotated[list[str], "the systems whose runs are fused"],
    normalise: Annotated[Normalise, "how scores are made comparable"],
    step: Annotated[float, "the weights tried are multiples of it"],
    measure: Annotated[str, "the measure whose mean decides"],
    depth: Annotated[int, "documents per query that the measure looks at"],
) -> None:  # fmt: skip
    """Choose the weights of a weighted sum of runs on a dev split.

    All weights that are multiples of `step` and sum to 1 are tried. Writes a table (TSV: the weight of each system, the
    mean measure) and the chosen weights (JSON: weights, measure, value, queries). The best mean wins; of equal ones the
    first in the table.
    """
    check_one_run_each(runs, systems)
    judgements = choosing.judged(read_qrels(qrels), choosing.NO_DEV.format(qrels, "weights"))
    trials = try_all([read_run(path) for path in runs], judgements, normalise, step, measure, depth)
    choosing.write_rows(grid, [*systems, measure], ([*trial.weights, trial.value] for trial in trials))
    chosen = choosing.best(trials, lambda trial: trial.value)
    by_system = dict(zip(systems, chosen.weights, strict=True))
    record = {"weights": by_system, "measure": measure, "value": chosen.value, "queries": len(judgements)}
    write_json(weights, record, indent=2)
    named = ", ".join(f"{name} {weight:g}" for name, weight in by_system.items())
    message = f"{named}: {measure} {chosen.value:.4f} on {len(judgements)} dev queries"
    choosing.report(message, weights.name, len(judgements))


def fuse(runs: list[Path], weights: list[Path], run: Path, timing: Path, settings: Fusion) -> None:
    """Fuse the runs of several systems on a task into one, with the weights that tuning chose, if any."""
    check_one_run_each(runs, settings.systems)
    weight_of = read_weights(settings, weights)
    members = [read_run(path) for path in runs]
    start = clock()
    ranked = as_one(members, settings, weight_of)
    seconds = clock() - start
    if not ranked:
        raise UserError(f"{runs[0]}: not one of the runs has a query, so there is nothing to fuse")
    singles = single_seconds(
        lambda query: as_one([{query: member.get(query, {})} for member in members], settings, weight_of), list(ranked)
    )
    write_run(run, ranked, settings.tag)
    write_timing(
        timing, method=settings.method, **({"weights": weight_of} if weight_of else {}), depth=settings.depth,
        queries=len(ranked), seconds=seconds, queries_per_second=len(ranked) / seconds, latency_ms=latency(singles),
        threads=1, precision="fp64",
    )  # fmt: skip


def join_folds(
    runs: list[Path], run: Path, timing: Path,
    seed: Annotated[int, "of the folds"],
    are_training_queries: Annotated[bool, "whether the re-rankers were trained on queries of this task"],
    depth: Annotated[int, "documents per query that are kept"],
    tag: Annotated[str, "the run's name, its last column"],
) -> None:  # fmt: skip
    """Join the runs of re-rankers that were each trained without one fold of the training queries.

    The documents of a training query have the scores of the re-ranker that was trained without its fold; those of other
    queries have the mean of all re-rankers' scores.
    """
    members = [read_run(path) for path in runs]
    if len(members) < 2:
        raise UserError("--runs: expected one run of each fold, two at least")
    check_same(runs, members)

    def joined(queries: list[str]) -> Run:
        """The best documents of the queries, in trec_eval's order."""
        of_fold = seed if are_training_queries else None
        return {query: top(scores_of(query, members, of_fold), depth) for query in queries}

    start = clock()
    ranked = joined(list(members[0]))
    seconds = clock() - start
    singles = single_seconds(lambda query: joined([query]), list(ranked))
    write_run(run, ranked, tag)
    write_timing(
        timing, folds=len(members), depth=depth, queries=len(ranked), seconds=seconds,
        queries_per_second=len(ranked) / seconds, latency_ms=latency(singles), threads=1, precision="fp64",
    )  # fmt: skip


def check_one_run_each(runs: list[Path], systems: list[str]) -> None:
    """Raise UserError unless there is one run for each system."""
    if len(runs) != len(systems):
        raise UserError(f"--runs: expected {len(systems)} files, one per system, not {len(runs)}")


def try_all(runs: list[Run], qrels: Qrels, normalise: str, step: float, measure: str, depth: int) -> list[Trial]:
    """The mean measure over the queries of the qrels for all weights, in ascending order of the weights."""
    members = [normalised({query: member[query] for query in qrels if query in member}, normalise) for member in runs]
    tried = list(weightings(round(1 / step), len(runs)))
    trials = []
    for weights in track(tried, "tuned", len(tried), "weighting"):
        ranked = fused(members, lambda lists, given=list(weights): weighted_sum(lists, given), depth)
        trials.append(Trial(weights, choosing.mean(ranked, qrels, measure)))
    return trials


def read_weights(settings: Fusion, files: list[Path]) -> dict[str, float]:
    """The weight of each system: tuned, given, or none for a method without. Raises UserError if one is missing."""
    weights = json.loads(files[0].read_text())["weights"] if files else settings.weights or {}
    if settings.method == "weighted-sum" and set(weights) != set(settings.systems):
        place = files[0] if files else "--settings: weights"
        raise UserError(f"{place}: expected a weight for each of {', '.join(settings.systems)}")
    return weights


def as_one(runs: list[Run], settings: Fusion, weights: dict[str, float]) -> Run:
    """The runs of the systems, in their order, as one run."""
    return fused(comparable(runs, settings), fuser(settings, weights), settings.depth)


def comparable(runs: list[Run], settings: Fusion) -> list[Run]:
    """The runs with the scores that are summed."""
    if settings.method == "reciprocal-rank":
        return [{query: reciprocal_ranks(scores, settings.k) for query, scores in member.items()} for member in runs]
    return [normalised(member, settings.normalise) for member in runs]


def fuser(settings: Fusion, weights: dict[str, float]) -> Callable[[list[Scores]], Scores]:
    """Joins a query's lists of (normalised) scores, one per system, into one list."""
    if settings.method == "weighted-sum":
        in_order = [weights[name] for name in settings.systems]
        return lambda lists: weighted_sum(lists, in_order)
    return comb_mnz if settings.method == "CombMNZ" else comb_sum


def check_same(paths: list[Path], runs: list[Run]) -> None:
    """Raise UserError unless all runs hold the same documents of the same queries."""
    held = [{query: scores.keys() for query, scores in one.items()} for one in runs]
    for path, others in zip(paths[1:], held[1:], strict=True):
        if others != held[0]:
            raise UserError(
                f"{path}: contains other queries or documents than {paths[0]}; expected runs of the same ones"
            )


def scores_of(query: str, runs: list[Run], seed: int | None) -> dict[str, float]:
    """The scores of one query's documents: of the fold that it belongs to by the seed, or the means of all."""
    if seed is not None:
        return runs[fold_of(query, len(runs), seed) - 1][query]
    return {document: fmean(one[query][document] for one in runs) for document in runs[0][query]}


if __name__ == "__main__":
    job(tune_fusion, fuse, join_folds)
