"""TREC's two file formats: runs (`qid Q0 docid rank score tag`) and qrels (`qid 0 docid grade`).

Runs are also read in the four columns that some tools write: `qid docid rank score`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from scripts.common.errors import UserError
from scripts.common.files import lines, whole_text

Run = dict[str, dict[str, float]]  # query id -> document id -> score
Qrels = dict[str, dict[str, int]]  # query id -> document id -> grade


def ranking(scores: dict[str, float]) -> list[str]:
    """Document ids in trec_eval's order: score descending as a 32-bit float, ties by document id descending (bytes)."""
    return sorted(scores, key=lambda document: (np.float32(scores[document]), document.encode()), reverse=True)


def top(scores: dict[str, float], depth: int) -> dict[str, float]:
    """The first `depth` documents in trec_eval's order, with their scores."""
    return {document: scores[document] for document in ranking(scores)[:depth]}


def read_run(path: Path) -> Run:
    """Read a run file of six or four columns, plain or gzip.

    Only query id, document id and score count; as in trec_eval, the rank column is ignored. Raises UserError, with the
    line, for a missing column, a score that is no finite number, and a document that a query holds twice.
    """
    run: Run = {}
    for number, line in lines(path):
        fields = line.split()
        if len(fields) == 6:
            query, _, document, _, text, _ = fields
        elif len(fields) == 4:
            query, document, _, text = fields
        else:
            wanted = "6: qid Q0 docid rank score tag, or 4: qid docid rank score"
            raise UserError(f"{path}:{number}: {len(fields)} columns, but a run has {wanted}")
        try:
            score = float(text)
        except ValueError:
            raise UserError(f"{path}:{number}: score {text!r} is not a number") from None
        if not math.isfinite(score):
            raise UserError(f"{path}:{number}: score {text!r} is not finite")
        documents = run.setdefault(query, {})
        if document in documents:
            raise UserError(f"{path}:{number}: document {document} stands twice for query {query}")
        documents[document] = score
    return run


def write_run(path: Path, run: Run, tag: str, queries: Iterable[str] | None = None) -> None:
    """Write a run in trec_eval's order, whole or not at all; queries in the order given (or the run's own)."""
    with whole_text(path) as file:
        for query in run if queries is None else queries:
            scores = run.get(query, {})
            for rank, document in enumerate(ranking(scores), 1):
                file.write(f"{query} Q0 {document} {rank} {scores[document]:.9g} {tag}\n")


def read_qrels(path: Path) -> Qrels:
    """Read TREC qrels. Raises UserError, with the line, for a wrong number of columns, a grade that is no integer, and
    a document judged twice with different grades."""
    qrels: Qrels = {}
    for number, line in lines(path):
        fields = line.split()
        if len(fields) != 4:
            raise UserError(f"{path}:{number}: {len(fields)} columns, but qrels have 4: qid 0 docid grade")
        add_judgement(qrels, fields[0], fields[2], fields[3], f"{path}:{number}")
    return qrels


def add_judgement(qrels: Qrels, query: str, document: str, grade: str, where: str) -> None:
    """Add one judgement; UserError (beginning with `where`) for a grade that is no integer or contradicts another."""
    try:
        value = int(grade)
    except ValueError:
        raise UserError(f"{where}: grade {grade!r} is not an integer") from None
    if qrels.setdefault(query, {}).setdefault(document, value) != value:
        raise UserError(
            f"{where}: document {document} is judged {value} for query {query}, earlier {qrels[query][document]}"
        )


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write TREC qrels in the order given, whole or not at all."""
    with whole_text(path) as file:
        for query, documents in qrels.items():
            for document, grade in documents.items():
                file.write(f"{query} 0 {document} {grade}\n")


def relevant(qrels: Qrels, query: str) -> set[str]:
    """The documents judged relevant (grade 1 or more) for a query."""
    return {document for document, grade in qrels.get(query, {}).items() if grade > 0}
