"""The long table of all values: each value of each metrics file once, to the last bit, whatever the names."""

import gzip
from pathlib import Path

import pandas as pd

from ranktrial.experiment.results_paths import path
from scripts.evaluation.tables import COLUMNS, all_queries

VALUES = {"01": [0.1 + 0.2, 1e-17], "NA": [1.0, 0.0], "1e3": [1 / 3, 5e-324]}


def test_every_value_is_there_once_and_to_the_last_bit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files, expected = [], []
    for task, system, seed in (("a", "bm25", 0), ("a", "tuned", 1), ("a", "tuned", 2), ("b", "null", 0)):
        file = Path(path("metrics", experiment="e", task=task, system=system, seed=seed))
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [f"{query}\t{first!r}\t{second!r}\n" for query, (first, second) in VALUES.items()]
        file.write_text("query_id\tnDCG@10\tAP\n" + "".join(rows))
        files.append(file)
        for query, values in VALUES.items():
            for measure, value in zip(("nDCG@10", "AP"), values, strict=True):
                expected.append((task, system, str(seed), query, measure, value))
    all_queries(files, Path("queries.tsv.gz"))
    with gzip.open("queries.tsv.gz", "rt") as packed:
        text = packed.read()
    found = pd.read_csv("queries.tsv.gz", sep="\t", dtype=str, keep_default_na=False)
    assert tuple(found.columns) == COLUMNS and text.endswith("\n")
    assert [(*row[:-1], float(row[-1])) for row in found.itertuples(index=False)] == expected
    before = Path("queries.tsv.gz").read_bytes()
    all_queries(files, Path("queries.tsv.gz"))
    assert Path("queries.tsv.gz").read_bytes() == before, "equal values, equal bytes"
