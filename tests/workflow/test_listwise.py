"""A whole experiment with a listwise judge behind an endpoint: asked only when it has to be, and its answers are kept."""

import gzip
import json

import pytest

from ranktrial.ir.trec import ranking, read_run
from tests.support.answering import answering, by_words, error
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.slow


def config(url: str) -> dict:
    made = tiny_config()
    judge = {
        "type": "listwise",
        "rerank": {"first_stage": "plain", "depth": 6},
        "endpoint": {"url": url, "model": "words", "key": "JUDGE_KEY", "price": {"input": 1, "output": 2}},
        **{"window": 4, "step": 2},
    }
    return made | {
        **{"models": {}, "recipes": {}, "systems": {"plain": made["systems"]["plain"], "judge": judge}},
        "comparisons": {"judge-helps": {"control": "plain", "treatment": "judge"}},
    }


@pytest.mark.long
def test_an_experiment_with_a_judge(fresh, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-0123456789abcdef")
    with answering(lambda request: error(401, "no")) as asked:
        fresh.write_config(config(asked.url))
        assert "rerank_listwise weather judge seed-0" in fresh.planned()
        assert asked.probes == 0 and asked.requests == []  # planning asks nobody
    with answering(by_words) as asked:
        fresh.write_config(config(asked.url))
        fresh.run()
        calls = len(asked.requests)
        assert 0 < calls <= 30 and asked.headers[0]["Authorization"] == "Bearer sk-0123456789abcdef"
        runs = fresh.folder / "results/tiny/runs/weather"
        first, judged = (read_run(runs / system / "seed-0.trec.gz") for system in ("plain", "judge"))
        assert all(set(judged[query]) == set(ranking(first[query])[:6]) for query in judged)
        with gzip.open(runs / "judge/seed-0.answers.jsonl.gz", "rt") as file:
            assert len(file.readlines()) == calls
        timing = json.loads((runs / "judge/seed-0.timing.json").read_text())
        assert timing["cost"] == pytest.approx(calls * (100 * 1 + 10 * 2) / 1e6)
        costs = (fresh.folder / "results/tiny/tables/costs.tsv").read_text()
        assert costs.splitlines()[0].endswith("\tcalls\tprompt_tokens\tcompletion_tokens\tcost")
        assert "words (http" in (fresh.folder / "results/tiny/report.html").read_text()
        changed = config(asked.url)
        changed["systems"]["judge"]["endpoint"]["concurrency"] = 1
        fresh.write_config(changed)
        assert "rerank_listwise weather judge seed-0" in fresh.planned()
    fresh.run()  # the endpoint is gone, and nothing that was paid for is lost
    assert json.loads((runs / "judge/seed-0.timing.json").read_text())["cached_calls"] == calls
    for file in [path for path in (fresh.folder / "results").rglob("*") if path.is_file()]:
        assert b"sk-0123456789abcdef" not in file.read_bytes(), file
