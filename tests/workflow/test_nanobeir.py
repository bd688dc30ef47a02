"""config/nanobeir.yaml from an imitation of the hub to its prediction interval, with four small collections and models."""

import random
import subprocess
import sys

import pandas as pd
import pytest

from ranktrial.common.tables import COMPARISONS, read_table
from ranktrial.configuration.reading import read_yaml
from ranktrial.ir.trec import read_run
from tests.datasets.test_hub import table
from tests.support.hub import serving
from tests.support.tiny_bert import build, build_labelling
from tests.workflow.conftest import REPOSITORY, TOPICS, WORDS

COLLECTIONS = ["arguana", "fiqa", "scifact", "touche2020"]
NOT_ASKED = b"no file of a collection"


def collection(seed, own):
    """Files as NanoBEIR's repositories have them: only the split `train`, no grades. `own`: queries are documents."""
    rng = random.Random(seed)
    documents = [
        {"_id": f"d{n}", "text": " ".join(rng.sample(TOPICS, 2) + rng.choices(WORDS[: 6 * seed], k=6))}
        for n in range(60)
    ]
    asked = documents[:30]
    queries = [
        one if own else {"_id": f"q{n}", "text": " ".join(one["text"].split()[:2] + rng.choices(WORDS, k=seed))}
        for n, one in enumerate(asked)
    ]
    relevant = [f"d{n + 1}" if own else f"d{n}" for n in range(30)]
    qrels = [{"query-id": one["_id"], "corpus-id": name} for one, name in zip(queries, relevant, strict=True)]
    parts = {"corpus": documents, "queries": queries, "qrels": qrels}
    return {f"{name}/train-00000-of-00001.parquet": table(rows) for name, rows in parts.items()} | {"x.bin": NOT_ASKED}


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
def test_the_shipped_configuration_ends_in_a_prediction_interval(fresh, tmp_path, monkeypatch):
    config = read_yaml(REPOSITORY / "config/nanobeir.yaml")
    config["datasets"] = {name: config["datasets"][name] for name in COLLECTIONS}
    config["tasks"] = COLLECTIONS
    for model in config["models"].values():
        model["max_length"] = 64  # all that the small models take
    fresh.write_config(config)
    bi, cross = config["models"]["minilm"], config["models"]["ms-marco"]
    hub = {
        one["location"].removeprefix("hub:"): {one["revision"]: collection(seed, one.get("own_document") == "drop")}
        for seed, one in enumerate(config["datasets"].values(), 1)
    }
    words = [*TOPICS, *WORDS]
    hub[bi["weights"]] = {bi["revision"]: files_of(build(tmp_path / "bi", words, seed=1))}
    hub[cross["weights"]] = {cross["revision"]: files_of(build_labelling(tmp_path / "ce", words, seed=1, labels=1))}
    with serving(hub) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        command = fresh.command("--until", "fetch_folder", python=sys.executable)  # warm processes never ask a hub
        subprocess.run(command, cwd=fresh.folder, check=True)
        assert sum(name.endswith(".parquet") for name in served.given) == 3 * len(COLLECTIONS)
        assert "x.bin" not in served.given
    fresh.run()
    results = fresh.folder / "results/nanobeir"
    ranked = read_run(results / "runs/arguana/bm25/seed-0.trec.gz")
    assert len(ranked) == 30 and not any(query in documents for query, documents in ranked.items())
    found = read_table(results / "tables/comparisons.tsv", *COMPARISONS)
    assert list(found["treatment"]) == ["minilm", "fusion", "reranker"] and set(found["k"]) == {len(COLLECTIONS)}
    assert (found["prediction_low"] < found["ci_low"]).all() and (found["ci_high"] < found["prediction_high"]).all()
    effects = pd.read_csv(results / "effects/against-bm25-reranker.tsv", sep="\t")
    assert list(effects["task"]) == COLLECTIONS
    shown = (results / "summary.md").read_text()
    assert shown.count("prediction interval") >= 3
