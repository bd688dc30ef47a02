"""Shards of a job's work: the part of each of several jobs, and the timing of the whole from those of its parts.

The work is divided at units that one job also forms (chunks of documents or pairs, blocks of an index, queries), so
that the parts together equal its output, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ranktrial.common.timing import CALLS, latency
from ranktrial.models.kept_answers import total

Units = TypeVar("Units", bound=Sequence)

LARGEST = ("peak_rss_bytes", "peak_gpu_bytes", "other_cores")
OF_ONE = ("device", "processor")  # of each, joined by "and"


def part(units: Units, shard: list[int] | None) -> Units:
    """The units of a shard (its number from 0, number of shards), in about equal numbers; all without a shard."""
    if shard is None:
        return units
    place, of = shard
    return units[place * len(units) // of : (place + 1) * len(units) // of]  # type: ignore[return-value]


def rows_of_shard(count: int, size: int, shard: list[int] | None) -> tuple[int, int]:
    """The first row of a shard and the end of its last: whole chunks of `size`, in about equal numbers.

    Without a shard, these are all rows.
    """
    its = part(range(-(-count // size)), shard)
    return min(its.start * size, count), min(its.stop * size, count)


def latencies(seconds: list[float], shard: list[int] | None) -> dict[str, Any]:
    """The latencies in a timing, from the seconds of single queries; a shard's timing has these seconds themselves."""
    return {"latency_ms": latency(seconds)} if shard is None else {"single_seconds": seconds}


def joined(timings: list[dict], added: Sequence[str]) -> dict[str, Any]:
    """The timing of the whole: sums of seconds, joules and `added` keys; maximum of memory and other work."""
    whole = dict(timings[0])
    whole |= {key: sum(timing[key] for timing in timings) for key in ("seconds", *added)}
    whole |= {key: total([timing.get(key) for timing in timings]) for key in CALLS if key in whole}
    by_key = {key: [timing[key] for timing in timings if key in timing] for key in LARGEST}
    whole |= {key: max(values) for key, values in by_key.items() if values}
    whole |= {key: " and ".join(sorted({timing[key] for timing in timings})) for key in OF_ONE}
    counted = [timing.get("energy_joules", {}) for timing in timings]
    known = set.intersection(*map(set, counted))
    energy = {name: round(sum(joules[name] for joules in counted), 3) for name in sorted(known)}
    whole.pop("energy_joules", None)
    return whole | {"shards": len(timings)} | ({"energy_joules": energy} if energy else {})
