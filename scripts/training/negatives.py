"""Choose training examples with negatives from BM25 or random negatives: positives and negatives of training queries.

Reads the corpus, the training queries and qrels, the qrels of dev and test, and (if labels or negatives come from BM25)
a BM25 run of the training queries. Writes a TSV with one row per query, positive and negative: query_id, positive_id,
negative_id, source (bm25 | random), bm25_rank (empty if the document is not in the run). With a draw for each epoch,
there is an additional column epoch (from 1). If positives must be among the candidates, a query without such a positive
has one row with its id and the source `none`, so that it is counted. (mine.py takes negatives from systems, and filters
them.)

With human labels, the positives are the relevant documents, and no document judged relevant is a negative. With labels
from BM25, its top document is the positive, and nothing is read from the training qrels. With permuted labels, each
query has the judgements of another. All positives of a query have the same negatives. A document relevant in dev or
test is not used as a negative unless exclude_evaluation is false; a document excluded for a query is never its
negative.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text
from ranktrial.training.labelled import (
    Collection,
    DrawnSettings,
    Labelled,
    drawn,
    labelled,
    lines_of,
    of_query,
    read_collection,
)

COLUMNS = ("source", "bm25_rank")


@dataclass(frozen=True, kw_only=True)
class Settings(DrawnSettings):
    from_: Annotated[Literal["bm25", "random"], "bm25: documents that it ranks, not relevant; random: any documents"]


class Example(NamedTuple):
    """One row of the file; `rank` is BM25's, from 1, or None. `epoch` is None if all epochs have the same rows."""

    query: str
    positive: str
    negative: str
    source: str
    rank: int | None
    epoch: int | None = None


def best_ranked(ranked: list[str], allowed: set[str], unfit: set[str], count: int) -> list[str]:
    """The first `count` documents of a ranking that are allowed and not unfit; fewer if there are not enough."""
    return [document for document in ranked if document in allowed and document not in unfit][:count]


def examples(
    positives: dict[str, list[str]],
    unfit: dict[str, set[str]],
    rankings: dict[str, list[str]],
    pool: list[str],
    settings: Settings,
    epoch: int | None = None,
) -> Iterator[Example]:
    """Yield all rows (of one epoch) in the order of the queries; a query's negatives are in the order of selection.

    `positives`, `unfit` (documents that must not be negatives) and `rankings` (BM25's, best first) are by query id;
    `pool` contains all documents that may be negatives.
    """
    allowed = set(pool)
    for query, relevant_documents in positives.items():
        ranked, avoided = rankings.get(query, []), unfit[query]
        candidates = ranked[settings.range_min : settings.range_max]
        key = of_query(settings.key, query, epoch)
        if settings.from_ == "random":
            chosen = drawn(pool, avoided, settings.per_query, key)
        elif settings.sampling_strategy == "random":
            fit = [document for document in candidates if document in allowed and document not in avoided]
            chosen = drawn(fit, set(), settings.per_query, key)
        else:
            chosen = best_ranked(candidates, allowed, avoided, settings.per_query)
        if settings.positives != "all":
            relevant_documents = drawn(relevant_documents, set(), settings.positives, f"{key}\tpositives")
        ranks = {document: rank for rank, document in enumerate(ranked, 1)}
        for positive in relevant_documents:
            for negative in chosen:
                yield Example(query, positive, negative, settings.from_, ranks.get(negative), epoch)


def select(read: Collection, settings: Settings) -> tuple[list[Example], Labelled, list[str]]:
    """Choose the examples from a collection.

    Returns the rows, the queries and positives from which they were chosen, and the lines to report.

    Raises UserError if no training query has a positive or a negative, or if there are too few queries.
    """
    found = labelled(read, settings)
    positives, pool = found.positives, read.pool
    epochs = [None] if settings.epochs is None else range(1, settings.epochs + 1)
    rows = [row for epoch in epochs for row in examples(positives, found.unfit, read.rankings, pool, settings, epoch)]
    if not rows:
        raise UserError(f"none of the {len(positives)} training queries has a document left that could be a negative")
    of_one_epoch = rows[: len(rows) // len(epochs)]
    negatives_of = Counter(query for query, _ in {(row.query, row.negative) for row in of_one_epoch})
    few = sum(1 for query in positives if negatives_of[query] < settings.per_query)
    count = sum(map(len, positives.values()))
    report = [f"{len(positives)} of {len(read.queries)} training queries, {count} positives, "
            f"{len(rows)} rows of {settings.from_} negatives", *found.report()]  # fmt: skip
    if few:
        report.append(f"{few} queries have fewer than {settings.per_query} negatives: there are no more candidates")
    return rows, found, report


def negatives(
    corpus: Path, queries: Path, qrels: Path, evaluation_qrels: list[Path], first_stage: list[Path],
    negatives: Path, settings: Settings,
) -> None:  # fmt: skip
    """Choose training examples with negatives from BM25 or random negatives."""
    from_bm25 = "bm25" in (settings.labels, settings.from_) or settings.among_candidates
    if from_bm25 and not first_stage:
        raise UserError("labels or negatives from BM25 need --first-stage, a BM25 run of the training queries")
    read = read_collection(corpus, queries, qrels, evaluation_qrels, first_stage, settings)
    try:
        rows, found, report = select(read, settings)
    except UserError as error:
        raise UserError(f"{queries}: {error}") from None
    lines = lines_of(COLUMNS, rows, found.left_out, found.unfit, settings.epochs is not None)
    with atomic_text(negatives) as file:
        file.writelines(line + "\n" for line in lines)
    print("\n".join(report), file=sys.stderr)


if __name__ == "__main__":
    job(negatives)
