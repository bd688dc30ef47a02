"""Listwise re-ranking through the script itself, by a server that answers: runs, answers kept, counts, and mistakes."""

import gzip
import json
import time

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.ir.collection import Document, passages_of, write_corpus, write_queries
from ranktrial.ir.trec import ranking, read_run, write_run
from scripts.inference import listwise
from tests.support.answering import answering, by_words, error, said, shown
from tests.support.calling import call
from tests.support.one_line import refused

WORDS = ["ash", "elm", "fig", "oak", "yew"]
HOW = {"model": "m", "window": 4, "step": 2, "passes": 1, "max_words": 50, "depth": 10, "tag": "judge-0"}
QUERIES = {"q1": "ash elm fig", "q2": "oak yew", "q3": "elm"}


@pytest.fixture
def task(tmp_path):
    """Twelve documents; the first stage has the best for q1 last, and nothing for q3."""
    texts = {f"d{n}": " ".join(WORDS[: n % 5 + 1]) + f" text{n}" for n in range(12)}
    write_corpus(tmp_path / "corpus.jsonl", [Document(name, "", text) for name, text in texts.items()])
    write_queries(tmp_path / "queries.jsonl", QUERIES)
    first = {"q1": {name: 100.0 - n for n, name in enumerate(sorted(texts, key=len))}, "q2": {"d1": 2.0, "d4": 1.0}}
    write_run(tmp_path / "first.trec.gz", first, "first")
    return tmp_path


def judge(task, url, **changes):
    """Run the script; gives the run, the answers and the timing."""
    paths = {
        **{"corpus": task / "corpus.jsonl", "queries": task / "queries.jsonl", "first_stage": task / "first.trec.gz"},
        **{"run": task / "run.trec.gz", "timing": task / "timing.json"},
        "answers": task / "answers.jsonl.gz",
    }
    call(listwise.rerank_listwise, HOW | {"url": url} | changes, **paths)
    answers = [json.loads(line) for _, line in lines(task / "answers.jsonl.gz")]
    return read_run(task / "run.trec.gz"), answers, json.loads((task / "timing.json").read_text())


def by_hand(names, texts, query, size, step):
    """Windows from the back to the front, each sorted by shared words; of equals the first stays first."""
    names, end = list(names), len(names)
    while True:
        start = max(0, end - size)
        names[start:end] = sorted(
            names[start:end], key=lambda name: -len(set(query.split()) & set(texts[name].split()))
        )
        if start == 0:
            return names
        end -= step


def test_a_run_is_that_of_the_windows_by_hand(task):
    texts = {name: text for name, (text,) in passages_of(task / "corpus.jsonl").items()}
    with answering(by_words) as asked:
        ranked, answers, timing = judge(task, asked.url, price={"input": 2, "output": 10})
    first = read_run(task / "first.trec.gz")
    for query in ("q1", "q2"):
        assert ranking(ranked[query]) == by_hand(ranking(first[query])[:10], texts, QUERIES[query], 4, 2)
    assert list(ranked) == ["q1", "q2"] and sorted(ranked["q1"].values()) == list(range(1, 11))
    assert [one["query"] for one in answers] == ["q1"] * 4 + ["q2"]
    assert answers[0]["documents"] == ranking(first["q1"])[6:10] and answers[0]["order"][0] in (1, 2, 3, 4)
    assert timing["calls"] == len(asked.requests) == 5 and timing["cached_calls"] == 0
    assert (timing["prompt_tokens"], timing["completion_tokens"]) == (500, 50)
    assert timing["cost"] == pytest.approx((500 * 2 + 50 * 10) / 1e6) and timing["price"] == {"input": 2, "output": 10}
    assert timing["latency_ms"]["n"] == 2 and timing["device"].startswith("m at 127.0.0.1")
    assert (timing["unparseable"], timing["repaired"], timing["queries"], timing["documents"]) == (0, 0, 2, 12)


def test_the_same_whatever_the_number_of_threads_and_what_is_kept_is_not_asked(task):
    with answering(by_words) as asked:
        one = judge(task, asked.url, concurrency=1)
        bytes_of = (task / "answers.jsonl.gz").read_bytes()
        again = judge(task, asked.url, concurrency=8)  # a job that runs again, as after an upgrade
        assert len(asked.requests) == 5 and asked.probes == 1
        assert again[:2] == one[:2] and (task / "answers.jsonl.gz").read_bytes() == bytes_of
        assert again[2]["cached_calls"] == 5 and again[2]["seconds"] == one[2]["seconds"]
        judge(task, asked.url, temperature=0, seed=3)
        assert len(asked.requests) == 10 and asked.requests[-1]["seed"] == 3
        assert "seed" not in asked.requests[0] and "temperature" not in asked.requests[0]


def test_a_job_that_ends_midway_goes_on(task):
    left = [3]

    def so_many_answers(request):
        left[0] -= 1
        return by_words(request) if left[0] >= 0 else error(401)

    with answering(so_many_answers) as asked:
        with pytest.raises(UserError, match="refuses access"):
            judge(task, asked.url, concurrency=1)
        assert not (task / "run.trec.gz").exists()
        kept = task / "run.trec.gz.resume" / "answers.jsonl"
        kept.write_text(kept.read_text() + '\n{"request": "abc", "text": "cut of')  # as a kill leaves it
        left[0] = 2
        ranked, _, timing = judge(task, asked.url)
    assert timing["cached_calls"] == 3 and len(asked.requests) == 3 + 1 + 2
    assert asked.probes == 1  # what is kept might be all that is needed, so nobody is asked whether he is there
    with answering(by_words) as other:  # another endpoint: nothing of the first is taken for its answers
        whole = judge(task, other.url)
        assert whole[0] == ranked and whole[2]["cached_calls"] == 0 and len(other.requests) == 5


def test_answers_that_are_no_order_keep_the_first_stages_and_are_counted(task):
    first = read_run(task / "first.trec.gz")
    with answering(lambda request: said("No.")) as asked:
        ranked, _, timing = judge(task, asked.url)
    assert ranking(ranked["q1"]) == ranking(first["q1"])[:10] and timing["unparseable"] == 5
    assert timing["prompt_tokens"] is None and "cost" not in timing
    with answering(lambda request: said("[2]")) as asked:
        ranked, answers, timing = judge(task, asked.url)
    assert timing["repaired"] == 5 and answers[-1]["order"] == [2, 1] and ranking(ranked["q2"]) == ["d4", "d1"]


def test_passes_and_words(task):
    with answering(by_words) as asked:
        _, answers, _ = judge(task, asked.url, passes=2, max_words=1)
    assert [one["pass"] for one in answers if one["query"] == "q1"] == [1] * 4 + [2] * 4
    assert all(len(text.split()) == 1 for request in asked.requests for text in shown(request))


def test_an_endpoint_that_is_not_there_is_reported_before_anything_is_read(task):
    with answering(by_words) as asked:
        pass
    (task / "corpus.jsonl").write_text("no JSON")
    start = time.monotonic()
    with refused(f"{asked.url}: does not answer"):
        judge(task, asked.url)
    assert time.monotonic() - start < 5


def test_one_that_fails_ends_all_at_once(task):
    with answering(
        lambda request: error(429, "later", Retry_After="60") if "oak" in shown(request)[0] else error(404)
    ) as asked:
        start = time.monotonic()
        with pytest.raises(UserError):
            judge(task, asked.url)
        assert time.monotonic() - start < 30


def test_runs_of_other_tasks_are_refused(task):
    write_run(task / "first.trec.gz", {"other": {"d1": 1.0}}, "first")
    with answering(by_words) as asked, refused("no query of", "belongs to another task"):
        judge(task, asked.url)
    write_run(task / "first.trec.gz", {"q1": {"x1": 1.0}}, "first")
    with answering(by_words) as asked, pytest.raises(UserError, match="the run belongs to another corpus"):
        judge(task, asked.url)
    assert asked.requests == []


def test_a_query_with_one_candidate_needs_no_question(task):
    write_run(task / "first.trec.gz", {"q1": {"d1": 1.0}}, "first")
    with answering(by_words) as asked:
        ranked, answers, timing = judge(task, asked.url)
    assert ranked == {"q1": {"d1": 1.0}} and answers == [] and timing["queries_per_second"] is None


def test_the_key_stands_nowhere(task, monkeypatch, capfd):
    secret = "sk-1234567890abcdef"
    monkeypatch.setenv("LLM_KEY", secret)
    with answering(lambda request: said(f"[1] {secret}")) as asked:
        judge(task, asked.url, key="LLM_KEY")
    assert asked.headers[0]["Authorization"] == f"Bearer {secret}"
    for file in [path for path in task.rglob("*") if path.is_file()]:
        content = file.read_bytes()
        content = gzip.decompress(content) if file.suffix == ".gz" else content
        assert secret.encode() not in content and b"LLM_KEY" not in content, file
    assert secret not in "".join(capfd.readouterr())
