"""Runs and values that others made: checked and taken over as results of the experiment.

A run (TREC; plain, gzip or zstd) is of one seed; several files are folds, which are joined. A run without any query of
the task, or without any document of the corpus, is refused here, before it is scored: it belongs to other data.
Documents that the corpus lacks, and those that are left out, are counted, and a run without a judged document, or whose
scores rise with its ranks, is reported. A file of values has one per line, or is a table of one or several systems
(ranktrial/ir/scores.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError, alike
from ranktrial.common.tables import write_table
from ranktrial.ir.collection import NOTHING, Excluded, read_excluded, read_ids, without
from ranktrial.ir.outside_table import Wanted
from ranktrial.ir.runs import order_warning, queries_of
from ranktrial.ir.scores import read_values
from ranktrial.ir.trec import Run, none_judged, read_qrels, read_run, shown, top, write_run

LOOKED_AT = 100  # queries of a run of other data that are compared with those of the judgements


def import_run(
    source: list[Path], others: list[Path], qrels: Path, corpus: list[Path], queries: list[Path], run: Path,
    depth: Annotated[int, "documents per query that are kept"],
    tag: Annotated[str, "the run's name, its last column"],
) -> None:  # fmt: skip
    """Take over an external system's run file: checked, cut at the experiment's depth, in trec_eval's order.

    Reads the run or its folds, the files of other seeds, the task's qrels and, where the task has them, its corpus and
    queries; writes a run of the experiment, without the documents that are excluded for a query.
    """
    excluded = read_excluded(queries[0]) if queries else NOTHING
    for remark in take_over(source, qrels, run, depth, tag, next(iter(corpus), None), excluded, others):
        print(f"{' and '.join(map(str, source))}: {remark}", file=sys.stderr)


def import_scores(
    source: list[Path], metrics: Path,
    measure: Annotated[str, "what the values are called"],
    column: Annotated[
        str | None, "the column of the values or the system, by its name, where there are several"
    ] = None,
    task: Annotated[str | None, "the task, where the file has several"] = None,
    seed: Annotated[str | None, "the seed, where the file has several"] = None,
) -> None:  # fmt: skip
    """Write external values per sample of a task, of one file or of folds, as a metrics file.

    Its columns are query_id and the measure; it is paired with others by the ids or, without ids, line by line.
    """
    wanted = Wanted(column, task, measure, seed)
    scores: dict[str, float] = {}
    remarks = []
    for file in source:
        found = read_values(file, wanted)
        if len(source) > 1 and (twice := scores.keys() & found.scores.keys()):
            raise UserError(f"{file}: the sample {min(twice)} is in another fold too; each is in one of the files")
        scores |= found.scores
        remarks += [f"{file}: warning: {remark}" for remark in found.remarks]
    write_table(metrics, pd.DataFrame({"query_id": list(scores), measure: list(scores.values())}))
    for remark in remarks:
        print(remark, file=sys.stderr)


def take_over(
    source: Path | list[Path], qrels_file: Path, target: Path, depth: int, tag: str, corpus: Path | None = None,
    excluded: Excluded = NOTHING, others: Sequence[Path] = (),
) -> list[str]:  # fmt: skip
    """Check `source`, a file or those of folds, and write its first `depth` documents per query to `target`.

    Returns what there is to report. Raises UserError, with the line if there is one.
    """
    sources = source if isinstance(source, list) else [source]
    place = " and ".join(map(str, sources))
    ranked, qrels = joined(sources), read_qrels(qrels_file)
    check_seeds(ranked, sources[0], others)
    if not ranked:
        raise UserError(f"{place}: an empty run")
    if not ranked.keys() & qrels.keys():
        near = next(filter(None, (alike(query, qrels) for query in islice(ranked, LOOKED_AT))), None)
        example = f"{shown(next(iter(ranked)))} of the run, {shown(next(iter(qrels), ''))} of the qrels"
        problem = f"none of its {len(ranked)} queries is in the task's qrels ({qrels_file})"
        raise UserError(f"{place}: {problem}: {near or example}")
    try:
        unknown = not_in_corpus(ranked, corpus) if corpus else None
    except UserError as error:
        raise UserError(f"{place}: {error}") from None
    kept, left_out = without_excluded(ranked, excluded)
    written = {query: top(scores, depth) for query, scores in kept.items()}
    write_run(target, written, tag)
    order = next(filter(None, map(order_warning, sources)), None)
    return [*filter(None, [none_judged(written, qrels), order, unknown]), *left_out]


def not_in_corpus(ranked: Run, corpus: Path) -> str | None:
    """The warning about a run whose documents are not all in the corpus. Raises UserError if none is."""
    documents = {document for scores in ranked.values() for document in scores}
    unknown = documents.difference(read_ids(corpus))
    if len(unknown) == len(documents):
        example = min(unknown)
        raise UserError(f"none of its {len(documents)} documents, such as {example}, is in the corpus ({corpus})")
    return f"{len(unknown)} of its {len(documents)} documents are not in the corpus" if unknown else None


def without_excluded(ranked: Run, excluded: Excluded) -> tuple[Run, list[str]]:
    """The run without excluded documents, and what to report of them."""
    kept = {query: without(scores, excluded.get(query, ())) for query, scores in ranked.items()}
    count = sum(map(len, ranked.values())) - sum(map(len, kept.values()))
    return kept, [f"{count} documents that are excluded for their query are left out"] if count else []


def joined(sources: list[Path]) -> Run:
    """The run in the files, which are folds if there are several. Raises UserError for a query in two of them."""
    run: Run = {}
    for source in sources:
        of_fold = read_run(source)
        if twice := run.keys() & of_fold.keys():
            raise UserError(f"{source}: the query {min(twice)} is in another fold too; each is in one of the files")
        run |= of_fold
    return run


def check_seeds(ranked: Run, source: Path, others: Iterable[Path]) -> None:
    """Raise UserError for files of other seeds that have no query in common with the first, as folds have none."""
    for other in others:
        if ranked and not any(query in ranked for query in queries_of(other)):
            problem = "no query in common, as folds of cross-validation have, and not seeds: join them by folds: true"
            raise UserError(f"{source} and {other} have {problem}")


if __name__ == "__main__":
    job(import_run, import_scores)
