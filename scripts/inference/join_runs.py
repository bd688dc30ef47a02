"""Join the runs of a ranking's shards (see shards.py) into the same run that one job would write.

Reads the runs with their timings, and the task's queries, whose order is the run's. Writes the run and a timing. Shards
of documents were searched for the same queries: the best documents of all of them are kept, and the time of a query is
the sum of its times in all shards. Shards of queries have their own results and timed queries.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.timing import write_timing
from ranktrial.inference.shards import joined, latencies
from ranktrial.ir.collection import passages_of
from ranktrial.ir.trec import Run, read_run, write_run

COUNTED = (
    "queries",
    "pairs",
    "passage_pairs",
)  # of shards of queries; the last query of one may be the first of the next


def join(shards: Sequence[Path], depth: int) -> Run:
    """The best documents of each query over all shards. Raises UserError if two have the same document of a query."""
    whole: Run = {}
    for path in shards:
        for query, scores in read_run(path).items():
            found = whole.setdefault(query, {})
            if both := found.keys() & scores.keys():
                raise UserError(f"{path}: document {min(both)} of query {query} is in another shard too; rank again")
            found |= scores
    return {query: _best(scores, depth) for query, scores in whole.items()}


def _best(scores: dict[str, float], depth: int) -> dict[str, float]:
    """The first documents in a search's order: by full scores, of which trec_eval reads 32 bits."""
    order = sorted(scores, key=lambda document: (scores[document], document.encode()), reverse=True)
    return {document: scores[document] for document in order[:depth]}


def joined_timing(timings: list[dict], shards_of: str, queries: int) -> dict[str, Any]:
    """The timing of the whole; `queries` is the number in the joined run."""
    singles = [timing.pop("single_seconds") for timing in timings]
    if shards_of == "documents":
        whole = joined(timings, added=())
        seconds = list(map(sum, zip(*singles, strict=False)))  # of the queries that every shard timed
    else:
        whole = joined(timings, added=[key for key in COUNTED if key in timings[0]]) | {"queries": queries}
        whole |= joined_recall(timings)
        seconds = [second for of_shard in singles for second in of_shard]
    del whole["shard"]
    speeds = {f"{what}_per_second": whole[what] / whole["seconds"] for what in ("queries", "pairs") if what in whole}
    return whole | speeds | latencies(seconds, None)


def joined_recall(timings: list[dict]) -> dict[str, Any]:
    """The comparison of approximate with exact search, over the queries compared in any shard."""
    compared = [timing for timing in timings if "recall" in timing]
    count = sum(one["recall_queries"] for one in compared)
    if not count:
        return {}
    found = sum(one["recall_queries"] * one["recall"] for one in compared) / count
    speeds = {
        key: count / sum(one["recall_queries"] / one[key] for one in compared)
        for key in ("search_queries_per_second", "exact_search_queries_per_second")
    }
    return {"recall": found, "recall_queries": count, **speeds}


def join_runs(
    shards: list[Path], timings: list[Path], queries: Path, run: Path, timing: Path,
    shards_of: Annotated[Literal["documents", "queries"], "what each shard has a part of"],
    depth: Annotated[int, "documents per query that are kept"],
    tag: Annotated[str, "name of the run, its last column"],
) -> None:  # fmt: skip
    """Join the runs of a ranking's shards (see shards.py) into the same run that one job would write."""
    whole = join(shards, depth)
    write_run(run, whole, tag, passages_of(queries))
    of_shards = [json.loads(path.read_text()) for path in timings]
    write_timing(timing, **joined_timing(of_shards, shards_of, len(whole)))


if __name__ == "__main__":
    job(join_runs)
