"""Shards from raw texts to vectors and runs: jobs of their own, the same bytes, and nothing else that runs again."""

import re

from tests.workflow.conftest import tiny_config

EMBEDDINGS = "results/tiny/embeddings/weather/bert/untrained/seed-0.npy"
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
    done = fresh.snakemake(SEARCHED)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    whole = {name: (fresh.folder / name).read_bytes() for name in (EMBEDDINGS, SEARCHED)}
    config["shards"] = 3
    fresh.write_config(config, "sharded.yaml")
    planned = fresh.planned("sharded.yaml")
    shards = [f"encode_shard weather bert untrained seed-0 {place}-of-3" for place in range(3)]
    searches = [f"retrieve_shard weather zero-shot seed-0 {place}-of-3" for place in range(3)]
    assert {job for job in planned if re.search("shard|join|^retrieve|^rerank|^encode", job)} == {
        *shards,
        "join_shards weather bert untrained seed-0",
        *(f"encode_passages_shard weather 40 bert untrained seed-0 {place}-of-3" for place in range(3)),
        "join_passages_shards weather 40 bert untrained seed-0",
        *searches,
        *(f"retrieve_shard weather passages seed-0 {place}-of-3" for place in range(3)),
        *(f"rerank_shard weather reranker seed-1 {place}-of-3" for place in range(3)),
        *(f"join_runs weather {system}" for system in ("zero-shot seed-0", "passages seed-0", "reranker seed-1")),
    }
    for name in whole:
        (fresh.folder / name).unlink()
    done = fresh.snakemake(SEARCHED, config="sharded.yaml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    ran = set(re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE))
    assert ran == {
        *shards,
        "join_shards weather bert untrained seed-0",
        *searches,
        "join_runs weather zero-shot seed-0",
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
    planned = {job.removesuffix(f" {place}-of-2") for job in fresh.planned() for place in range(2)}
    searched = {job.split(" seed")[0] for job in planned if re.search("quantised|approx.*near", job)}
    assert {job for job in searched if job.startswith("retrieve")} == {
        *(f"retrieve_quantised_shard weather {name}" for name in codes),
        "retrieve_approximate_shard weather near",
    }
    scored = {job.split()[0] for job in planned if "score_" in job or "join_" in job}
    assert scored == {
        *("score_candidates_shard", "join_candidates", "score_examples_shard", "join_examples"),
        *("join_shards", "join_token_indices", "join_sparse_indices", "join_runs"),
    }
    own = {job for job in planned if "late" in job or "splade" in job}
    assert {job for job in own if not job.startswith("score ") and "-of-" not in job} == {
        *("weights late", "weights splade"),
        *(
            "encode_multi_vector_shard weather late untrained seed-0",
            "encode_sparse_shard weather splade untrained seed-0",
        ),
        *("join_token_indices weather late untrained seed-0", "join_sparse_indices weather splade untrained seed-0"),
        *("retrieve_multi_vector_shard weather late seed-0", "retrieve_sparse_shard weather splade seed-0"),
        *("join_runs weather late seed-0", "join_runs weather splade seed-0"),
    }
