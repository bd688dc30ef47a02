"""Training examples in the shape that each loss of sentence-transformers takes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from scripts.common.errors import UserError

# (anchor, positive, negatives …), one row a query and positive; the other texts of a batch serve as negatives as well.
LISTS = "lists"
# (anchor, positive, negative), one row a negative.
TRIPLETS = "triplets"
# (query, document, label), one row a document, with label 1 or 0.
PAIRS = "pairs"
# (query, documents, labels), one row a query: its positives with label 1, then its negatives with label 0.
RANKED = "ranked"

SHAPES = {
    "bi-encoder": {
        "MultipleNegativesRankingLoss": LISTS,
        "CachedMultipleNegativesRankingLoss": LISTS,
        "TripletLoss": TRIPLETS,
        "ContrastiveLoss": PAIRS,
        "OnlineContrastiveLoss": PAIRS,
        "CosineSimilarityLoss": PAIRS,
        "CoSENTLoss": PAIRS,
        "AnglELoss": PAIRS,
    },
    "cross-encoder": {
        "BinaryCrossEntropyLoss": PAIRS,
        "MSELoss": PAIRS,
        "LambdaLoss": RANKED,
        "RankNetLoss": RANKED,
        "ListNetLoss": RANKED,
        "ListMLELoss": RANKED,
        "PListMLELoss": RANKED,
        "MultipleNegativesRankingLoss": LISTS,
        "CachedMultipleNegativesRankingLoss": LISTS,
    },
}
Pieces = dict[str, list[str]]  # id of a query or document -> its pieces, or its one text
DEFAULTS = {"bi-encoder": "MultipleNegativesRankingLoss", "cross-encoder": "BinaryCrossEntropyLoss"}
SPLIT_DEFAULTS = DEFAULTS | {"bi-encoder": "ContrastiveLoss"}


class Row(NamedTuple):
    """One line of the negatives file, by ids."""

    query: str
    positive: str
    negative: str


def read_rows(path: Path) -> list[Row]:
    """Read a negatives file. Raises UserError where it has no row."""
    with open(path, encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = [Row(line["query_id"], line["positive_id"], line["negative_id"]) for line in table]
    if not rows:
        raise UserError(f"{path}: no training example in it; every query lacks a negative")
    return rows


def resolve_loss(name: str, kind: str, split: bool = False) -> str:
    """The library's name of a loss for a model of this kind (bi-encoder | cross-encoder); `auto` is its default.

    Raises UserError for a loss that is unknown or needs inputs other than queries with positives and negatives, and
    where texts are `split` for one that does not take labelled pairs: in a batch, it would take one piece of a relevant
    document for irrelevant to the others' queries.
    """
    name = (SPLIT_DEFAULTS if split else DEFAULTS)[kind] if name == "auto" else name
    if name not in SHAPES[kind]:
        raise UserError(
            f"loss {name!r} is not one that a {kind} can be trained with here: use auto or {', '.join(SHAPES[kind])} "
            "(others of the library need a teacher's scores or class labels)"
        )
    if split and SHAPES[kind][name] != PAIRS:
        fit = [loss for loss, shape in SHAPES[kind].items() if shape == PAIRS]
        raise UserError(f"loss {name!r} does not go with long_documents: split, which makes labelled pairs of pieces; "
                        f"use auto or {', '.join(fit)}")  # fmt: skip
    return name


def columns(rows: list[Row], shape: str) -> dict[str, list]:
    """The columns of the training set, with ids in place of texts, and `label` (1.0 | 0.0) for pairs and ranked lists.

    Lists need equally many negatives in each row: where a query has fewer than others, its own are repeated.
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
        documents, grades = [list(one) for one in ranked.values()], [list(one.values()) for one in ranked.values()]
        return {"query": list(ranked), "documents": documents, "label": grades}
    lists: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        lists.setdefault((row.query, row.positive), []).append(row.negative)
    width = max(map(len, lists.values()))
    made = {"anchor": [query for query, _ in lists], "positive": [positive for _, positive in lists]}
    for n in range(width):
        made[f"negative_{n + 1}"] = [negatives[n % len(negatives)] for negatives in lists.values()]
    return made


_TRIPLET = ("anchor", "positive", "negative")
_PAIR = ("query", "document", "label")


def with_texts(made: dict[str, list], queries: Pieces, documents: Pieces) -> dict[str, list]:
    """The same columns with texts in place of ids; `queries` and `documents` have the pieces (or one text) of each.

    A pair becomes all pairs of a piece of its query and a piece of its document, each with the pair's label: the way of
    the split variant in "Detecting Previously Fact-Checked Claims" (5.5.4). Raises UserError for an id without a text.
    """

    def pieces(source: Pieces, name: str, kind: str) -> list[str]:
        if name not in source:
            raise UserError(f"the negatives name the {kind} {name}, which this dataset lacks; choose them again")
        return source[name]

    if "document" in made:
        rows = [
            (query, document, label)
            for query_id, document_id, label in zip(made["query"], made["document"], made["label"], strict=True)
            for query in pieces(queries, query_id, "query")
            for document in pieces(documents, document_id, "document")
        ]
        return {name: list(values) for name, values in zip(_PAIR, zip(*rows, strict=True), strict=True)}
    texts = {}
    for column, values in made.items():
        if column == "label":
            texts[column] = values
        elif column == "documents":
            texts[column] = [[pieces(documents, value, "document")[0] for value in some] for some in values]
        else:
            source, kind = (queries, "query") if column in ("anchor", "query") else (documents, "document")
            texts[column] = [pieces(source, value, kind)[0] for value in values]
    return texts
