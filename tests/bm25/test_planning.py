"""What BM25's jobs are given, on a small experiment."""

import pytest

from scripts.bm25 import planning
from scripts.experiment.resolution import resolve
from tests.experiment.test_config import changed

SYSTEMS = {
    "plain": {"type": "bm25"},
    "tuned": {"type": "bm25", "tune": True, "analyzer": "standard", "fields": "best"},
    "server": {"type": "bm25", "engine": "elasticsearch", "url": "http://h:9200"},
}
EXPERIMENT = resolve(
    changed(
        {
            "systems": SYSTEMS,
            "comparisons": {},
            "datasets/half": {"format": "beir", "location": "tests", "corpus": "d"},
            "tasks": ["d", "half/dev"],
        }
    ),
    "c.yaml",
)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("plain", "results/e/bm25/d/index"),
        ("tuned", "results/e/bm25/d/index-standard-best"),
        ("server", "results/e/bm25/d/server.elasticsearch.json"),
    ],
)
def test_a_system_searches_the_index_of_its_analyser_and_fields_on_the_shared_corpus(system, expected):
    assert planning.index_of_task(EXPERIMENT, system, "d") == expected
    assert planning.index_of_task(EXPERIMENT, system, "half-dev") == expected


@pytest.mark.parametrize(
    ("how", "analyzer", "fields"), [("", "english", "together"), ("-standard-best", "standard", "best")]
)
def test_an_index_is_named_after_its_settings(how, analyzer, fields):
    assert planning.index_settings(how) == {"analyzer": analyzer, "fields": fields}


def test_only_a_tuned_system_reads_parameters_and_is_told_none():
    assert planning.tuned_parameters(EXPERIMENT, "tuned", "half-dev") == "results/e/bm25/half/tuned.parameters.json"
    assert planning.tuned_parameters(EXPERIMENT, "plain", "d") == []
    common = {"depth": EXPERIMENT.depth}
    assert planning.search_settings(EXPERIMENT, "tuned") == {
        **common, "analyzer": "standard", "fields": "best", "tag": "tuned",
    }  # fmt: skip
    assert planning.search_settings(EXPERIMENT, "plain") == {
        **common, "analyzer": "english", "fields": "together", "k1": 0.9, "b": 0.4, "tag": "plain",
    }  # fmt: skip


def test_negatives_come_from_pyserinis_bm25_whatever_the_systems():
    assert planning.pyserini_index(EXPERIMENT, "half") == "results/e/bm25/d/index"
    assert planning.training_search_settings() == {
        "k1": 0.9, "b": 0.4, "analyzer": "english", "fields": "together", "depth": 200, "tag": "bm25",
    }  # fmt: skip
