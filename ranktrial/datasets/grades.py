"""Mapping of the grades of judgements: `grades: {1: 0, 2: 1, 3: 1, 4: 2}`, old to new.

It is applied before anything else, since a grade above 0 means "relevant" everywhere: for carved splits, training and
measures.
"""

from __future__ import annotations

from collections.abc import Mapping

from ranktrial.common.errors import UserError
from ranktrial.ir.trec import Qrels


def with_grades(qrels: Qrels, grades: Mapping[str, int]) -> Qrels:
    """The judgements with mapped grades; unchanged if there is no mapping.

    Raises UserError for a grade that is not mapped, since it would be of another scale.
    """
    if not grades:
        return qrels
    new_of = {int(old): new for old, new in grades.items()}
    for query, judged in qrels.items():
        for document, grade in judged.items():
            if grade not in new_of:
                known = ", ".join(map(str, sorted(new_of)))
                problem = f"has grade {grade}, which is not mapped (mapped are {known}); to keep it, map it to itself"
                raise UserError(f"grades: the judgement of document {document} for query {query} {problem}")
    return {query: {name: new_of[grade] for name, grade in judged.items()} for query, judged in qrels.items()}
