"""What the jobs that rank are given, on a small experiment."""

import pytest

from scripts.experiment.resolution import resolve
from scripts.inference import planning
from tests.experiment.test_config import changed

EXPERIMENT = resolve(
    changed(
        {
            "systems/zero": {"model": "m"},
            "systems/reranker": {"model": "ce", "rerank": {"first_stage": "tuned", "depth": 7}},
            "systems/by-vectors": {"model": "m", "rerank": {"first_stage": "bm25", "vectors": "corpus"}},
            "systems/candidates": {
                "model": "m",
                "rerank": {"first_stage": "bm25", "depth": 9, "vectors": "candidates"},
            },
            "systems/passages": {"model": "m", "long_documents": "passages", "rerank": {"first_stage": "bm25"}},
        }
    ),
    "c.yaml",
)


@pytest.mark.parametrize(
    ("system", "seed", "expected"),
    [
        ("zero", "0", "results/e/models/m/untrained/seed-0"),
        ("tuned", "2", "results/e/models/m/r/seed-2"),
        ("reranker", "2", "results/e/models/ce/untrained/seed-0"),
    ],
)
def test_a_system_ranks_with_the_checkpoint_of_its_seed(system, seed, expected):
    assert planning.checkpoint(EXPERIMENT, system, "d", seed) == expected


def test_shards_are_joined_as_the_script_that_ranks_cuts_them():
    codes = {"precision": "int8"}
    systems = {
        "alone": {"model": "m", "embeddings": codes | {"rescore": False}},
        "again": {"model": "m", "embeddings": codes},
        "near": {"model": "m", "approximate": {"index": "HNSW32"}},
    }
    told = {f"systems/{name}": system for name, system in systems.items()}
    told |= {"systems/zero": {"model": "m"}, "systems/reranker": {"model": "ce", "rerank": {"first_stage": "bm25"}}}
    experiment = resolve(changed(told | {"shards": 3}), "c.yaml")
    cut = {name: planning.joining_settings(experiment, name, 0)["shards_of"] for name in (*systems, "zero", "reranker")}
    assert cut == dict.fromkeys(("zero", "alone"), "documents") | dict.fromkeys(
        ("again", "near", "reranker"), "queries"
    )


def test_what_searches_all_vectors_or_is_told_to_reads_an_encoded_corpus():
    length = EXPERIMENT.systems["passages"].passage_length
    searched = planning.embeddings(EXPERIMENT, "zero", "d", "0")
    assert searched == planning.embeddings(EXPERIMENT, "by-vectors", "d", "0") and searched
    assert planning.embeddings(EXPERIMENT, "candidates", "d", "0") == []
    assert planning.embeddings(EXPERIMENT, "tuned", "d", "2") == "results/e/embeddings/d/m/r/seed-2.npy"
    assert planning.embeddings(EXPERIMENT, "reranker", "d", "0") == []
    assert planning.embeddings(EXPERIMENT, "passages", "d", "0") == (
        f"results/e/embeddings/d/passages-{length}/m/untrained/seed-0.npy"
    )
    assert planning.corpus(EXPERIMENT, "passages", "d") == f"results/e/passages/d/{length}/corpus.jsonl"
    assert planning.queries(EXPERIMENT, "tuned", "d") == "results/e/data/d/queries/test.jsonl"


def test_a_reranker_reads_the_run_of_a_seed_that_its_first_stage_has():
    assert planning.first_stage(EXPERIMENT, "reranker", "d", "2") == "results/e/runs/d/tuned/seed-2.trec.gz"
    assert planning.first_stage(EXPERIMENT, "reranker", "d", "9") == "results/e/runs/d/tuned/seed-1.trec.gz"


def test_settings_hold_what_a_ranking_depends_on_and_no_more():
    searched = planning.ranking_settings(EXPERIMENT, "tuned", "2")
    assert searched.keys() == {"type", "max_length", "batch_size", "depth", "tag"} and searched["tag"] == "tuned-2"
    reranked = planning.ranking_settings(EXPERIMENT, "reranker", "0")
    assert (reranked["depth"], reranked["type"]) == (7, "cross-encoder") and "passage_length" not in reranked
