"""Changes of judgements: grades that are mapped to others, and judgements by which another dataset's runs are scored.

`grades: {1: 0, 2: 1, 3: 1, 4: 2}` maps old grades to new ones. It is applied before anything else, since a grade above
0 means "relevant" everywhere: for carved splits, training and measures.

Further judgements, such as quality in addition to relevance, score the runs of another dataset, with the queries of
that dataset. A query with only further judgements would score 0 for every system, although none ranked it: it is left
out, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import read_queries
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


def of_ranked_queries(qrels: dict[str, Qrels], files: Sequence[Path]) -> tuple[dict[str, Qrels], list[str]]:
    """The judgements of the queries in that dataset's `files` (one per split), and a text on what was left out.

    Without files, nothing is left out. Raises UserError for a split in which no query has runs.
    """
    if not files:
        return qrels, []
    ranked = {path.stem: read_queries(path) for path in files}
    kept: dict[str, Qrels] = {}
    left_out = []
    for split, judged in qrels.items():
        kept[split] = {query: grades for query, grades in judged.items() if query in ranked.get(split, {})}
        if not kept[split]:
            problem = f"none of {len(judged)} judged queries is among those of {split} of the dataset in runs_of"
            raise UserError(f"{split}: {problem}, such as {next(iter(judged))}")
        if missing := len(judged) - len(kept[split]):
            left_out.append(f"{split}: {missing} judged queries have no runs (runs_of) and are left out")
    return kept, left_out
