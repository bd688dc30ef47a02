"""Long documents in passages, all candidates and an ONNX model, from raw texts to runs."""

import hashlib
import json

import numpy as np
import pytest

from ranktrial.ir.trec import read_run
from tests.support.tiny_bert import vocabulary
from tests.support.tiny_onnx import cross_encoder
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.long

LENGTH = 40


def write_sentences(folder):
    """End a sentence after every second word of the documents, so that they have several passages. Gives all texts."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    for row in rows:
        words = [word.capitalize() if n % 2 == 0 else f"{word}." for n, word in enumerate(row["text"].split())]
        row["text"] = " ".join(words)
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [row["text"] for row in rows]


@pytest.fixture
def split_up(fresh):
    texts = write_sentences(fresh.folder / "data/weather")
    onnx = fresh.folder / "weights/onnx"
    onnx.mkdir()
    words = vocabulary([*texts, "."])
    (onnx / "vocab.txt").write_text("\n".join(words) + "\n")
    values = np.random.default_rng(1).standard_normal((len(words), 4)).astype(np.float32)
    cross_encoder(onnx / "model.onnx", values, np.ones((4, 1), np.float32), values[:2])
    split = {"long_documents": "passages", "passage_length": LENGTH}
    config = tiny_config()
    digest = hashlib.sha256((onnx / "model.onnx").read_bytes()).hexdigest()
    config["models"]["onnx"] = {"type": "cross-encoder", "backend": "onnx", "weights": "weights/onnx", "sha256": digest}
    config["recipes"] = {"passages": config["recipes"]["random"] | split | {"epochs": 0.2}}
    config["systems"] = {
        "plain": {"type": "bm25"},
        "search": {"model": "bert"} | split,
        "again": {"model": "bert", "rerank": {"first_stage": "plain", "depth": 5}} | split,
        "tuned": {"model": "bert", "recipe": "passages"} | split,
        "cross": {"model": "bert-ce", "recipe": "passages", "rerank": {"first_stage": "plain", "depth": 5}} | split,
        "cross-all": {"model": "bert-ce", "recipe": "passages", "candidates": "all"},
        "onnx": {"model": "onnx", "rerank": {"first_stage": "plain", "depth": 5}},
    }
    config["comparisons"] = {}
    fresh.write_config(config)
    seeds = {name: 1 if "recipe" in entry else 0 for name, entry in config["systems"].items()}
    fresh.run(*(f"results/tiny/runs/weather/{name}/seed-{seed}.trec.gz" for name, seed in seeds.items()))
    return fresh


def test_every_way_to_rank_split_texts(split_up):
    results = split_up.folder / "results/tiny"
    passages = [
        json.loads(line) for line in (results / f"passages/weather/{LENGTH}/corpus.jsonl").read_text().splitlines()
    ]
    assert len({row["_id"] for row in passages}) == 60 < len(passages)
    assert max(len(row["text"]) for row in passages) <= LENGTH
    encoded = sorted(
        str(path.relative_to(results / "embeddings")) for path in (results / "embeddings").rglob("*.vectors")
    )
    # one encoding per checkpoint, which searching and re-ranking share; no whole documents were encoded
    assert encoded == [
        f"weather/passages-{LENGTH}/bert/{recipe}.vectors" for recipe in ("passages/seed-1", "untrained/seed-0")
    ]
    runs = {path.parent.name: read_run(path) for path in (results / "runs").rglob("*.trec.gz")}
    assert {name: max(map(len, run.values())) for name, run in runs.items()} == {
        **{"plain": 20, "search": 20, "again": 5, "tuned": 20, "cross": 5, "cross-all": 20, "onnx": 5}
    }
    for query, documents in runs["again"].items():  # the same scores as in the whole search
        for name in documents.keys() & runs["search"][query].keys():
            assert documents[name] == pytest.approx(runs["search"][query][name], abs=1e-5)
    timing = {
        name: json.loads(next((results / f"runs/weather/{name}").glob("*.timing.json")).read_text()) for name in runs
    }
    assert timing["cross"]["passage_pairs"] > timing["cross"]["pairs"] == 5 * 15
    assert timing["cross-all"]["pairs"] == timing["cross-all"]["passage_pairs"] == 60 * 15
    assert (timing["onnx"]["backend"], timing["onnx"]["precision"]) == ("onnx", "fp32")
    another_length_reruns_what_splits_and_nothing_else(split_up)


def another_length_reruns_what_splits_and_nothing_else(split_up):
    path = split_up.folder / "tiny.yaml"
    path.write_text(path.read_text().replace(f"passage_length: {LENGTH}", "passage_length: 60", 1))  # the recipe's
    planned = split_up.planned()
    assert {"split weather 60 corpus", "split weather 60 queries/train", "fine_tune bert passages seed-1"} <= planned
    kept = ("index", "prepare", "negatives", "split weather 40", "encode weather/passages-40 bert untrained")
    assert not any(job.startswith(kept) for job in planned)
