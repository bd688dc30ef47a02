"""p-MRR: whether a ranking follows a change of the query's instruction; reads and writes nothing.

Weller et al. (2024), FollowIR: Evaluating and Teaching Information Retrieval Models to Follow Instructions, section 4.
A document that is relevant with the original but not with the changed instruction has rank o before and rank n after:

    n / o - 1 if it rose or stayed (n <= o), 1 - o / n if it fell

The value of a query is the mean over these documents, from -1 to 1: above 0, they fell, as the instruction asks. A
document that is not in a ranking has the rank after its last, and a query without a ranking has the value 0.
ir-measures lacks the measure, so it is registered there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import ir_measures
from ir_measures import measures

from ranktrial.common.errors import UserError
from ranktrial.ir.trec import Qrels, Run, ranking


class _PMRR(measures.Measure):
    __name__ = "pMRR"
    NAME = __name__
    PRETTY_NAME = "Pairwise Mean Reciprocal Rank"
    SHORT_DESC = "Whether documents fall that a changed instruction makes irrelevant."


PMRR: measures.Measure = _PMRR()  # type: ignore[no-untyped-call]
if PMRR.NAME not in ir_measures.measures.registry:
    measures.register(PMRR)


class Original(NamedTuple):
    """The run and the judgements of the same queries with their first instructions."""

    run: Run
    qrels: Qrels


def p_mrr(run: Run, qrels: Qrels, original: Original | None) -> dict[str, float]:
    """The value of each query of the qrels; 0 without an original, as for a ranking compared with itself.

    Raises UserError for a query without a document that has become irrelevant.
    """
    if original is None:
        return dict.fromkeys(qrels, 0.0)
    values = {}
    for query, grades in qrels.items():
        before = original.qrels.get(query, {})
        changed = [document for document, grade in before.items() if grade > 0 and grades.get(document, 0) <= 0]
        if not changed:
            why = "is relevant to it with its first instruction and not with the changed one"
            raise UserError(f"pMRR: query {query} has no value: no document {why}; leave the query out")
        rankings = [ranking(ranked.get(query, {})) for ranked in (original.run, run)]
        moved = map(_moved, *(_ranks(documents, changed) for documents in rankings))
        values[query] = sum(moved) / len(changed) if all(rankings) else 0.0
    return values


def _ranks(documents: Sequence[str], changed: Sequence[str]) -> list[int]:
    places = {document: rank for rank, document in enumerate(documents, 1)}
    return [places.get(document, len(documents) + 1) for document in changed]


def _moved(before: int, now: int) -> float:
    return now / before - 1 if now <= before else 1 - before / now
