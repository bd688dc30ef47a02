"""Judgements with other grades than those of their files: `grades: {1: 0, 2: 1, 3: 1, 4: 2}`, old to new.

Done before anything else is done with judgements, as a grade above 0 is what "relevant" means everywhere: to carved
splits, to training and to measures.
"""

from __future__ import annotations

from collections.abc import Mapping

from scripts.common.errors import UserError
from scripts.ir.trec import Qrels


def with_grades(qrels: Qrels, grades: Mapping[str, int]) -> Qrels:
    """The judgements with the grades that theirs are mapped to; as they are where nothing is mapped.

    Raises UserError for a grade that is not mapped: a label that was forgotten would pass for one of another scale.
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
