"""The table of datasets, with and without documents."""

from scripts.reports.datasets_table import rows

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


def test_samples_and_queries_without_judgements_are_told_of_the_splits_that_have_them():
    parts = {"train": SPLIT | {"unjudged": 7}, "test": SPLIT | {"sampled_from": 300, "own_documents": 2, "excluded": 5}}
    train, test = rows("d", {"documents": 9, "splits": parts})
    assert (train["unjudged"], train["sampled_from"]) == (7, None)
    assert (test["unjudged"], test["sampled_from"]) == (None, 300)
    assert [part[key] for part in (train, test) for key in ("own_documents", "excluded")] == [None, None, 2, 5]
