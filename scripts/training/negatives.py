"""Choose what a model learns from: positives and negatives of the training queries.

Reads the corpus, the training queries and qrels, the qrels of dev and test, and (where labels or negatives come from
BM25) a BM25 run of the training queries. Writes a TSV, a row per query, positive and negative: query_id, positive_id,
negative_id, source (bm25 | random), bm25_rank (empty where the run lacks the document). With a draw for each epoch
there is a further column, epoch (from 1). With positives among the candidates alone, a query that has none has one row
with its id and the source `none`: so it is counted.

With human labels the positives are the relevant documents, and no document judged relevant is a negative. With labels
from BM25 its best document is the positive and nothing is read from the training qrels. All positives of a query have
the same negatives. A document relevant in dev or test is no negative unless exclude_evaluation is false.
"""

from __future__ import annotations

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
from scripts.training.draws import drawn, of_query, sample, sample_key

HEADER = ("query_id", "positive_id", "negative_id", "source", "bm25_rank")
NONE = "none"  # the source in the row of a query that is left out


@dataclass(frozen=True)
class Settings:
    labels: Annotated[Literal["human", "bm25"], "human: the qrels say what is relevant; bm25: BM25's best document"]
    from_: Annotated[Literal["bm25", "random"], "bm25: documents that it ranks, not relevant; random: any documents"]
    per_query: Annotated[int, "negatives a query, where there are so many"]
    queries: Annotated[int | Literal["all"], "training queries that are kept: all, or a sample of so many"]
    exclude_evaluation: Annotated[bool, "no document that is relevant in dev or test is a negative"]
    seed: Annotated[int, "of what is drawn: queries, positives and negatives"]
    sampling_strategy: Annotated[Literal["top", "random"], "of bm25: its best-ranked candidates, or any of them"] = (
        "top"
    )
    range_min: Annotated[int, "of bm25: so many of its best documents are no candidates"] = 0
    range_max: Annotated[int | None, "of bm25: its candidates are among so many of its best; null: all it ranks"] = None
    positives: Annotated[int | Literal["all"], "positives a query: all, or so many drawn"] = "all"
    among_candidates: Annotated[bool, "positives are among BM25's best range_max; queries without are left out"] = False
    epochs: Annotated[int | None, "a draw for each of so many epochs; null: one for all"] = None
    sample: Annotated[int, "the number of the sample"] = 1
    sampling: Annotated[
        Literal["nested", "independent"], "nested: a smaller sample of this number is part of a larger one"
    ] = "nested"

    @property
    def key(self) -> str:
        """The key of all draws."""
        return sample_key(self.seed, self.sample, self.queries, self.sampling == "independent")


class Example(NamedTuple):
    """One row of the file; `rank` is BM25's, from 1, or None. `epoch` is None where all epochs have the same rows."""

    query: str
    positive: str
    negative: str
    source: str
    rank: int | None
    epoch: int | None = None


def positives_of(queries: list[str], labels: str, qrels: Qrels, rankings: dict[str, list[str]]) -> dict[str, list[str]]:
    """The positives of each query that has any: by id from the qrels (`human`), or BM25's best document (`bm25`)."""
    if labels == "bm25":
        return {query: rankings[query][:1] for query in queries if rankings.get(query)}
    judged = {query: sorted(relevant(qrels, query)) for query in queries}
    return {query: documents for query, documents in judged.items() if documents}


def best_ranked(ranked: list[str], allowed: set[str], unfit: set[str], count: int) -> list[str]:
    """The first `count` documents of a ranking that are allowed and not unfit; fewer where there are no more."""
    return [document for document in ranked if document in allowed and document not in unfit][:count]


def examples(
    positives: dict[str, list[str]],
    unfit: dict[str, set[str]],
    rankings: dict[str, list[str]],
    pool: list[str],
    settings: Settings,
    epoch: int | None = None,
) -> Iterator[Example]:
    """All rows (of one epoch), in the order of the queries; a query's negatives as they were chosen.

    `positives`, `unfit` (the documents that are no negatives) and `rankings` (BM25's, best first) are by query id;
    `pool` holds all documents that can be negatives at all.
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


def among(positives: dict[str, list[str]], rankings: dict[str, list[str]], depth: int | None) -> dict[str, list[str]]:
    """The positives that are among the first `depth` documents of their query's ranking; without queries that have
    none."""
    ranked = {query: set(rankings.get(query, [])[:depth]) for query in positives}
    kept = {query: [d for d in documents if d in ranked[query]] for query, documents in positives.items()}
    return {query: documents for query, documents in kept.items() if documents}


def sampled(usable: list[str], settings: Settings) -> list[str]:
    """The training queries to learn from. Raises UserError where the sample is larger than what there is."""
    if settings.queries == "all":
        return usable
    if settings.queries > len(usable):
        raise UserError(
            f"only {len(usable)} training queries can be used, fewer than the {settings.queries} of the recipe's "
            "queries; give a smaller number, or all"
        )
    return sample(usable, settings.queries, settings.key)


def select(
    queries: list[str],
    corpus: list[str],
    qrels: Qrels,
    gold: set[str],
    rankings: dict[str, list[str]],
    settings: Settings,
) -> tuple[list[Example], list[str], list[str]]:
    """Choose the examples from what was read. `gold` are the documents that may be no negative of any query.

    Returns the rows, the queries left out since none of their positives is among the candidates, and the lines to
    report. Raises UserError where no training query has a positive, or no negative, or there are too few.
    """
    known = set(corpus)
    labelled = positives_of(queries, settings.labels, qrels, rankings)
    present = {query: [d for d in documents if d in known] for query, documents in labelled.items()}
    missing = sum(map(len, labelled.values())) - sum(map(len, present.values()))
    present = {query: documents for query, documents in present.items() if documents}
    if not present:
        raise UserError(
            f"not one of {len(queries)} training queries has a positive ({settings.labels} labels) in the corpus: "
            "the dataset has no train split to learn from"
        )
    fit = among(present, rankings, settings.range_max) if settings.among_candidates else present
    left_out = [query for query in present if query not in fit]
    if not fit:
        raise UserError(f"not one of {len(present)} training queries has a positive among BM25's candidates")
    chosen = sampled(list(fit), settings)
    positives = {query: fit[query] for query in chosen}
    unfit = {query: relevant(qrels, query) | set(positives[query]) for query in chosen}
    pool = [document for document in corpus if document not in gold]
    epochs = [None] if settings.epochs is None else range(1, settings.epochs + 1)
    rows = [row for epoch in epochs for row in examples(positives, unfit, rankings, pool, settings, epoch)]
    if not rows:
        raise UserError(f"not one of {len(chosen)} training queries has a document left that could be a negative")
    of_one_epoch = rows[: len(rows) // len(epochs)]
    negatives_of = Counter(query for query, _ in {(row.query, row.negative) for row in of_one_epoch})
    few = sum(1 for query in chosen if negatives_of[query] < settings.per_query)
    report = [f"{len(chosen)} of {len(queries)} training queries, {sum(map(len, positives.values()))} positives, "
            f"{len(rows)} rows of {settings.from_} negatives"]  # fmt: skip
    if left_out:
        report.append(f"{len(left_out)} queries are left out: none of their positives is among BM25's candidates")
    if missing:
        report.append(f"{missing} positives are not in the corpus and left out")
    if few:
        report.append(f"{few} queries have fewer than {settings.per_query} negatives: there are no more candidates")
    return rows, left_out, report


def lines_of(rows: list[Example], left_out: list[str], by_epoch: bool) -> Iterator[str]:
    """The lines of the file; the column of epochs is there only where each has its own rows."""
    yield "\t".join([*HEADER, *(["epoch"] if by_epoch else [])])
    for row in rows:
        yield "\t".join("" if value is None else str(value) for value in row[: None if by_epoch else -1])
    for query in left_out:
        yield "\t".join([query, "", "", NONE, "", *([""] if by_epoch else [])])


def main() -> None:
    names = ("corpus", "queries", "qrels", "evaluation-qrels*", "first-stage*", "negatives")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    settings: Settings = options.settings
    from_bm25 = "bm25" in (settings.labels, settings.from_) or settings.among_candidates
    if from_bm25 and not options.first_stage:
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
        rows, left_out, report = select(list(read_queries(options.queries)), corpus, qrels, gold, rankings, settings)
    except UserError as error:
        raise UserError(f"{options.queries}: {error}") from None
    with atomic_text(options.negatives) as file:
        file.writelines(line + "\n" for line in lines_of(rows, left_out, settings.epochs is not None))
    print("\n".join(report), file=sys.stderr)


if __name__ == "__main__":
    run(main)
