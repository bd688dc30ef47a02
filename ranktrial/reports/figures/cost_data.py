"""Costs: the rows of their table, and of their figures each treatment's effect over one control, and the Pareto front.

Reads the timing.json of runs and of the steps before them; writes nothing. Columns of the table are of a system's own
step, except `end_to_end_…`: these are the sums with the runs that it takes, each once, and with all trainings behind
them; of memory the most that a step takes, apart from training. Figures show costs end to end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from ranktrial.common.timing import CALLS
from ranktrial.experiment.results_paths import fields_of

STATISTICS = ("mean", "p25", "p50", "p75")  # of the time of a query
MEMORY = {"peak_rss_mb": "peak_rss_bytes", "peak_gpu_mb": "peak_gpu_bytes"}
SIZES = {"index_mb": "index_bytes", "weights_mb": "weights_bytes"}  # columns where a model ranks: keys of timings
NOISE = 0.1  # a time that is measured again differs by so much, even on an idle machine
BESIDE = 0.5  # cores that other work kept busy, from which on a time is said to be measured beside it


class Cost(NamedTuple):
    """A cost: the mean over tasks and seeds, and the lowest and highest of these."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """A system: its effect over the control (0 for the control itself) with its interval, and its costs.

    `latency_ms` is the median time of one query, `training_seconds` that of all trainings (0 for a system without);
    None if it was not measured. So are the sizes of its index and of its weights.
    """

    label: str
    effect: float
    ci_low: float
    ci_high: float
    latency_ms: Cost | None
    training_seconds: Cost | None
    is_control: bool = False
    index_mb: Cost | None = None
    weights_mb: Cost | None = None


def cost(values: Sequence[float]) -> Cost | None:
    """The mean and the range of what was measured; None if nothing was."""
    return Cost(mean(values), min(values), max(values)) if values else None


def latency(rows: Sequence[dict]) -> Cost | None:
    """The median latency of a system's rows of the table of costs; of a single one its quartiles are the range."""
    found = cost([row["end_to_end_p50_ms"] for row in rows if row["end_to_end_p50_ms"] is not None])
    if found is None or len(rows) > 1:
        return found
    return Cost(found.mean, rows[0]["end_to_end_p25_ms"], rows[0]["end_to_end_p75_ms"])


def point_of(label: str, rows: list[dict], summary: dict | None) -> Point:
    """A system's point, from its rows of the table of costs and its summary effect (None for the control)."""
    ends = [summary.effect, summary.ci_low, summary.ci_high] if summary else [0.0] * 3
    named = ("end_to_end_training_seconds", "index_mb", "weights_mb")
    trained, index, weights = (cost([row[name] for row in rows if row.get(name) is not None]) for name in named)
    return Point(label, *ends, latency(rows), trained, summary is None, index, weights)


def beats(one: Point, other: Point, name: str) -> bool:
    """Whether a system costs no more than another and has no smaller effect, one of them beyond noise.

    Effects differ beyond noise if their intervals do not overlap, costs if their ranges are at least a tenth apart.
    """
    its, others = getattr(one, name), getattr(other, name)
    if its.mean > others.mean or one.effect < other.effect:
        return False
    return bool(its.high * (1 + NOISE) < others.low or one.ci_low > other.ci_high)


def pareto_front(points: Sequence[Point], name: str) -> set[int]:
    """The places of the points that no other beats in effect and in the cost `name`, which all of them have."""
    beaten = {place for (place, point), (_, other) in permutations(enumerate(points), 2) if beats(other, point, name)}
    return set(range(len(points))) - beaten


ALONE = "Searches and rankings ran one at a time, with no other job of the experiment running."


def side_by_side(other_cores: Sequence[float]) -> str:
    """The number of jobs that were timed while other work kept cores busy, as text; empty if there are none."""
    busy = [cores for cores in other_cores if cores >= BESIDE]
    if not busy:
        return ""
    jobs = f"{len(busy)} of the {len(other_cores)} jobs in which this could be measured"
    return f"{jobs} ran beside other work, which kept up to {max(busy):.1f} cores busy, and took longer than alone"


@dataclass(frozen=True)
class Beside:
    """The timing files of what a run needed; None if it needed none.

    `trainings` and `encodings` are those of all parts, each once; None: the own one is all. `untimed` names parts
    without a timing.
    """

    training: str | None = None
    encoding: str | None = None
    parts: list[str] = field(default_factory=list)
    trainings: list[str] | None = None
    encodings: list[str] | None = None
    untimed: list[str] = field(default_factory=list)


def read(path: str | Path | None) -> dict:
    """The contents of a timing file; empty if a system has no such file."""
    return json.loads(Path(path).read_text()) if path else {}


def counted(timing: dict) -> dict[str, float]:
    """The energy of a timed step in joules, by counter; empty if the machine has no readable counter."""
    return timing.get("energy_joules", {})


def of_a_query(timing: dict, statistic: str) -> float | None:
    """The milliseconds that a step takes for a query; of one that was timed as a whole, its mean. None: unknown."""
    if latency := timing.get("latency_ms"):
        found: float = latency[statistic]
        return found
    seconds, queries = timing.get("seconds"), timing.get("queries")
    return 1000 * seconds / queries if seconds is not None and queries else None


def end_to_end(ranked: dict, beside: Beside) -> dict[str, float | None]:
    """The sums over a run and all that it takes; None if a part has no timing.

    Medians and quartiles of the total, which are not measured, are approximated by the sums of those of the steps.
    """
    steps = [ranked, *map(read, beside.parts)]
    sums = {f"end_to_end_{name}_ms": added([of_a_query(step, name) for step in steps]) for name in STATISTICS}
    sums |= {
        "end_to_end_seconds": added([step.get("seconds") for step in steps]),
        "end_to_end_encoding_seconds": added(seconds(beside.encodings, beside.encoding)),
        "end_to_end_training_seconds": added(seconds(beside.trainings, beside.training)),
        "end_to_end_queries_per_second": _per_second(ranked, steps),
    }
    encodings = [read(path) for path in (beside.encodings if beside.encodings is not None else [beside.encoding])]
    for name, key in MEMORY.items():
        sums[f"end_to_end_{name}"] = max(step.get(key, 0) for step in [*steps, *encodings]) / 1e6
    for name, key in SIZES.items():
        own = ranked.get(key, read(beside.encoding).get(key))
        known = [size for size in (own, *(step.get(key) for step in steps[1:])) if size is not None]
        sums[f"end_to_end_{name}"] = sum(known) / 1e6 if known else None
    return dict.fromkeys(sums) if beside.untimed else sums


def _per_second(ranked: dict, steps: list[dict]) -> float | None:
    """Queries per second through all steps, one after the other; None if a step has no time."""
    total = added([step.get("seconds") for step in steps])
    return ranked["queries"] / total if total and ranked.get("queries") else None


def seconds(every: list[str] | None, own: str | None) -> list[float | None]:
    """The seconds in each of these timing files, or in the step's own file if there are no others."""
    return [read(path).get("seconds") for path in ([own] if every is None and own else every or [])]


def added(values: list[float | None]) -> float | None:
    """The sum; None if a value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def row(run_timing: Path, beside: Beside) -> dict:
    """One row: a run with the costs of its checkpoint and its encoding."""
    ranked, training, encoding = read(run_timing), read(beside.training), read(beside.encoding)
    latency = ranked.get("latency_ms", {})
    fields = fields_of("run_timing", run_timing)
    energy = {"": ranked, "encoding_": encoding, "training_": training}
    return {
        "task": fields["task"],
        "system": fields["system"],
        "seed": fields["seed"],
        "seconds": ranked.get("seconds"),
        "encoding_seconds": encoding.get("seconds"),
        "latency_mean_ms": latency.get("mean"),
        "latency_p50_ms": latency.get("p50"),
        "latency_p95_ms": latency.get("p95"),
        **end_to_end(ranked, beside),
        "queries_per_second": ranked.get("queries_per_second"),
        "pairs_per_second": ranked.get("pairs_per_second"),
        "encoded_documents_per_second": encoding.get("documents_per_second"),
        "training_seconds": training.get("seconds"),
        "peak_rss_mb": ranked["peak_rss_bytes"] / 1e6,
        "peak_gpu_mb": ranked["peak_gpu_bytes"] / 1e6,
        "device": ranked["device"],
        "threads": ranked["threads"],
        "other_cores": ranked.get("other_cores"),
        "precision": ranked.get("precision"),
        **{f"{work}{name}_joules": used for work, timing in energy.items() for name, used in counted(timing).items()},
        **{key: ranked[key] for key in ("truncate_dim",) if key in ranked},
        **{key: ranked[key] for key in CALLS if key in ranked},
        **{f"encoding_{key}": encoding[key] for key in CALLS if key in encoding},
        **{column: size / 1e6 for column, key in SIZES.items() if (size := ranked.get(key, encoding.get(key)))},
    }
