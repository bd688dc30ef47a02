"""Two wordings of the same queries over one corpus: indexed and encoded once, and compared with each other."""

import json
import shutil

import pandas as pd
import pytest

from tests.workflow.conftest import tiny_config


@pytest.fixture
def finished_study(fresh):
    """The tiny collection, a dataset with the same documents and longer queries, and two systems that rank both."""
    wordy = shutil.copytree(fresh.folder / "data/weather", fresh.folder / "data/wordy")
    queries = [json.loads(line) for line in (wordy / "queries.jsonl").read_text().splitlines()]
    documents = {one["_id"]: one["text"] for one in map(json.loads, (wordy / "corpus.jsonl").read_text().splitlines())}
    for query in queries:  # the text of the relevant document, as an image may repeat it
        query["text"] += " " + documents["d" + query["_id"].removeprefix("q")]
    (wordy / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    config = tiny_config()
    config["datasets"]["wordy"] = {"format": "beir", "location": "data/wordy", "corpus": "weather", "label": "Wordy"}
    config["systems"] = {name: config["systems"][name] for name in ("plain", "zero-shot")}
    config |= {"recipes": {}, "tasks": ["weather", "wordy"]}
    config["comparisons"] = {
        "more-text": {"control": ["plain", "zero-shot"], "treatment": ["plain", "zero-shot"], "same": ["system"],
                      "tasks": ["weather"], "treatment_on": {"weather": "wordy"}, "measure": "RR@10"},
    }  # fmt: skip
    fresh.write_config(config)
    shown = ["tables/comparisons.md", "figures/more-text-plain.png"]
    fresh.run(*(f"results/tiny/{path}" for path in shown))
    return fresh


@pytest.mark.long
def test_what_more_text_adds(finished_study):
    results = finished_study.folder / "results/tiny"
    assert [path.name for path in sorted((results / "data").glob("*/corpus.jsonl"))] == ["corpus.jsonl"]
    assert sorted(path.parent.name for path in results.glob("bm25/*/index")) == ["weather"]
    assert {path.parts[-4] for path in results.glob("embeddings/*/*/*/*.vectors")} == {"weather"}
    assert sorted(path.name for path in (results / "meta").iterdir()) == [
        "more-text-plain.json",
        "more-text-zero-shot.json",
    ]
    for system in ("plain", "zero-shot"):
        scores = {task: pd.read_csv(results / f"metrics/{task}/{system}/seed-0.tsv", sep="\t", index_col="query_id")["RR@10"]
                  for task in ("weather", "wordy")}  # fmt: skip
        (row,) = pd.read_csv(results / f"effects/more-text-{system}.tsv", sep="\t").to_dict("records")
        assert row["task"] == "weather" and row["n"] == 15
        assert row["control_mean"] == pytest.approx(scores["weather"].mean())
        assert row["treatment_mean"] == pytest.approx(scores["wordy"].mean())
        assert row["effect"] == pytest.approx((scores["wordy"] - scores["weather"]).mean())
        meta = json.loads((results / f"meta/more-text-{system}.json").read_text())
        assert (meta["control"], meta["treatment"]) == (system, f"{system} on wordy")
    assert (results / "figures/more-text-plain.png").stat().st_size > 10_000
    assert "plain on Wordy" in (results / "tables/comparisons.md").read_text()


def test_a_corpus_that_is_not_the_same_is_refused(fresh):
    wordy = shutil.copytree(fresh.folder / "data/weather", fresh.folder / "data/wordy")
    lines = (wordy / "corpus.jsonl").read_text().splitlines(keepends=True)
    (wordy / "corpus.jsonl").write_text("".join(lines[:-1]))
    config = tiny_config()
    config["datasets"]["wordy"] = {"format": "beir", "location": "data/wordy", "corpus": "weather"}
    fresh.write_config(config)
    done = fresh.snakemake("results/tiny/data/wordy/statistics.json")
    assert done.returncode != 0 and "Traceback" not in done.stdout + done.stderr
    assert "data/wordy: its documents are not those of the corpus it is to share" in done.stderr
    assert not (fresh.folder / "results/tiny/data/wordy").exists()
