"""Choose what a model learns from: positives and negatives of the training queries.

Reads the corpus, the training queries and qrels, the qrels of dev and test, and (where labels or negatives come from
BM25) a BM25 run of the training queries. Writes a TSV, a row per query, positive and negative: query_id, positive_id,
negative_id, source (bm25 | random), bm25_rank (empty where the run lacks the document).

With human labels the positives are the relevant documents, and no document judged relevant is a negative. With labels
from BM25 its best document is the positive and nothing is read from the training qrels. All positives of a query have
the same negatives. A document relevant in dev or test is no negative unless exclude_evaluation is false.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_text
from scripts.ir.collection import read_corpus, read_queries
from scripts.ir.trec import Qrels, ranking, read_qrels, read_run, relevant

HEADER = ("query_id", "positive_id", "negative_id", "source", "bm25_rank")


@dataclass(frozen=True)
class Settings:
    labels: Annotated[Literal["human", "bm25"], "human: the qrels say what is relevant; bm25: BM25's best document"]
    from_: Annotated[Literal["bm25", "random"], "bm25: its best documents that are not relevant; random: any documents"]
    per_query: Annotated[int, "negatives a query, where there are so many"]
    queries: Annotated[int | Literal["all"], "training queries that are kept: all, or a sample of so many"]
    exclude_evaluation: Annotated[bool, "no document that is relevant in dev or test is a negative"]
    seed: Annotated[int, "of what is drawn: queries and random negatives"]


class Example(NamedTuple):
    """One row of the file; `rank` is BM25's, from 1, or None."""

    query: str
    positive: str
    negative: str
    source: str
    rank: int | None


def sample(names: list[str], count: int, seed: int) -> list[str]:
    """`count` of the names (all if there are fewer), in their own order.

    Which ones depends on the seed alone, not on the order; a smaller sample is part of a larger one.
    """
    drawn = sorted(names, key=lambda name: hashlib.sha256(f"{seed}\t{name}".encode()).digest())[:count]
    chosen = set(drawn)
    return [name for name in names if name in chosen]


def positives_of(queries: list[str], labels: str, qrels: Qrels, rankings: dict[str, list[str]]) -> dict[str, list[str]]:
    """The positives of each query that has any: by id from the qrels (`human`), or BM25's best document (`bm25`)."""
    if labels == "bm25":
        return {query: rankings[query][:1] for query in queries if rankings.get(query)}
    judged = {query: sorted(relevant(qrels, query)) for query in queries}
    return {query: documents for query, documents in judged.items() if documents}


def best_ranked(ranked: list[str], allowed: set[str], unfit: set[str], count: int) -> list[str]:
    """The first `count` documents of a ranking that are allowed and not unfit; fewer where there are no more."""
    return [document for document in ranked if document in allowed and document not in unfit][:count]


def drawn(pool: list[str], unfit: set[str], count: int, seed: str) -> list[str]:
    """`count` documents drawn evenly from the pool without those unfit; fewer where there are no more."""
    # So many are drawn that enough remain, whatever is unfit among them.
    candidates = random.Random(seed).sample(pool, min(len(pool), count + len(unfit)))
    return [document for document in candidates if document not in unfit][:count]


def examples(
    positives: dict[str, list[str]],
    unfit: dict[str, set[str]],
    rankings: dict[str, list[str]],
    pool: list[str],
    settings: Settings,
) -> Iterator[Example]:
    """All rows, in the order of the queries; a query's negatives as they were chosen (BM25's best first).

    `positives`, `unfit` (the documents that are no negatives) and `rankings` (BM25's, best first) are by query id;
    `pool` holds all documents that can be negatives at all.
    """
    allowed = set(pool)
    for query, relevant_documents in positives.items():
        ranked, avoided = rankings.get(query, []), unfit[query]
        if settings.from_ == "bm25":
            chosen = best_ranked(ranked, allowed, avoided, settings.per_query)
        else:
            chosen = drawn(pool, avoided, settings.per_query, f"{settings.seed}\t{query}")
        ranks = {document: rank for rank, document in enumerate(ranked, 1)}
        for positive in relevant_documents:
            for negative in chosen:
                yield Example(query, positive, negative, settings.from_, ranks.get(negative))


def select(
    queries: list[str],
    corpus: list[str],
    qrels: Qrels,
    gold: set[str],
    rankings: dict[str, list[str]],
    settings: Settings,
) -> tuple[list[Example], list[str]]:
    """Choose the examples from what was read. `gold` are the documents that may be no negative of any query.

    Returns the rows and the lines to report. Raises UserError where no training query has a positive, or no negative.
    """
    known = set(corpus)
    labelled = positives_of(queries, settings.labels, qrels, rankings)
    present = {query: [d for d in documents if d in known] for query, documents in labelled.items()}
    missing = sum(map(len, labelled.values())) - sum(map(len, present.values()))
    usable = [query for query, documents in present.items() if documents]
    if not usable:
        raise UserError(
            f"not one of {len(queries)} training queries has a positive ({settings.labels} labels) in the corpus: "
            "the dataset has no train split to learn from"
        )
    chosen = usable if settings.queries == "all" else sample(usable, settings.queries, settings.seed)
    positives = {query: present[query] for query in chosen}
    unfit = {query: relevant(qrels, query) | set(positives[query]) for query in chosen}
    pool = [document for document in corpus if document not in gold]
    rows = list(examples(positives, unfit, rankings, pool, settings))
    if not rows:
        raise UserError(f"not one of {len(chosen)} training queries has a document left that could be a negative")
    negatives_of = Counter(query for query, _ in {(row.query, row.negative) for row in rows})
    few = sum(1 for query in chosen if negatives_of[query] < settings.per_query)
    report = [f"{len(chosen)} of {len(queries)} training queries, {sum(map(len, positives.values()))} positives, "
            f"{len(rows)} rows of {settings.from_} negatives"]  # fmt: skip
    if missing:
        report.append(f"{missing} positives are not in the corpus and left out")
    if few:
        report.append(f"{few} queries have fewer than {settings.per_query} negatives: there are no more candidates")
    return rows, report


def main() -> None:
    names = ("corpus", "queries", "qrels", "evaluation-qrels*", "first-stage*", "negatives")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    settings: Settings = options.settings
    if "bm25" in (settings.labels, settings.from_) and not options.first_stage:
        raise UserError("labels or negatives from BM25 need --first-stage, a BM25 run of the training queries")
    rankings = {query: ranking(scores) for path in options.first_stage for query, scores in read_run(path).items()}
    # Pseudo-labels stand in for judgements that do not exist, so those that do exist are not looked at.
    qrels = read_qrels(options.qrels) if settings.labels == "human" else {}
    gold: set[str] = set()
    for path in options.evaluation_qrels if settings.exclude_evaluation else []:
        judged = read_qrels(path)
        gold |= {document for query in judged for document in relevant(judged, query)}
    corpus = [document.id for document in read_corpus(options.corpus)]
    try:
        rows, report = select(list(read_queries(options.queries)), corpus, qrels, gold, rankings, settings)
    except UserError as error:
        raise UserError(f"{options.queries}: {error}") from None
    with atomic_text(options.negatives) as file:
        file.write("\t".join(HEADER) + "\n")
        for row in rows:
            file.write("\t".join("" if value is None else str(value) for value in row) + "\n")
    print("\n".join(report), file=sys.stderr)


if __name__ == "__main__":
    run(main)
