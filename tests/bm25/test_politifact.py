"""BM25 on PolitiFact beside the thesis's table A.2: its random split is not known, so where does it lie among ours?"""

import re
from pathlib import Path

import pandas as pd
import pytest

from scripts.bm25 import index, lucene
from scripts.datasets.splits import carve_by_document
from scripts.ir.collection import read_queries
from scripts.ir.measures import evaluate
from scripts.ir.trec import read_qrels
from tests.support.prepared import prepare
from tests.support.printed import smaller_number_first

SEEDS = range(20)
PRINTED = ["AP@1", "AP@5", "AP", "P@3", "P@5", "RR@3", "RR", "R@5", "R@10", "R@20", "R@1000", "nDCG@5", "nDCG"]
DOCS = Path(__file__).parents[2] / "docs" / "claim-retrieval.md"


@pytest.fixture(scope="module")
def spread(shared_data, published, tmp_path_factory):
    """One row per text and measure: mean and standard deviation over the seeds of the split, and the printed value."""
    folder = tmp_path_factory.mktemp("politifact")
    rows = []
    for text, variant in (("tweet", "base"), ("tweet+image", "image")):
        fixed = {"splits": {}, "split_by": "queries", "drop_shared": False, "seed": 1, "strict": False}
        prepare(shared_data / "emnlp2020-politifact", folder / text, fixed | {"format": "emnlp2020", "text": text})
        index.index(folder / text / "corpus.jsonl", folder / text / "index")
        queries, qrels = (read(folder / text / path) for read, path in
                          ((read_queries, "queries/train.jsonl"), (read_qrels, "qrels/train.qrels")))  # fmt: skip
        run = lucene.Searcher(folder / text / "index", 0.9, 0.4).batch(queries, 1000)
        values = evaluate(run, qrels, [name for name in PRINTED if not name.startswith("nDCG")])
        values = values.join(evaluate(smaller_number_first(run), qrels, [n for n in PRINTED if n.startswith("nDCG")]))
        tests = [carve_by_document(qrels, {"test": 0.15, "dev": 0.15}, seed)["test"] for seed in SEEDS]
        means = pd.DataFrame([values.loc[queries].mean() for queries in tests])
        for name, value in published("A.2", "Pyserini", f"politifact/{variant}").items():
            if name in PRINTED:
                rows.append((text, name, means[name].mean(), means[name].std(ddof=1), float(value)))
    return pd.DataFrame(rows, columns=["text", "measure", "mean", "sd", "printed"])


@pytest.mark.long  # it indexes one split after another
def test_the_printed_values_lie_among_those_of_random_splits(spread):
    print(table := as_table(spread))
    away = (spread["printed"] - spread["mean"]).abs() / spread["sd"]
    assert len(spread) == 2 * len(PRINTED) and (away < 3).all(), table


@pytest.mark.long
def test_the_documentation_shows_these_numbers(spread):
    shown = set(re.findall(r"^\| tweet.*\|$", DOCS.read_text(), re.MULTILINE))
    assert set(as_table(spread).splitlines()) == shown


def as_table(spread):
    """The rows as in the documentation; the last column is the distance in standard deviations."""
    return "\n".join(
        f"| {row.text} | {row.measure} | {row.mean:.3f} | {row.sd:.3f} | {row.printed:.3f} "
        f"| {(row.printed - row.mean) / row.sd:+.1f} |"
        for row in spread.itertuples()
    )
