"""Judgements by which the runs of another dataset are also scored, such as quality in addition to relevance.

The runs have the queries of that dataset. A query with only further judgements would score 0 for every system, although
none ranked it: it is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import read_queries
from ranktrial.ir.trec import Qrels


def of_ranked_queries(qrels: dict[str, Qrels], files: Sequence[Path]) -> tuple[dict[str, Qrels], list[str]]:
    """The judgements of the queries in that dataset's `files` (one per split), and a text on what was left out.

    Without files, nothing is left out. Raises UserError for a split in which no query has runs.
    """
    if not files:
        return qrels, []
    ranked = {path.stem: read_queries(path) for path in files}
    kept: dict[str, Qrels] = {}
    left_out = []
    for split, judged in qrels.items():
        kept[split] = {query: grades for query, grades in judged.items() if query in ranked.get(split, {})}
        if not kept[split]:
            problem = f"none of {len(judged)} judged queries is among those of {split} of the dataset in runs_of"
            raise UserError(f"{split}: {problem}, such as {next(iter(judged))}")
        if missing := len(judged) - len(kept[split]):
            left_out.append(f"{split}: {missing} judged queries have no runs (runs_of) and are left out")
    return kept, left_out
