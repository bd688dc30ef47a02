"""Table of the datasets: documents, and per split queries, judgements and what is odd.

Reads data/{dataset}/statistics.json. Writes a TSV, one row per dataset and split; cells that need documents are empty
for datasets of judgements only. `left_out` counts training queries that share a relevant document with dev or test,
`unjudged` those without judgements; `sampled_from` is the size of a split of which a sample is kept; `own_documents`
counts queries that stand in the corpus themselves, and `excluded` the documents that are left out for a query.
"""

from __future__ import annotations

import json

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.experiment.results_paths import fields_of

COLLECTION_COLUMNS = ("documents", "mean_document_words", "equal_documents")
OF_SOME = ("left_out", "unjudged", "sampled_from", "own_documents", "excluded")  # whole numbers; most splits have none
SPLIT_COLUMNS = ("queries", "judgements", "relevant", "queries_without_relevant", "judged_documents_missing",
                 "mean_query_words", "carved", *OF_SOME)  # fmt: skip


def rows(name: str, statistics: dict) -> list[dict]:
    """One row per split that the dataset has, in the order train, dev, test."""
    splits = statistics["splits"]
    return [
        {
            "dataset": name,
            "split": split,
            **{column: statistics.get(column) for column in COLLECTION_COLUMNS},
            **dict.fromkeys(SPLIT_COLUMNS),
            **splits[split],
        }
        for split in ("train", "dev", "test")
        if split in splits
    ]


def main() -> None:
    arguments = parser(__doc__, "statistics*", "table", settings=False).parse_args()
    table_rows: list[dict] = []
    for path in arguments.statistics:
        table_rows += rows(fields_of("statistics", path)["dataset"], json.loads(path.read_text()))
    with atomic_text(arguments.table) as file:
        columns = ["dataset", "split", *COLLECTION_COLUMNS, *SPLIT_COLUMNS]
        table = pd.DataFrame(table_rows, columns=columns).astype(dict.fromkeys(OF_SOME, "Int64"))
        table.to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
