"""A teacher's scores as labels of a training set that contains ids instead of texts."""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.ir.trec import Run, read_run
from ranktrial.models.losses import LISTS, PAIRS
from ranktrial.models.teaching import SCORED, SCORED_PAIRS

WITHOUT_SCORES = {SCORED: LISTS, SCORED_PAIRS: PAIRS}  # shapes of the same examples without a teacher's labels


def labelled_by(by_id: dict[str, list], path: Path) -> dict[str, list]:
    """The columns of lists or pairs (see examples.py), with a run's scores as `label`: a list of scores for each list.

    A negative that is repeated to fill a short list has its score repeated: each negative of a query with few of them
    thus has more weight, in the teacher's distribution and the student's alike, and both agree if all scores do. Raises
    UserError for a pair that is not in the run.
    """
    run = read_run(path)
    if "document" in by_id:
        pairs = zip(by_id["query"], by_id["document"], strict=True)
        return by_id | {"label": [_score(run, query, document, path) for query, document in pairs]}
    columns = [values for name, values in by_id.items() if name != "anchor"]
    lists = zip(by_id["anchor"], zip(*columns, strict=True), strict=True)
    return by_id | {"label": [[_score(run, query, one, path) for one in documents] for query, documents in lists]}


def _score(run: Run, query: str, document: str, path: Path) -> float:
    score = run.get(query, {}).get(document)
    if score is None:
        problem = f"the teacher has no score of document {document} for query {query}"
        raise UserError(f"{path}: {problem}; these are the scores of other examples, make them again")
    return score
