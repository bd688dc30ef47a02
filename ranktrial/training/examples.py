"""Training examples in the shapes that the losses of sentence-transformers take, with a teacher's scores as labels.

Some texts must not share a batch: losses with in-batch negatives would otherwise use documents that are excluded for a
query, such as the query itself if it is another query's document, and documents that are relevant to it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import passages_of, read_excluded
from ranktrial.ir.trec import Run, read_run
from ranktrial.models.cutting import Cut, cut_columns
from ranktrial.models.losses import LISTS, PAIRS, RANKED, TRIPLETS
from ranktrial.models.teaching import SCORED, SCORED_PAIRS

LEFT_OUT = "none"  # source in the row of a query without a positive among the candidates
UNFIT = "unfit"  # source in the row of a query and a document of others that is relevant to it
Passages = dict[str, list[str]]  # id of a query or document -> its passages, or its single text


class Row(NamedTuple):
    """One line of the negatives file, as ids."""

    query: str
    positive: str
    negative: str


class Table(NamedTuple):
    """A negatives file: the rows of each epoch, and the number of queries left out.

    Rows shared by all epochs are listed once. The number is None if it was not counted. `unfit` are pairs of a query
    and a document of other queries that must not be its negative.
    """

    epochs: list[list[Row]]
    without_candidate: int | None
    unfit: tuple[tuple[str, str], ...] = ()

    @property
    def rows(self) -> list[Row]:
        """The rows of all epochs."""
        return [row for rows in self.epochs for row in rows]

    @property
    def queries(self) -> int:
        """The number of queries to learn from."""
        return len({row.query for row in self.epochs[0]})


def read_table(path: Path) -> Table:
    """Read a negatives file. Raises UserError if it has no rows."""
    epochs: dict[str, list[Row]] = {}
    left_out, unfit = 0, []
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if line["source"] == LEFT_OUT:
                left_out += 1
                continue
            if line["source"] == UNFIT:
                unfit.append((line["query_id"], line["positive_id"]))
                continue
            row = Row(line["query_id"], line["positive_id"], line["negative_id"])
            epochs.setdefault(line.get("epoch", ""), []).append(row)
    if not epochs:
        raise UserError(f"{path}: no training example in it; every query lacks a negative")
    return Table(list(epochs.values()), left_out or None, tuple(unfit))


def columns_of(table: Table, shape: str) -> dict[str, list]:
    """The columns of the training set as made by `columns`, one epoch after another.

    Raises ValueError if the epochs differ in their number of rows: a training has the same number of steps in each
    epoch.
    """
    made = [columns(rows, shape) for rows in table.epochs]
    if len({len(values) for of_epoch in made for values in of_epoch.values()}) > 1:
        raise ValueError("the epochs have different numbers of rows")
    return {name: [value for of_epoch in made for value in of_epoch[name]] for name in made[0]}


def columns(rows: list[Row], shape: str) -> dict[str, list]:
    """The columns of the training set, with ids instead of texts, and `label` (1.0 | 0.0) for pairs and ranked lists.

    Lists need the same number of negatives in each row: if a query has fewer than others, its own are repeated.
    """
    if shape == TRIPLETS:
        return {name: [getattr(row, field) for row in rows] for name, field in zip(_TRIPLET, Row._fields, strict=True)}
    if shape == PAIRS:
        labels = {(row.query, row.negative): 0.0 for row in rows} | {(row.query, row.positive): 1.0 for row in rows}
        queries, documents = zip(*labels, strict=True)
        return {"query": list(queries), "document": list(documents), "label": list(labels.values())}
    if shape == RANKED:
        ranked: dict[str, dict[str, float]] = {}
        for row in rows:
            ranked.setdefault(row.query, {})[row.negative] = 0.0
        for row in rows:
            ranked[row.query] = {row.positive: 1.0} | ranked[row.query] | {row.positive: 1.0}
        return {
            "query": list(ranked),
            "documents": [list(labelled) for labelled in ranked.values()],
            "label": [list(labelled.values()) for labelled in ranked.values()],
        }
    negatives_of: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        negatives_of.setdefault((row.query, row.positive), []).append(row.negative)
    width = max(map(len, negatives_of.values()))
    lists = {
        "anchor": [query for query, _ in negatives_of],
        "positive": [positive for _, positive in negatives_of],
    }
    for n in range(width):
        lists[f"negative_{n + 1}"] = [negatives[n % len(negatives)] for negatives in negatives_of.values()]
    return lists


_TRIPLET = ("anchor", "positive", "negative")
_PAIR = ("query", "document", "label")


def with_texts(by_id: dict[str, list], queries: Passages, documents: Passages) -> dict[str, list]:
    """The columns `by_id` with texts instead of ids; `queries` and `documents` map ids to passages, or to one text.

    A pair becomes all pairs of a passage of its query and a passage of its document, each with the pair's label, as in
    the split variant of "Detecting Previously Fact-Checked Claims" (5.5.4). Raises UserError for an id without a text.
    """

    def passages(source: Passages, name: str, kind: str) -> list[str]:
        if name not in source:
            raise UserError(f"the negatives name the {kind} {name}, which this dataset lacks; choose them again")
        return source[name]

    if "document" in by_id:
        rows = [
            (query, document, label)
            for query_id, document_id, label in zip(by_id["query"], by_id["document"], by_id["label"], strict=True)
            for query in passages(queries, query_id, "query")
            for document in passages(documents, document_id, "document")
        ]
        return {name: list(values) for name, values in zip(_PAIR, zip(*rows, strict=True), strict=True)}
    texts = {}
    for column, values in by_id.items():
        if column == "label":
            texts[column] = values
        elif column == "documents":
            texts[column] = [[passages(documents, name, "document")[0] for name in ranked] for ranked in values]
        else:
            source, kind = documents, "document"
            if column in ("anchor", "query"):
                source, kind = queries, "query"
            texts[column] = [passages(source, name, kind)[0] for name in values]
    return texts


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


Apart = Mapping[str, list[str]]  # text of a query -> texts of documents
NOTHING_APART: Apart = MappingProxyType({})


def kept_apart(table: Table, corpus: Path, queries: Path, cut: Cut | None, relevant: bool) -> Apart:
    """For the queries of a training set, the documents in it to keep apart from them, as truncated texts.

    These are the excluded documents and, if asked for, the `relevant` ones.
    """
    apart = {query: set(names) for query, names in read_excluded(queries).items()}
    for query, name in [*((row.query, row.positive) for row in table.rows), *table.unfit] if relevant else []:
        apart.setdefault(query, set()).add(name)
    known = {name for row in table.rows for name in (row.positive, row.negative)}
    asked = dict.fromkeys(row.query for row in table.rows)
    pairs = [(query, name) for query in asked for name in sorted(apart.get(query, set()) & known)]
    if not pairs:
        return {}
    by_id = {"anchor": [query for query, _ in pairs], "positive": [name for _, name in pairs]}
    documents = passages_of(corpus, set(by_id["positive"]))
    texts = cut_columns(with_texts(by_id, passages_of(queries), documents), cut)
    return joined([{query: [text]} for query, text in zip(texts["anchor"], texts["positive"], strict=True)])


def joined(parts: Iterable[Apart]) -> Apart:
    """All parts merged into one mapping."""
    apart: dict[str, list[str]] = {}
    for part in parts:
        for query, texts in part.items():
            apart.setdefault(query, []).extend(texts)
    return apart
