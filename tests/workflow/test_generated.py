"""Training queries that an endpoint writes, of which a cross-encoder keeps those that find their document, and a training."""

import json
import re

import pandas as pd
import pytest

from tests.support.answering import answering, said, scored_by_tei
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.slow


def config(url: str) -> dict:
    """A bi-encoder that learns from queries which a server writes and another model there ranks."""
    made = tiny_config()
    endpoint = {"url": url}
    written = {"format": "generated", "corpus": "weather", "generator": "writer"}
    learning = {"train_on": "written", "labels": "generated", "positives": {"found_within": 1},
                "negatives": {"per_query": 2, "cross_encoder": "judge", "range_max": 5}, "epochs": 1, "batch_size": 8,
                "learning_rate": 0.001}  # fmt: skip
    return made | {
        "datasets": made["datasets"] | {"written": written | {"sampled_documents": 20, "queries_per_document": 2}},
        "models": {
            "bert": made["models"]["bert"],
            "writer": {"type": "query-generator-endpoint", "weights": "writes", "endpoint": endpoint},
            "judges": {"type": "cross-encoder-endpoint", "weights": "m", "endpoint": endpoint | {"protocol": "tei"}},
        },
        "recipes": {"generated": learning},
        "systems": {
            "plain": made["systems"]["plain"],
            "judge": {"model": "judges", "rerank": {"first_stage": "plain", "depth": 5}},
            "adapted": {"model": "bert", "recipe": "generated"},
        },
        "comparisons": {"adaptation": {"control": "plain", "treatment": "adapted"}},
    }


def writing(request: dict):
    """All words of the document in one draw; in the other, one of them among topics that other documents have more of."""
    document = re.search("Document: (.*)\n", request["messages"][0]["content"])[1].split()
    query = document if request["seed"] % 2 else ["fire", "flood", "theft", "storm", "hail", document[-1]]
    return said(" ".join(query), prompt_tokens=9, completion_tokens=1)


def test_a_training_on_queries_that_a_model_writes(fresh):
    with answering({"chat/completions": writing, "rerank": scored_by_tei}) as asked:
        fresh.write_config(config(asked.url))
        done = fresh.snakemake()
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    results = fresh.folder / "results/tiny"
    counts = json.loads((results / "data/written/generation.json").read_text())
    assert counts["documents"] == 20 and counts["calls"] == 40 and counts["prompt_tokens"] == 400
    (record,) = (json.loads(file.read_text()) for file in (results / "negatives/written").glob("*.mining.json"))
    (table,) = (pd.read_csv(file, sep="\t") for file in (results / "negatives/written").glob("*.tsv"))
    assert record["queries"] + record["queries_not_found"] == counts["queries"] and record["queries"] >= 20
    assert record["queries_not_found"] > 0
    assert (table["query_id"].str.rpartition("-")[0] == table["positive_id"]).all()
    learnt = json.loads((results / "models/bert/generated/seed-1.timing.json").read_text())
    assert learnt["queries"] == table["query_id"].nunique()
    page = (results / "report.html").read_text()
    assert "queries that writer wrote for documents of weather" in page
    assert "queries whose relevant document is not found" in page
