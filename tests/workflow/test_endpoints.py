"""An experiment with models behind endpoints: indexed, searched, fused, re-ranked and compared as any other."""

import json

import pytest

from ranktrial.ir.trec import ranking, read_run
from tests.support.answering import answering, embedded, error, scored_by_tei, shared
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.slow
SECRET = "sk-0123456789abcdef"


def config(url: str) -> dict:
    made = tiny_config()
    endpoint = {"url": url, "key": "MODELS_KEY"}
    systems = {
        "plain": made["systems"]["plain"],
        "embedded": {"model": "remote"},
        "coded": {"model": "remote", "embeddings": {"precision": "int8"}},
        "fused": {"type": "fusion", "systems": ["plain", "embedded"]},
        "re-ranked": {"model": "remote-ce", "rerank": {"first_stage": "embedded", "depth": 6}},
    }
    models = {
        "remote": {
            "type": "bi-encoder-endpoint",
            "weights": "organisation/embeds",
            "endpoint": endpoint | {"price": 2},
        },
        "remote-ce": {
            "type": "cross-encoder-endpoint",
            "weights": "scores",
            "endpoint": endpoint | {"protocol": "tei"},
        },
    }
    return made | {
        **{"models": models, "recipes": {}, "systems": systems},
        "comparisons": {"re-ranking-helps": {"control": "fused", "treatment": "re-ranked"}},
    }


def test_an_experiment_with_models_behind_endpoints(fresh, monkeypatch):
    monkeypatch.setenv("MODELS_KEY", SECRET)
    with answering({"embeddings": embedded, "rerank": scored_by_tei}, probe=error(404)) as asked:
        fresh.write_config(config(asked.url))
        assert (
            "encode weather remote untrained seed-0" in fresh.planned() and asked.requests == []
        )  # planning asks nobody
        done = fresh.snakemake()
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
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
    changed = config(asked.url)
    changed["models"]["remote"]["endpoint"]["timeout"] = 30
    fresh.write_config(changed)
    done = fresh.snakemake()  # the endpoint is gone, and nothing that was paid for is lost
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert len(asked.requests) == count


def fields(line: str) -> tuple[str, str]:
    record = json.loads(line)
    return record["_id"], " ".join(filter(None, (record.get("title"), record["text"])))
