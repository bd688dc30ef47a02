"""An experiment with models behind endpoints: texts are indexed, searched, fused and re-ranked, queries are written,
filtered and trained on, and all is compared as any other."""

import json
import re

import pandas as pd
import pytest

from ranktrial.ir.trec import ranking, read_run
from tests.support.answering import answering, embedded, error, said, scored_by_tei, shared
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.slow
SECRET = "sk-0123456789abcdef"


def config(url: str) -> dict:
    """Systems that ask a server, and a bi-encoder that learns from queries which it writes and another model ranks."""
    made, endpoint = tiny_config(), {"url": url, "key": "MODELS_KEY"}
    written = {"format": "generated", "corpus": "weather", "generator": "writer"}
    learning = {"train_on": "written", "labels": "generated", "positives": {"found_within": 1},
                "negatives": {"per_query": 2, "cross_encoder": "judge", "range_max": 5}, "epochs": 1, "batch_size": 8,
                "learning_rate": 0.001}  # fmt: skip
    return made | {
        "datasets": made["datasets"] | {"written": written | {"sampled_documents": 20, "queries_per_document": 2}},
        "models": {
            "bert": made["models"]["bert"],
            "remote": {"type": "bi-encoder-endpoint", "weights": "organisation/embeds",
                       "endpoint": endpoint | {"price": 2}},
            "remote-ce": {"type": "cross-encoder-endpoint", "weights": "m", "endpoint": endpoint | {"protocol": "tei"}},
            "writer": {"type": "query-generator-endpoint", "weights": "writes", "endpoint": endpoint},
        },
        "recipes": {"generated": learning},
        "systems": {
            "plain": made["systems"]["plain"],
            "embedded": {"model": "remote"},
            "coded": {"model": "remote", "embeddings": {"precision": "int8"}},
            "fused": {"type": "fusion", "systems": ["plain", "embedded"]},
            "re-ranked": {"model": "remote-ce", "rerank": {"first_stage": "embedded", "depth": 6}},
            "judge": {"model": "remote-ce", "rerank": {"first_stage": "plain", "depth": 5}},
            "adapted": {"model": "bert", "recipe": "generated"},
        },
        "comparisons": {"re-ranking-helps": {"control": "fused", "treatment": "re-ranked"},
                        "adaptation": {"control": "plain", "treatment": "adapted"}},
    }  # fmt: skip


def writing(request: dict):
    """All words of the document in one draw; in the other, one of them among topics that other documents have more of."""
    document = re.search("Document: (.*)\n", request["messages"][0]["content"])[1].split()
    query = document if request["seed"] % 2 else ["fire", "flood", "theft", "storm", "hail", document[-1]]
    return said(" ".join(query), prompt_tokens=9, completion_tokens=1)


def test_an_experiment_with_models_behind_endpoints(fresh, monkeypatch):
    monkeypatch.setenv("MODELS_KEY", SECRET)
    answers = {"embeddings": embedded, "rerank": scored_by_tei, "chat/completions": writing}
    with answering(answers, probe=error(404)) as asked:
        fresh.write_config(config(asked.url))
        assert "encode weather remote untrained seed-0" in fresh.planned()
        assert asked.requests == []  # planning asks nobody
        fresh.run()
        count = len(asked.requests)
        assert asked.headers[0]["Authorization"] == f"Bearer {SECRET}"
    results = fresh.folder / "results/tiny"
    texts = dict(map(fields, (results / "data/weather/corpus.jsonl").read_text().splitlines()))
    queries = dict(map(fields, (results / "data/weather/queries/test.jsonl").read_text().splitlines()))
    first, last = (read_run(results / f"runs/weather/{system}/seed-0.trec.gz") for system in ("embedded", "re-ranked"))
    for query, scores in last.items():
        assert scores == {name: shared(queries[query], texts[name]) for name in ranking(first[query])[:6]}
    timing = json.loads((results / "embeddings/weather/remote/untrained/seed-0.vectors.timing.json").read_text())
    assert timing["calls"] == len(set(texts.values())) and timing["cost"] > 0
    costs = (results / "tables/costs.tsv").read_text().splitlines()
    assert {"calls", "cost", "encoding_calls", "encoding_cost"} <= set(costs[0].split("\t"))
    page = (results / "report.html").read_text()
    assert "organisation/embeds, asked at http" in page and "128 tokens" not in page
    for file in [path for path in (fresh.folder / "results").rglob("*") if path.is_file()]:
        assert SECRET.encode() not in file.read_bytes(), file
    check_training(results, page)
    changed = config(asked.url)
    for model in ("remote", "writer"):
        changed["models"][model]["endpoint"]["timeout"] = 30
    fresh.write_config(changed)
    paid = ["data/written/generation.json", *(f"runs/weather/{name}/seed-0.trec.gz" for name in ("embedded", "coded"))]
    targets = [f"results/tiny/{name}" for name in paid]
    assert {"encode weather remote untrained seed-0", "retrieve weather coded seed-0"} <= fresh.planned()
    fresh.run(*targets)  # the endpoint is gone, and nothing that was paid for is lost
    assert len(asked.requests) == count


def check_training(results, page):
    """The bi-encoder learnt from the written queries that find their document."""
    counts = json.loads((results / "data/written/generation.json").read_text())
    assert counts["documents"] == 20 and counts["calls"] == 40 and counts["prompt_tokens"] == 400
    (record,) = (json.loads(file.read_text()) for file in (results / "negatives/written").glob("*.mining.json"))
    (table,) = (pd.read_csv(file, sep="\t") for file in (results / "negatives/written").glob("*.tsv"))
    assert record["queries"] + record["queries_not_found"] == counts["queries"] and record["queries"] >= 20
    assert record["queries_not_found"] > 0
    assert (table["query_id"].str.rpartition("-")[0] == table["positive_id"]).all()
    learnt = json.loads((results / "models/bert/generated/seed-1.timing.json").read_text())
    assert learnt["queries"] == table["query_id"].nunique()
    assert "queries that writer wrote for documents of weather" in page
    assert "queries whose relevant document is not found" in page


def fields(line: str) -> tuple[str, str]:
    record = json.loads(line)
    return record["_id"], " ".join(filter(None, (record.get("title"), record["text"])))
