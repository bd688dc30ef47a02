"""The table of datasets, with and without documents."""

import pandas as pd

from ranktrial.reports.contents.data import datasets_table
from scripts.reports.datasets_table import COLLECTION_COLUMNS, SPLIT_COLUMNS, rows

SPLIT = {"queries": 2, "judgements": 3, "relevant": 2, "queries_without_relevant": 0, "carved": False}


def test_a_row_a_split_in_their_order():
    full = SPLIT | {"judged_documents_missing": 1, "mean_query_words": 2.5}
    statistics = {
        "documents": 9,
        "mean_document_words": 4.0,
        "equal_documents": 0,
        "splits": {"test": full, "dev": full},
    }
    table = rows("d", statistics)
    assert [row["split"] for row in table] == ["dev", "test"] and table[0]["documents"] == 9


def test_what_needs_documents_is_empty_for_judgements_alone():
    (row,) = rows("robust", {"splits": {"test": SPLIT}})
    assert (row["queries"], row["documents"], row["mean_query_words"]) == (2, None, None)


def test_samples_and_queries_without_judgements_are_reported_of_the_splits_that_have_them():
    parts = {"train": SPLIT | {"unjudged": 7}, "test": SPLIT | {"sampled_from": 300, "own_documents": 2, "excluded": 5}}
    train, test = rows("d", {"documents": 9, "splits": parts})
    assert (train["unjudged"], train["sampled_from"]) == (7, None)
    assert (test["unjudged"], test["sampled_from"]) == (None, 300)
    assert [part[key] for part in (train, test) for key in ("own_documents", "excluded")] == [None, None, 2, 5]


def test_relevant_documents_per_query_are_of_all_queries():
    """Also of those without judgements, as the study of Mokrii et al. has .7 for MS MARCO's passages."""
    (row,) = rows("d", {"documents": 9, "splits": {"train": SPLIT | {"queries": 6, "relevant": 7, "unjudged": 4}}})
    assert (row["all_queries"], row["relevant_per_query"]) == (10, 0.7)
    (row,) = rows("d", {"documents": 9, "splits": {"train": SPLIT | {"queries": 0}}})
    assert (row["all_queries"], row["relevant_per_query"]) == (None, None)


def test_word_pieces_and_near_duplicates_stand_in_the_report():
    parts = {"train": SPLIT | {"near_duplicates_left_out": 3}, "test": SPLIT | {"near_duplicates": 12}}
    pieces = {"tokenizer": "bert", "word_pieces_sample": 10000, "mean_document_word_pieces": 141.26,
              "splits": {"test": {"mean_query_word_pieces": 4.5}}}  # fmt: skip
    columns = ["dataset", "split", *COLLECTION_COLUMNS, *SPLIT_COLUMNS]
    statistics = {"documents": 9, "equal_documents": 0, "near_duplicate_similarity": 0.9, "splits": parts}
    table = pd.DataFrame(rows("d", statistics, pieces), columns=columns)
    shown = datasets_table(table)
    headings = [column.name for column in shown.columns]
    cells = [dict(zip(headings, row, strict=True)) for row in shown.blocks[0]]
    assert [row["Word pieces per document"] for row in cells] == ["141.3", "141.3"]
    assert [row["Word pieces per query"] for row in cells] == ["", "4.5"]
    assert [(row["Near a training query"], row["Left out as near"]) for row in cells] == [("", "3"), ("12", "")]
    assert [row["Relevant per query"] for row in cells] == ["1.00", "1.00"]
    assert "at least 0.9 of the pairs of adjacent words" in shown.caption
    assert "with the tokenizer of bert, in a sample of at most 10,000 documents" in shown.caption
    bare = pd.DataFrame(rows("d", {"splits": {"test": SPLIT}}), columns=columns)
    assert datasets_table(bare).caption == "Datasets and their splits."
