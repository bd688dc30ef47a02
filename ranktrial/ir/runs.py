"""Signs of mistakes in runs: reversed scores, rankings shorter than measures count, and zeros everywhere.

Whether the scores of a user's run rise with its ranks, which means that lower scores are better there.

trec_eval, and so all measures here, order documents by score and ignore the rank. Reads a run as far as needed: a
usual one to the end of its first query with several documents.

Whether rankings are shorter than measures count.

Runs that score 0 by every measure on every query, mostly because none of their documents is judged.

Reads only the table of means. In such a case, run and judgements name documents differently, which nothing else would
show: a document without a judgement counts as not relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.wording import finite
from ranktrial.ir.means import MeansRow, read_means
from ranktrial.ir.measure_names import cutoff, parse
from ranktrial.ir.trec import columns, run_columns


def rises_with_rank(run: Path | Iterable[tuple[str, float, float]]) -> bool:
    """Whether, in each query with several ranks and scores, more scores rise than fall from rank to rank.

    The run is a file, or the query, rank and score of each of its rows.
    """
    found = False
    for _, of_query in groupby(_places(run) if isinstance(run, Path) else run, key=lambda place: place[0]):
        ordered = [score for _, _, score in sorted(of_query, key=lambda place: place[1])]
        steps = [after - before for before, after in pairwise(ordered) if after != before]
        if steps and 2 * sum(step > 0 for step in steps) <= len(steps):
            return False
        found = found or len(steps) > 1
    return found


def order_warning(run: Path | Iterable[tuple[str, float, float]]) -> str | None:
    """The warning about such a run; None for a usual one."""
    if not rises_with_rank(run):
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


def too_short(depth: int, measures: Iterable[str]) -> str:
    """How rankings of at most `depth` documents fall short of the measures, as text; empty if they do not.

    Judged@k counts the documents that are there.
    """
    beyond = [name for name in measures if (cutoff(parse(name)) or 0) > depth and not name.startswith("Judged")]
    few = f"has at most {depth} document{'' if depth == 1 else 's'} per query"
    return f"{few}, fewer than {' or '.join(beyond)} counts" if beyond else ""


NOT_SCORES = ("NumQ", "NumRel", "NumRet")  # measures that count documents, whether judged or not


class ZeroRun(NamedTuple):
    """A system on a task, by their names in paths."""

    task: str
    system: str

    def caution(self, task: str, system: str) -> str:
        """The warning, with the labels of both."""
        return (
            f"{system} scores 0 by every measure on every query of {task}: most likely none of its documents is "
            "judged, so compare the document ids of run and judgements"
        )


def zero_runs(means: Iterable[MeansRow]) -> list[ZeroRun]:
    """The rows of the table of means in which every measure is 0."""
    found = []
    for row in means:
        scores = [mean.value for name, mean in row.measures.items() if not name.startswith(NOT_SCORES)]
        if scores and not any(scores):
            found.append(ZeroRun(row.task, row.system))
    return found


def known_zero_runs(table: Path) -> list[str]:
    """The warnings about such runs when an experiment is run again, from the means of the previous run."""
    with suppress(OSError, UserError, KeyError):  # without them, or if they are damaged, they are computed anew
        return [one.caution(one.task, one.system) for one in zero_runs(read_means(table))]
    return []
