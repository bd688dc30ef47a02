"""Whether the scores of a user's run rise with its ranks, which means that lower scores are better there.

trec_eval, and so all measures here, order documents by score and ignore the rank. Reads a run as far as needed: a
usual one to the end of its first query with several documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

from ranktrial.common.files import lines
from ranktrial.common.numerals import finite
from ranktrial.ir.trec import columns, run_columns


def rises_with_rank(path: Path) -> bool:
    """Whether, in each query with several ranks and scores, more scores rise than fall from rank to rank."""
    found = False
    for _, of_query in groupby(_places(path), key=lambda place: place[0]):
        ordered = [score for _, _, score in sorted(of_query, key=lambda place: place[1])]
        steps = [after - before for before, after in pairwise(ordered) if after != before]
        if steps and 2 * sum(step > 0 for step in steps) <= len(steps):
            return False
        found = found or len(steps) > 1
    return found


def order_warning(path: Path) -> str | None:
    """The warning about such a run; None for a usual one."""
    if not rises_with_rank(path):
        return None
    return (
        "warning: its scores rise with its ranks in every query, as distances do, and documents are ordered by score, "
        "as in trec_eval: where lower is better, negate the scores or give the columns qid docid rank alone"
    )


def queries_of(path: Path) -> Iterator[str]:
    """The query of each line of a run."""
    return (line.split(maxsplit=1)[0] for _, line in lines(path))


def _places(path: Path) -> Iterator[tuple[str, float, float]]:
    """Query, rank and score of each line; nothing for a run without scores, or whose ranks are all the same."""
    for number, line in lines(path):
        fields = columns(line, path, number)
        query, _, rank, *score = run_columns(fields)
        if not score:
            return
        yield query, finite(rank) or 0.0, finite(score[0]) or 0.0
