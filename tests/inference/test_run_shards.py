"""A run that is made in shards is the same bytes as in one job, whatever their number, for each way to rank; timings.

Some queries exclude documents, which no search finds: beside it stands what a search to the end finds without them.
"""

import json
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from ranktrial.common.errors import UserError
from ranktrial.inference import exact
from ranktrial.inference.indices import quantised_vectors
from ranktrial.inference.indices import terms as term_index
from ranktrial.inference.shards import part
from ranktrial.ir.collection import Document, without, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_run
from ranktrial.models.adapters import adapter
from ranktrial.models.types import cross_encoder
from scripts.inference import join_runs
from scripts.inference.encode import encode
from scripts.inference.join_runs import joined_timing
from scripts.inference.make_index import make_index
from scripts.inference.rerank import rerank
from scripts.inference.score_all import score_all
from scripts.inference.search import search
from tests.support.calling import call
from tests.support.tiny_bert import build, build_masked
from tests.support.tiny_task import WORDS

SPEEDS = ("search_queries_per_second", "exact_search_queries_per_second")
LENGTHS = {"max_length": 16, "batch_size": 4}
RANKED = {"depth": 12, "tag": "tiny"}
# how a run is made -> the kind of its model, and the form of the index that is searched or the script that ranks
WAYS = {
    "vectors": ("bi-encoder", "vectors"),
    "terms": ("sparse-encoder", "terms"),
    "float16": ("bi-encoder", "quantised-vectors"),
    "int8": ("bi-encoder", "quantised-vectors"),
    "binary": ("bi-encoder", "quantised-vectors"),
    "int8 again": ("bi-encoder", "quantised-vectors"),
    "binary again": ("bi-encoder", "quantised-vectors"),
    "HNSW8": ("bi-encoder", "approximate"),
    "IVF4,SQ8": ("bi-encoder", "approximate"),
    "token vectors": ("multi-vector", "token-vectors"),
    "re-ranking": ("cross-encoder", rerank),
    "all pairs": ("cross-encoder", score_all),
}
FEW = ("vectors", "re-ranking", "int8 again", "HNSW8")  # a work by documents, and each that is split by queries
MADE_OF_VECTORS = ("quantised-vectors", "approximate")


EXCLUDED = {f"q{n}": {f"d{n}", f"d{n + 20}", "d21", "d99", "gone"} for n in range(0, 51, 2)}


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Path:
    """A model of each kind; texts, many of them the same, queries, and a first stage's run with 2,000 pairs."""
    folder = tmp_path_factory.mktemp("task")
    build(folder / "bi-encoder", [" ".join(WORDS)], seed=1)
    build_masked(folder / "sparse-encoder", [" ".join(WORDS)], seed=1)
    torch.manual_seed(1)
    late = adapter("multi-vector").load(folder / "bi-encoder", 16, to_train=True)
    late.save_pretrained(str(folder / "multi-vector"), create_model_card=False)
    cross = cross_encoder.load(folder / "bi-encoder", 16, to_train=True)
    cross.save_pretrained(str(folder / "cross-encoder"), create_model_card=False)
    texts = [" ".join(WORDS[n % 20 : n % 20 + 1 + n % 7]) for n in range(100)]
    write_corpus(folder / "corpus.jsonl", [Document(f"d{n}", "", text) for n, text in enumerate(texts)])
    queries = {f"q{n}": f"{WORDS[n % 20]} {WORDS[n % 7]}" for n in range(51)}
    write_queries(folder / "queries.jsonl", queries, EXCLUDED)
    write_queries(folder / "all.jsonl", queries)
    first = {f"q{n}": {f"d{m}": float(m) for m in range(40)} for n in range(50)}
    write_run(folder / "first.trec", first, "first")
    return folder


def ranked(task: Path, way: str, name: str, out: Path, **settings) -> tuple[Path, Path]:
    """Rank in one way; gives the run and its timing."""
    kind, script = WAYS[way]
    queries = task / ("all.jsonl" if name == "all" else "queries.jsonl")
    paths = {"checkpoint": task / kind, "corpus": task / "corpus.jsonl", "queries": queries}
    paths |= {"index": out / (way if script in MADE_OF_VECTORS else "index")} if kind != "cross-encoder" else {}
    paths |= {"vectors": out / "index"} if script == "approximate" else {}
    paths |= {"first_stage": task / "first.trec"} if way == "re-ranking" else {}
    backend = {"backend": "torch"} if kind == "cross-encoder" else {}
    depth = {"depth": 40} if way == "re-ranking" else {}
    made = out / f"{name}.trec", out / f"{name}.json"
    given = {**backend, **depth, **({"form": script} if isinstance(script, str) else {})}
    if script == "quantised-vectors":
        given |= {"embeddings": {"precision": way.split()[0], "rescore_multiplier": 2 * ("again" in way)}}
    if script == "approximate":
        given |= {"approximate": {"index": way}}
    settings = {"type": kind, **LENGTHS, **RANKED, **given, **settings}
    call(search if isinstance(script, str) else script, settings, **paths, run=made[0], timing=made[1])
    return made


def check_excluded(run: dict, every: dict, way: str) -> None:
    """What is excluded is left out before the cut: of an exact search the run is then the first of what `every` has."""
    left = {query: without(scores, EXCLUDED.get(query, ()), RANKED["depth"]) for query, scores in every.items()}
    assert any(EXCLUDED.get(query, set()) & set(list(every[query])[: RANKED["depth"]]) for query in run)
    assert not any(EXCLUDED.get(query, set()) & scores.keys() for query, scores in run.items())
    if "again" in way or "," in way or "HNSW" in way:  # what is looked at depends on how many are searched for
        assert [len(scores) for scores in run.values()] == [RANKED["depth"]] * 51
    else:
        assert {query: list(scores) for query, scores in run.items()} == {q: list(s) for q, s in left.items() if s}


@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.long] * (way not in FEW)) for way in WAYS])
def test_the_run_is_the_same_for_any_number_of_shards(task, way, tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "DOCUMENTS", 16)
    monkeypatch.setattr(term_index, "ENTRIES", 40)
    monkeypatch.setattr(quantised_vectors, "ROWS", 16)
    kind, script = WAYS[way]
    if kind != "cross-encoder":
        call(encode, {"type": kind, **LENGTHS}, checkpoint=task / kind, corpus=task / "corpus.jsonl",
             timing=tmp_path / "e.json", index=tmp_path / "index")  # fmt: skip
    made_of = {"vectors": tmp_path / "index", "index": tmp_path / way, "timing": tmp_path / "q.json"}
    if script in MADE_OF_VECTORS:
        call(make_index, {"form": script, "name": way.split()[0]}, **made_of)
    whole, timing = ranked(task, way, "whole", tmp_path)
    of_one = json.loads(timing.read_text())
    if way != "re-ranking":  # a first stage's run has none of what is excluded
        check_excluded(read_run(whole), read_run(ranked(task, way, "all", tmp_path, depth=100)[0]), way)
    for of in (3, 16) if way == "all pairs" else (3,):
        shards = [ranked(task, way, f"{place}-of-{of}", tmp_path, shard=[place, of]) for place in range(of)]
        runs, timings = (list(files) for files in zip(*shards, strict=True))
        assert sum(bool(read_run(run)) for run in runs) > 1  # the work was split
        by_queries = kind == "cross-encoder" or "again" in way or script == "approximate"
        join = {"shards_of": "queries" if by_queries else "documents", **RANKED}
        join |= {"depth": 40} if way == "re-ranking" else {}
        joined = tmp_path / f"{of}.trec", tmp_path / f"{of}.json"
        call(join_runs.join_runs, join, shards=runs, timings=timings, queries=task / "queries.jsonl",
             run=joined[0], timing=joined[1])  # fmt: skip
        assert joined[0].read_bytes() == whole.read_bytes()
        reported = json.loads(joined[1].read_text())
        assert reported.keys() == of_one.keys() | {"shards"} and reported["shards"] == of
        same = {"queries", "documents", "pairs", "passage_pairs", "depth", "flops", "index_bytes", "weights_bytes"}
        same |= {"recall_queries"}
        assert {key: reported[key] for key in same & reported.keys()} == {
            key: of_one[key] for key in same & of_one.keys()
        }
        assert reported.get("recall") == pytest.approx(of_one.get("recall"))
        assert reported["seconds"] == pytest.approx(sum(json.loads(path.read_text())["seconds"] for path in timings))
        assert reported["queries_per_second"] == pytest.approx(reported["queries"] / reported["seconds"])


@pytest.mark.parametrize("of", [1, 3, 16])
def test_a_part_is_of_about_as_many_as_the_others(of):
    for count in (0, 1, 5, 16, 100):
        parts = [part(range(count), [place, of]) for place in range(of)]
        assert [one for its in parts for one in its] == list(range(count))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
        assert all(one.stop == other.start for one, other in pairwise(parts))


def test_latencies_add_up_over_documents_and_stand_side_by_side_over_queries():
    machine = {"device": "cpu", "processor": "P", "peak_rss_bytes": 1, "peak_gpu_bytes": 0}
    one = machine | {"seconds": 1.0, "queries": 3, "queries_per_second": 3.0, "shard": [0, 2]}

    def timings() -> list[dict]:
        return [one | {"single_seconds": [0.001, 0.002, 0.003]}, one | {"single_seconds": [0.004, 0.006]}]

    reported = joined_timing(timings(), "documents", queries=2)  # one of three found nothing
    assert (reported["queries"], reported["latency_ms"]["n"]) == (3, 2)
    assert reported["latency_ms"]["mean"] == pytest.approx(6.5) and reported["queries_per_second"] == 1.5
    reported = joined_timing(timings(), "queries", queries=5)  # one is in both
    assert (reported["queries"], reported["latency_ms"]["n"], reported["queries_per_second"]) == (5, 5, 2.5)
    assert reported["latency_ms"]["p50"] == pytest.approx(3)
    near = {"recall": 0.5, "recall_queries": 30, "search_queries_per_second": 10.0}
    near = [
        near | {"exact_search_queries_per_second": 5.0},
        {"recall": 1.0, "recall_queries": 10} | dict.fromkeys(SPEEDS, 10.0),
    ]
    reported = joined_timing([one | more for one, more in zip(timings(), near, strict=True)], "queries", queries=5)
    assert (reported["recall"], reported["recall_queries"]) == (0.625, 40)  # of all queries that were compared
    assert [reported[key] for key in SPEEDS] == [10, pytest.approx(40 / 7)]  # in 3 + 1 and 6 + 1 seconds
    reported = joined_timing([timings()[0], timings()[1] | near[1]], "queries", queries=5)
    assert (reported["recall"], reported["recall_queries"]) == (
        1,
        10,
    )  # the first has none of the queries that are compared


def test_mistakes_are_one_line(task, tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / name, {"q1": {"d1": 1.0}}, "t")
    with pytest.raises(UserError, match="b: document d1 of query q1 is in another shard too; rank again"):
        join_runs.join([tmp_path / "a", tmp_path / "b"], 10)
    call(encode, {"type": "bi-encoder", **LENGTHS}, checkpoint=task / "bi-encoder",
         corpus=task / "corpus.jsonl", index=tmp_path / "e.index", timing=tmp_path / "e.json")  # fmt: skip
    with pytest.raises(UserError, match="shard: pairs are scored in shards, and this model compares vectors"):
        paths = {name: task / f"{name}.jsonl" for name in ("corpus", "queries")}
        settings = {"type": "bi-encoder", "backend": "torch", **LENGTHS, **RANKED, "shard": [0, 2]}
        call(rerank, settings, checkpoint=task / "bi-encoder", **paths, index=tmp_path / "e.index",
             first_stage=task / "first.trec", run=tmp_path / "r", timing=tmp_path / "t")  # fmt: skip


def test_sums_of_codes_that_differ_beyond_32_bits_are_cut_as_a_search_cuts_them(tmp_path):
    """Of 1,200 dimensions a sum may be above 2^24, from which on trec_eval holds two whole numbers as one."""
    large = 2.0**24
    write_run(tmp_path / "0.trec", {"q": {"a": large + 1, "b": large}}, "t")
    write_run(tmp_path / "1.trec", {"q": {"c": large, "d": 1.0}}, "t")
    files = [tmp_path / "0.trec", tmp_path / "1.trec"]
    assert join_runs.join(files, 1) == {"q": {"a": large + 1}}
    assert list(join_runs.join(files, 2)["q"]) == ["a", "c"]  # of equal ones the higher id
