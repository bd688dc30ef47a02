"""What the jobs that rank are given, on a small experiment."""

import re

import pytest

from scripts.inference import planning
from scripts.training.planning import training_settings
from tests.experiment.test_config import resolved

EXPERIMENT = resolved(
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
)


def inputs(system: str, seed: str = "0") -> dict[str, str]:
    """What a system ranks the task with."""
    return planning.ranking_inputs(EXPERIMENT, "runs/d", system, seed, "")


@pytest.mark.parametrize(
    ("system", "seed", "expected"),
    [
        ("zero", "0", "results/e/models/m/untrained/seed-0"),
        ("tuned", "2", "results/e/models/m/r/seed-2"),
        ("reranker", "2", "results/e/models/ce/untrained/seed-0"),
    ],
)
def test_a_system_ranks_with_the_checkpoint_of_its_seed(system, seed, expected):
    assert inputs(system, seed)["checkpoint"] == expected


def test_shards_are_joined_as_the_script_that_ranks_cuts_them():
    codes = {"precision": "int8"}
    systems = {
        "alone": {"model": "m", "embeddings": codes | {"rescore": False}},
        "again": {"model": "m", "embeddings": codes},
        "near": {"model": "m", "approximate": {"index": "HNSW32"}},
    }
    reported = {f"systems/{name}": system for name, system in systems.items()}
    reported |= {"systems/zero": {"model": "m"}, "systems/reranker": {"model": "ce", "rerank": {"first_stage": "bm25"}}}
    experiment = resolved(reported | {"shards": 3})
    cut = {
        name: planning.joining_settings(experiment, "runs/d", name, "0")["shards_of"]
        for name in (*systems, "zero", "reranker")
    }
    assert cut == dict.fromkeys(("zero", "alone"), "documents") | dict.fromkeys(
        ("again", "near", "reranker"), "queries"
    )


def test_what_searches_all_vectors_or_is_asked_to_reads_an_encoded_corpus():
    length = EXPERIMENT.systems["passages"].passage_length
    searched = inputs("zero")["index"]
    assert searched == inputs("by-vectors")["index"] == "results/e/embeddings/d/m/untrained/seed-0.vectors"
    assert inputs("tuned", "2")["index"] == "results/e/embeddings/d/m/r/seed-2.vectors"
    assert not {"index", "vectors"} & (inputs("candidates").keys() | inputs("reranker").keys())
    passages = inputs("passages")
    assert passages["index"] == f"results/e/embeddings/d/passages-{length}/m/untrained/seed-0.vectors"
    assert passages["corpus"] == f"results/e/passages/d/{length}/corpus.jsonl"
    assert inputs("tuned", "2")["queries"] == "results/e/data/d/queries/test.jsonl"


def test_an_index_that_is_made_of_vectors_is_searched_in_their_place():
    near = {"approximate": {"index": "IVF4,Flat"}}
    systems = {"codes": {"model": "m", "embeddings": {"precision": "int8"}}, "near": {"model": "m"} | near}
    experiment = resolved({f"systems/{name}": system for name, system in systems.items()})
    codes, found = (planning.ranking_inputs(experiment, "runs/d", name, "0", "") for name in systems)
    vectors = "results/e/embeddings/d/m/untrained/seed-0.vectors"
    assert codes["index"] == vectors.replace("vectors", "int8") and "vectors" not in codes
    assert (found["index"], found["vectors"]) == (vectors.replace("vectors", "IVF4_Flat"), vectors)
    assert {planning.ranking_script(experiment, "runs/d", name) for name in systems} == {"inference/search.py"}
    searches = [planning.ranking_modules(experiment, "runs/d", name)[0] for name in systems]
    assert searches == [f"ranktrial/inference/searches/{form}.py" for form in ("quantised_vectors", "approximate")]


def test_pairs_are_scored_by_re_ranking_and_all_of_them_kept():
    pairs = planning.ranking_inputs(EXPERIMENT, "negatives/d/pool", "reranker", "0", "")
    assert pairs["first_stage"] == "results/e/negatives/d/pool.trec.gz"
    assert pairs["queries"] == "results/e/data/d/queries/train.jsonl"
    assert planning.ranking_script(EXPERIMENT, "negatives/d/pool", "reranker") == "inference/rerank.py"
    assert planning.ranking_settings(EXPERIMENT, "negatives/d/pool", "reranker", "0")["depth"] == planning.EVERY


@pytest.mark.parametrize("shards", [1, 3])
def test_a_path_is_that_of_a_whole_or_of_a_part_and_never_of_both(shards):
    experiment = resolved({"systems/ce": {"model": "ce", "rerank": {"first_stage": "bm25"}}, "shards": shards})
    constraints = {
        name: re.compile(f"(?:{of(experiment)})/.*")
        for name, of in (
            ("whole", planning.ranked_whole),
            ("part", planning.ranked_in_parts),
            ("joined", planning.joined),
        )
    }

    def fitting(path: str) -> set[str]:
        return {name for name, constraint in constraints.items() if constraint.fullmatch(path)}

    in_one, in_parts = ({"whole"}, set()) if shards == 1 else ({"joined"}, {"part"})
    for place in ("runs/d/tuned/seed-1", "runs/d/ce/seed-0", "negatives/d/p/ce/seed-0", "teachers/d/x/ce/seed-0"):
        assert fitting(f"{place}.trec.gz") == fitting(f"{place}.timing.json") == in_one
        assert fitting(f"{place}.shards/0-of-3.trec.gz") == in_parts
    assert fitting("negatives/d/p/tuned/seed-1.trec.gz") == {"whole"}  # a model of vectors scores in one job
    assert fitting("runs/d/bm25/seed-0.trec.gz") == set()


def test_a_reranker_reads_the_run_of_a_seed_that_its_first_stage_has():
    assert inputs("reranker", "2")["first_stage"] == "results/e/runs/d/tuned/seed-2.trec.gz"
    assert inputs("reranker", "9")["first_stage"] == "results/e/runs/d/tuned/seed-1.trec.gz"


def test_jobs_are_given_kernels_where_they_are_not_the_default():
    plain = resolved({"kernels": "library"})
    rank = planning.ranking_settings
    assert "kernels" not in rank(EXPERIMENT, "runs/d", "tuned", "1") and "kernels" not in encoding(EXPERIMENT)
    assert rank(plain, "runs/d", "tuned", "1")["kernels"] == encoding(plain)["kernels"] == "library"
    assert training_settings(plain, "m", "r", "1")["kernels"] == "library"


def encoding(experiment) -> dict:
    return planning.encoding_settings(experiment, "d", "m")


def test_settings_hold_what_a_ranking_depends_on_and_no_more():
    searched = planning.ranking_settings(EXPERIMENT, "runs/d", "tuned", "2")
    assert searched.keys() == {"type", "max_length", "batch_size", "depth", "tag"} and searched["tag"] == "tuned-2"
    reranked = planning.ranking_settings(EXPERIMENT, "runs/d", "reranker", "0")
    assert (reranked["depth"], reranked["type"]) == (7, "cross-encoder") and "passage_length" not in reranked
