"""Take over an external system's run file: checked, cut at the experiment's depth, in trec_eval's order.

Reads a TREC run (plain, gzip or zstd) of one seed, or the runs of folds, which are joined; the task's qrels and, where
the task has them, its corpus and queries; writes a run of the experiment, without the documents that are excluded for a
query. A run without any query of the task, or without any document of the corpus, is refused here, before it is scored:
it belongs to other data. Documents that the corpus lacks, and those that are left out, are counted, and a run without a
judged document, or whose scores rise with its ranks, is reported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from ranktrial.common.characters import alike
from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.ir.collection import read_excluded, read_ids
from ranktrial.ir.exclusion import NOTHING, Excluded, without
from ranktrial.ir.run_order import order_warning, queries_of
from ranktrial.ir.trec import Run, none_judged, read_qrels, read_run, shown, top, write_run

LOOKED_AT = 100  # queries of a run of other data that are compared with those of the judgements


@dataclass(frozen=True)
class Settings:
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]


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


def import_run(
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


def main() -> None:
    paths = ("source*", "others*", "qrels", "corpus*", "queries*", "run")
    arguments = parser(__doc__, *paths, settings=Settings).parse_args()
    settings, corpus = arguments.settings, next(iter(arguments.corpus), None)
    excluded = read_excluded(arguments.queries[0]) if arguments.queries else NOTHING
    files = arguments.source, arguments.qrels, arguments.run
    for remark in import_run(*files, settings.depth, settings.tag, corpus, excluded, arguments.others):
        print(f"{' and '.join(map(str, arguments.source))}: {remark}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
