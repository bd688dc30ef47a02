"""Shards from raw texts to vectors and runs: jobs of their own, the same bytes, and nothing else that runs again."""

import re

from tests.workflow.conftest import tiny_config

EMBEDDINGS = "results/tiny/embeddings/weather/bert/untrained/seed-0.vectors/vectors.npy"
PAIRS = {
    "negatives": "human-labels_bm25-candidates_all-queries",
    "teachers": "human-labels_3-bm25-negatives_all-queries",
}
SEARCHED = "results/tiny/runs/weather/zero-shot/seed-0.trec.gz"


def test_shards_are_jobs_whose_vectors_are_those_of_one(fresh):
    config = tiny_config()
    config["models"]["bert"]["batch_size"] = 1  # chunks of 32 documents, so that 60 are two
    config["systems"] = {
        "zero-shot": {"model": "bert"},
        "passages": {"model": "bert", "long_documents": "passages", "passage_length": 40},
        "reranker": {"model": "bert-ce", "recipe": "random", "rerank": {"first_stage": "zero-shot", "depth": 5}},
    }
    del config["recipes"]["hard"]
    config["comparisons"] = {"c": {"control": "zero-shot", "treatment": ["passages", "reranker"]}}
    fresh.write_config(config)
    fresh.run(SEARCHED)
    whole = {name: (fresh.folder / name).read_bytes() for name in (EMBEDDINGS, SEARCHED)}
    config["shards"] = 3
    fresh.write_config(config, "sharded.yaml")
    planned = fresh.planned("sharded.yaml")
    shards = [f"encode weather bert untrained seed-0.shards/{place}-of-3" for place in range(3)]
    searches = [f"retrieve weather zero-shot seed-0.shards/{place}-of-3" for place in range(3)]
    assert {job for job in planned if re.search("shard|join|^retrieve|^rerank|^encode", job)} == {
        *shards,
        "join weather bert untrained seed-0",
        *(f"encode weather/passages-40 bert untrained seed-0.shards/{place}-of-3" for place in range(3)),
        "join weather/passages-40 bert untrained seed-0",
        *searches,
        *(f"retrieve weather passages seed-0.shards/{place}-of-3" for place in range(3)),
        *(f"rerank weather reranker seed-1.shards/{place}-of-3" for place in range(3)),
        *(f"join_runs runs/weather {system}" for system in ("zero-shot seed-0", "passages seed-0", "reranker seed-1")),
    }
    for name in whole:
        (fresh.folder / name).unlink()
    fresh.run(SEARCHED, config="sharded.yaml")
    assert set(fresh.ran()) == {
        *shards,
        "join weather bert untrained seed-0",
        *searches,
        "join_runs runs/weather zero-shot seed-0",
    }
    assert {name: (fresh.folder / name).read_bytes() for name in whole} == whole


def test_other_indices_and_what_mining_and_a_teacher_score_are_in_shards_too(fresh):
    config = tiny_config() | {"shards": 2}
    recipe = {"train_on": "weather", "epochs": 1, "batch_size": 8, "learning_rate": 0.001}
    filtered = {"per_query": 2, "cross_encoder": "reranker", "min_score": -9.0}
    config["recipes"] |= {"filtered": recipe | {"negatives": filtered}, "student": recipe | {"teacher": "reranker"}}
    config["systems"] |= {name: {"model": "bert", "recipe": name} for name in ("filtered", "student")}
    for name, kind in (("late", "multi-vector"), ("splade", "sparse-encoder")):
        config["models"][name] = config["models"]["bert"] | {"type": kind}
        config["systems"][name] = {"model": name}
    codes = {"half": {"precision": "float16"}, "again": {"precision": "int8"}}
    codes["signs"] = {"precision": "binary", "rescore": False}
    config["systems"] |= {name: {"model": "bert", "embeddings": given} for name, given in codes.items()}
    config["systems"]["near"] = {"model": "bert", "approximate": {"index": "HNSW8"}}
    fresh.write_config(config)
    planned = {re.sub(r"\.shards/\d-of-2$", " in parts", job) for job in fresh.planned()}
    assert {job for job in planned if re.match("retrieve weather (half|again|signs|near) ", job)} == {
        f"retrieve weather {name} seed-0 in parts" for name in (*codes, "near")
    }
    assert {job for job in planned if job.startswith("score_pairs ")} == {
        f"score_pairs {scored} weather {pairs} reranker seed-1 in parts" for scored, pairs in PAIRS.items()
    }
    assert {job for job in planned if job.startswith("join") and "human" in job} == {
        f"join_runs {scored}/weather/{pairs} reranker seed-1" for scored, pairs in PAIRS.items()
    }
    own = {job for job in planned if re.search(" (late|splade) ", job) and not job.startswith("score ")}
    assert own == {
        *(
            f"{how} weather {name} untrained seed-0{of}"
            for name in ("late", "splade")
            for how, of in (("encode", " in parts"), ("join", ""))
        ),
        *(f"retrieve weather {name} seed-0 in parts" for name in ("late", "splade")),
        *(f"join_runs runs/weather {name} seed-0" for name in ("late", "splade")),
    }
