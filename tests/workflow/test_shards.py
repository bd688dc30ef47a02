"""Encoding in shards from raw texts to vectors: jobs of their own, the same bytes, and nothing else that runs again."""

import re

from tests.workflow.conftest import tiny_config

EMBEDDINGS = "results/tiny/embeddings/weather/bert/untrained/seed-0.npy"


def test_shards_are_jobs_whose_vectors_are_those_of_one(fresh):
    config = tiny_config()
    config["models"]["bert"]["batch_size"] = 1  # chunks of 32 documents, so that 60 are two
    config["systems"] = {
        "zero-shot": {"model": "bert"},
        "passages": {"model": "bert", "long_documents": "passages", "passage_length": 40},
    }
    config |= {"recipes": {}, "comparisons": {"c": {"control": "zero-shot", "treatment": "passages"}}}
    fresh.write_config(config)
    done = fresh.snakemake(EMBEDDINGS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    whole = (fresh.folder / EMBEDDINGS).read_bytes()
    config["shards"] = 3
    fresh.write_config(config, "sharded.yaml")
    planned = fresh.planned("sharded.yaml")
    shards = [f"encode_shard weather bert untrained seed-0 {place}-of-3" for place in range(3)]
    assert {job for job in planned if "shard" in job} == {
        *shards,
        "join_shards weather bert untrained seed-0",
        *(f"encode_passages_shard weather 40 bert untrained seed-0 {place}-of-3" for place in range(3)),
        "join_passages_shards weather 40 bert untrained seed-0",
    }
    (fresh.folder / EMBEDDINGS).unlink()
    done = fresh.snakemake(EMBEDDINGS, config="sharded.yaml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    ran = set(re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE))
    assert ran == {*shards, "join_shards weather bert untrained seed-0"}
    assert (fresh.folder / EMBEDDINGS).read_bytes() == whole
