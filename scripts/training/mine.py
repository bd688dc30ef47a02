"""Choose training examples with negatives that systems rank high, and filter probable false negatives.

Reads what negatives.py reads, a run of the training queries for each system that supplies negatives, and (if a
cross-encoder filters) its scores of all candidates and positives. Writes a TSV with one row per query, positive and
negative: query_id, positive_id, negative_id, source (bm25, or the system's name), rank (the source's, from 1;
`bm25_rank` if all are from BM25) and, if scores filter, positive_score and score; also epoch, if there is a draw for
each epoch. If positives must be among BM25's candidates, a query without such a positive has a row with the source
`none`. A JSON file records how many candidates each rule removed.

Positives, samples and documents that must not be negatives are determined as in negatives.py.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text
from ranktrial.common.settings import write_record
from ranktrial.ir.trec import Run, read_run
from ranktrial.records.mining import MiningRecord
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
from ranktrial.training.mining import BM25, RULES, Bounds, Candidate, Mined, candidates, filtered, finding, runs_of

SCORES = ("positive_score", "score")


@dataclass(frozen=True, kw_only=True)
class Settings(DrawnSettings):
    from_: Annotated[list[str], "bm25 and systems, whose candidates are taken in turn"]
    absolute_margin: Annotated[float | None, "a negative's score is so much below the lowest positive's"] = None
    relative_margin: Annotated[float | None, "the same as a share of the positive's score"] = None
    max_score: Annotated[float | None, "the highest score of a negative"] = None
    min_score: Annotated[float | None, "the lowest score of a negative"] = None
    found_within: Annotated[int | None, "the lowest rank of a positive by the cross-encoder's scores; null: any"] = None
    cross_encoder: Annotated[str | None, "whose scores these are; null: those of the one that it is from"] = None

    @property
    def bounds(self) -> Bounds:
        """The permitted scores of negatives."""
        return Bounds(**{rule: getattr(self, rule) for rule in RULES})

    @property
    def filters(self) -> dict[str, float]:
        """The rules that are set, with their values."""
        return {rule: value for rule in RULES if (value := getattr(self, rule)) is not None}

    @property
    def has_margin(self) -> bool:
        """Whether a rule compares with the score of a positive."""
        return self.absolute_margin is not None or self.relative_margin is not None


def rows_of(found: Labelled, mined: Mined, scores: Run, settings: Settings) -> Iterator[tuple[Any, ...]]:
    """Yield all rows of the file, epoch after epoch, in the order of the queries."""
    for epoch in [None] if settings.epochs is None else range(1, settings.epochs + 1):
        for query, positives in found.positives.items():
            key, left = of_query(settings.key, query, epoch), mined.left[query]
            if settings.sampling_strategy == "random":
                by_name = {one.document: one for one in left}
                chosen = [by_name[name] for name in drawn(list(by_name), set(), settings.per_query, key)]
            else:
                chosen = left[: settings.per_query]
            if settings.positives != "all":
                positives = drawn(positives, set(), settings.positives, f"{key}\tpositives")
            of_documents = scores.get(query, {})
            for positive in positives:
                for one in chosen:
                    both = [of_documents.get(positive), of_documents.get(one.document)] if settings.filters else []
                    yield (query, positive, one.document, one.source, one.rank, *both, *([epoch] if epoch else []))


def check_scored(scores: Run, found: Labelled, listed: dict[str, list[Candidate]], settings: Settings) -> None:
    """Raise UserError if the cross-encoder has not scored a document, so its scores belong to other candidates."""
    for query, positives in found.positives.items():
        of_query = scores.get(query, {})
        for document in [*positives, *(one.document for one in listed[query])]:
            if document not in of_query:
                problem = f"have none of document {document} for query {query}; they belong to other candidates"
                raise UserError(f"the scores by {settings.cross_encoder} {problem}")


def record_of(
    found: Labelled, mined: Mined, rows: list[tuple[Any, ...]], settings: Settings, lost: int = 0
) -> MiningRecord:
    """The record of what was mined and what was filtered."""
    chosen = {(row[0], row[2]): row[3] for row in rows}
    return MiningRecord(
        from_=settings.from_,
        cross_encoder=settings.cross_encoder,
        rules=settings.filters,
        queries=len(mined.left),
        queries_without_positive_score=mined.without_positive if settings.has_margin else 0,
        queries_not_found=lost,
        queries_without_negatives=sum(1 for left in mined.left.values() if not left),
        queries_with_fewer_negatives=sum(1 for left in mined.left.values() if 0 < len(left) < settings.per_query),
        equal_texts=found.equal,
        candidates=mined.candidates,
        filtered={rule: mined.filtered[rule] for rule in settings.filters},
        negatives=dict(Counter(chosen.values())),
    )


def as_text(made: MiningRecord, found: Labelled, read: Collection, rows: int) -> list[str]:
    """The lines to print about what was mined."""
    positives = sum(map(len, found.positives.values()))
    lines = [f"{made.queries} of {len(read.queries)} training queries, {positives} positives, "
             f"{rows} rows of negatives from {', '.join(made.from_)}", *found.report()]  # fmt: skip
    by = f", scored by {made.cross_encoder}" if made.cross_encoder else ""
    for rule, count in made.filtered.items():
        share = f"{count} of {made.candidates} candidates ({count / max(made.candidates, 1):.1%})"
        lines.append(f"{share} are filtered by {rule} {made.rules[rule]:g}{by}")
    if unknown := made.queries_without_positive_score:
        lines.append(
            f"{unknown} queries have a positive that the run lacks, below all it holds: the margin leaves nothing"
        )
    if lost := made.queries_not_found:
        lines.append(f"{lost} queries are left out: their positives are not found by {made.cross_encoder}")
    few = {"no negative": made.queries_without_negatives, "too few": made.queries_with_fewer_negatives}
    lines += [f"{n} queries have {what}: there are no more candidates" for what, n in few.items() if n]
    return lines


def mine_negatives(
    corpus: Path, queries: Path, qrels: Path, evaluation_qrels: list[Path], first_stage: list[Path], runs: list[Path],
    scores: list[Path], negatives: Path, record: Path, settings: Settings,
) -> None:  # fmt: skip
    """Choose training examples with negatives that systems rank high, and filter probable false negatives."""
    read = read_collection(corpus, queries, qrels, evaluation_qrels, first_stage, settings)
    run_of, lost = runs_of(settings.from_, first_stage, runs), 0
    try:
        found = labelled(read, settings)
        listed = candidates(read, found, run_of, settings.range_min, settings.range_max)
        if settings.cross_encoder:
            by_system = read_run(scores[0])
            check_scored(by_system, found, listed, settings)
            found, listed, lost = finding(found, listed, by_system, settings.found_within)
        else:
            by_system = run_of[settings.from_[0]] if settings.filters else {}
        if settings.filters or settings.cross_encoder:
            mined = filtered(listed, found.positives, by_system, settings.bounds, rescored=bool(settings.cross_encoder))
        else:
            mined = Mined(listed, sum(map(len, listed.values())))
        rows = list(rows_of(found, mined, by_system, settings))
        made = record_of(found, mined, rows, settings, lost)
        if not rows:
            taken = ", ".join(f"{count} by {rule}" for rule, count in made.filtered.items())
            why = f"of {made.candidates} candidates {taken} are filtered" if taken else "no candidate is fit"
            raise UserError(f"none of the {made.queries} training queries has a negative: {why}")
    except UserError as error:
        raise UserError(f"{queries}: {error}") from None
    columns = ("source", "bm25_rank" if settings.from_ == [BM25] else "rank", *(SCORES if settings.filters else ()))
    lines = lines_of(columns, rows, found.left_out, found.unfit, settings.epochs is not None)
    with atomic_text(negatives) as file:
        file.writelines(line + "\n" for line in lines)
    write_record(record, made, indent=1)
    print("\n".join(as_text(made, found, read, len(rows))), file=sys.stderr)


if __name__ == "__main__":
    job(mine_negatives)
