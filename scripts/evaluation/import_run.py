"""Take over an external system's run file: checked, cut at the experiment's depth, in trec_eval's order.

Reads a TREC run (plain, gzip or zstd), the task's qrels and, where the task has them, its corpus and queries; writes a
run of the experiment, without the documents that are excluded for a query. A run without any query of the task, or
without any document of the corpus, is refused here, before it is scored: it belongs to other data. Documents that the
corpus lacks, and those that are left out, are counted, and a run without a judged document, or whose scores rise
with its ranks, is reported.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from scripts.common.characters import alike
from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.ir.collection import read_excluded, read_ids
from scripts.ir.exclusion import NOTHING, Excluded, without
from scripts.ir.run_order import order_warning
from scripts.ir.trec import Run, none_judged, read_qrels, read_run, shown, top, write_run

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


def import_run(
    source: Path, qrels_file: Path, target: Path, depth: int, tag: str, corpus: Path | None = None,
    excluded: Excluded = NOTHING,
) -> list[str]:  # fmt: skip
    """Check `source` and write its first `depth` documents per query to `target`; returns what there is to report.

    Raises UserError, with the line if there is one.
    """
    ranked, qrels = read_run(source), read_qrels(qrels_file)
    if not ranked:
        raise UserError(f"{source}: an empty run")
    if not ranked.keys() & qrels.keys():
        near = next(filter(None, (alike(query, qrels) for query in islice(ranked, LOOKED_AT))), None)
        example = f"{shown(next(iter(ranked)))} of the run, {shown(next(iter(qrels), ''))} of the qrels"
        problem = f"none of its {len(ranked)} queries is in the task's qrels ({qrels_file})"
        raise UserError(f"{source}: {problem}: {near or example}")
    try:
        unknown = not_in_corpus(ranked, corpus) if corpus else None
    except UserError as error:
        raise UserError(f"{source}: {error}") from None
    kept, left_out = without_excluded(ranked, excluded)
    written = {query: top(scores, depth) for query, scores in kept.items()}
    write_run(target, written, tag)
    return [*filter(None, [none_judged(written, qrels), order_warning(source), unknown]), *left_out]


def main() -> None:
    arguments = parser(__doc__, "source", "qrels", "corpus*", "queries*", "run", settings=Settings).parse_args()
    settings, corpus = arguments.settings, next(iter(arguments.corpus), None)
    excluded = read_excluded(arguments.queries[0]) if arguments.queries else NOTHING
    files = arguments.source, arguments.qrels, arguments.run
    for remark in import_run(*files, settings.depth, settings.tag, corpus, excluded):
        print(f"{arguments.source}: {remark}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
