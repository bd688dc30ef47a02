"""Table of the datasets: documents, and per split queries, judgements and irregularities.

Reads data/{dataset}/statistics.json and, where a model's tokenizer counts word pieces, word-pieces.json. Writes a TSV,
one row per dataset and split; cells that need documents are empty for datasets of judgements only. In it

- `all_queries` are those with and without judgements, and `relevant_per_query` is the mean over them;
- `left_out` counts training queries that share a relevant document with dev or test, `unjudged` those without
  judgements; `sampled_from` is the size of a split of which a sample is kept;
- `own_documents` counts queries that are documents of the corpus, and `excluded` the documents that are left out for
  a query;
- `near_duplicates` counts queries of dev and test with a training query at least as similar as
  `near_duplicate_similarity`, and `near_duplicates_left_out` the training queries that are left out for it;
- word pieces are means of at most `word_pieces_sample` documents, and queries of a split.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.tables import write_table
from ranktrial.experiment.results_paths import fields_of

COLLECTION_COLUMNS = (
    "documents",
    "mean_document_words",
    "mean_document_word_pieces",
    "tokenizer",
    "word_pieces_sample",
    "equal_documents",
    "near_duplicate_similarity",
)
OF_SOME = ("left_out", "unjudged", "sampled_from", "own_documents", "excluded", "near_duplicates",
           "near_duplicates_left_out")  # fmt: skip  # whole numbers; most splits have none
SPLIT_COLUMNS = ("queries", "judgements", "relevant", "queries_without_relevant", "judged_documents_missing",
                 "mean_query_words", "mean_query_word_pieces", "all_queries", "relevant_per_query", "carved",
                 "grades",                 *OF_SOME)  # fmt: skip


def rows(name: str, statistics: dict, pieces: dict | None = None) -> list[dict]:
    """One row per split that the dataset has, in the order train, dev, test; `pieces` are its counts of word pieces."""
    splits, pieces = statistics["splits"], pieces or {"splits": {}}
    known = statistics | pieces
    return [
        {
            "dataset": name,
            "split": split,
            **{column: known.get(column) for column in COLLECTION_COLUMNS},
            **dict.fromkeys(SPLIT_COLUMNS),
            **splits[split],
            **per_query(splits[split]),
            **pieces["splits"].get(split, {}),
        }
        for split in ("train", "dev", "test")
        if split in splits
    ]


def per_query(split: dict) -> dict[str, float]:
    """The queries of a split, with and without judgements, and the relevant documents per query."""
    queries = split["queries"] + split.get("unjudged", 0)
    return {"all_queries": queries, "relevant_per_query": split["relevant"] / queries} if queries else {}


def write_datasets(statistics: list[Path], word_pieces: list[Path], table: Path) -> None:
    """Write the table, one row per dataset and split."""
    pieces = {fields_of("word_pieces", path)["dataset"]: json.loads(path.read_text()) for path in word_pieces}
    of_splits: list[dict] = []
    for path in statistics:
        name = fields_of("statistics", path)["dataset"]
        of_splits += rows(name, json.loads(path.read_text()), pieces.get(name))
    columns = ["dataset", "split", *COLLECTION_COLUMNS, *SPLIT_COLUMNS]
    whole = dict.fromkeys((*OF_SOME, "word_pieces_sample"), "Int64")
    write_table(table, pd.DataFrame(of_splits, columns=columns).astype(whole))


if __name__ == "__main__":
    job(write_datasets)
