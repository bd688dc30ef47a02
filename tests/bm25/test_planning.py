"""What the jobs of first stages are given, on a small experiment."""

import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from ranktrial.common.keys import given
from ranktrial.experiment.descriptions import describe
from scripts.bm25 import planning
from tests.experiment.test_config import resolved

REPOSITORY = Path(__file__).parents[2]
SYSTEMS = {
    "plain": {"type": "bm25"},
    "tuned": {"type": "bm25", "tune": True, "analyzer": "standard", "fields": "best"},
    "server": {"type": "bm25", "engine": "elasticsearch", "url": "http://h:9200"},
    "feedback": {"type": "bm25", "feedback": "rm3"},
    "likelihood": {"type": "query-likelihood"},
}
EXPERIMENT = resolved(
    {
        "systems": SYSTEMS,
        "comparisons": {},
        "datasets/half": {"format": "beir", "location": "tests", "corpus": "d"},
        "tasks": ["d", "half/dev"],
    }
)
TWO_LANGUAGES = resolved(
    {
        "systems": SYSTEMS | {"named": {"type": "bm25", "analyzer": "english"}},
        "comparisons": {},
        "datasets/german": {"format": "beir", "location": "docs", "language": "de"},
        "datasets/queries": {"format": "beir", "location": "tests", "corpus": "german"},
        "tasks": ["d", "german", "queries/dev"],
        "features": {"own": {"first_stage": "plain", "of": ["BM25"]}},
    }
)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("plain", "results/e/bm25/d/index"),
        ("likelihood", "results/e/bm25/d/index"),
        ("tuned", "results/e/bm25/d/index-standard-best"),
        ("server", "results/e/bm25/d/server.elasticsearch.json"),
        ("feedback", "results/e/bm25/d/index-english-together-vectors"),
    ],
)
def test_a_system_searches_the_index_of_its_analyser_and_fields_on_the_shared_corpus(system, expected):
    assert planning.index_of_task(EXPERIMENT, system, "d") == expected
    assert planning.index_of_task(EXPERIMENT, system, "half-dev") == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("", {"analyzer": "english", "fields": "together"}),
        ("-standard-best", {"analyzer": "standard", "fields": "best"}),
        ("-de-together-vectors", {"analyzer": "de", "fields": "together", "vectors": True}),
    ],
)
def test_an_index_is_named_after_its_settings(how, expected):
    assert planning.index_settings(how) == expected
    assert planning.analysis_settings(expected["analyzer"]) == {"analyzer": expected["analyzer"]}


@pytest.mark.parametrize(("python", "lucene"), [((3, 11, 9), 9), ((3, 12, 0), 10), ((3, 13, 0), 10)])
def test_what_is_planned_before_set_up_installs_pyserini_is_not_made_again_afterwards(python, lucene, monkeypatch):
    lock = (REPOSITORY / "requirements.lock").read_text()
    first, second = re.findall(r"^pyserini==(\S+) ; python_full_version (?:<|>=) '3\.12'", lock, re.MULTILINE)
    monkeypatch.setattr(planning.sys, "version_info", python)
    monkeypatch.setattr(planning, "version", lambda name: first if python < (3, 12) else second)
    installed = planning.analysis_settings("ko")

    def not_yet(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(planning, "version", not_yet)
    assert planning.analysis_settings("ko") == installed == {"analyzer": "ko", "lucene": lucene}


def test_only_a_tuned_system_reads_parameters_and_is_given_none():
    assert planning.tuned_parameters(EXPERIMENT, "tuned", "half-dev") == "results/e/bm25/half/tuned.parameters.json"
    assert planning.tuned_parameters(EXPERIMENT, "plain", "d") == []
    common = {"depth": EXPERIMENT.depth}
    pyserini = {"analyzer": "english", "fields": "together"}
    reported = {system: planning.search_settings(EXPERIMENT, system, "d") for system in SYSTEMS}
    assert reported["tuned"] == {**common, "analyzer": "standard", "fields": "best", "tag": "tuned"}
    assert reported["plain"] == {**common, **pyserini, "k1": 0.9, "b": 0.4, "tag": "plain"}
    assert reported["likelihood"] == {**common, **pyserini, "mu": 1000.0, "tag": "likelihood"}
    rm3 = {"feedback_terms": 10, "feedback_documents": 10, "original_query_weight": 0.5}
    assert reported["feedback"] == reported["plain"] | {"feedback": {"rm3": rm3}, "tag": "feedback"}


def test_a_system_keeps_as_many_documents_as_it_says():
    deep = {"type": "bm25", "depth": 10000}
    server = {**deep, "engine": "elasticsearch", "url": "http://h:9200"}
    asked = {"systems": {"plain": {"type": "bm25"}, "deep": deep, "server": server}, "comparisons": {}}
    experiment = resolved(asked)
    reported = {name: planning.search_settings(experiment, name, "d")["depth"] for name in experiment.systems}
    assert reported == {"plain": 1000, "deep": 10000, "server": 10000}
    assert planning.index_elasticsearch_settings(experiment, "server")["depth"] == 10000
    assert "10000 documents kept" in describe(experiment, experiment.systems["deep"])
    assert "kept" not in describe(experiment, experiment.systems["plain"])


def test_tuning_is_given_what_it_was_given_before_there_were_languages():
    assert planning.tuning_settings(EXPERIMENT, "tuned", "d") == given(EXPERIMENT.systems["tuned"].settings) == {
        "analyzer": "standard", "fields": "best", "measure": "nDCG@10", "depth": 10,
        "k1": [0.6, 0.9, 1.2, 1.5, 2.0], "b": [0.2, 0.4, 0.6, 0.75, 0.9],
    }  # fmt: skip


def test_negatives_come_from_pyserinis_bm25_whatever_the_systems():
    assert planning.pyserini_index(EXPERIMENT, "half") == "results/e/bm25/d/index"
    assert planning.training_search_settings(EXPERIMENT, "half") == {
        "k1": 0.9, "b": 0.4, "analyzer": "english", "fields": "together", "depth": 200, "tag": "bm25",
    }  # fmt: skip


@pytest.mark.parametrize("task", ["german", "queries-dev"])
def test_documents_and_all_their_queries_have_the_analyser_of_their_language(task):
    of_german = "results/e/bm25/german/index"
    indices = {name: planning.index_of_task(TWO_LANGUAGES, name, task) for name in TWO_LANGUAGES.systems}
    assert indices == {
        "plain": f"{of_german}-de-together",
        "likelihood": f"{of_german}-de-together",
        "tuned": f"{of_german}-standard-best",
        "server": "results/e/bm25/german/server.elasticsearch.json",
        "feedback": f"{of_german}-de-together-vectors",
        "named": of_german,
    }
    assert planning.search_settings(TWO_LANGUAGES, "plain", task)["analyzer"] == "de"
    assert planning.search_settings(TWO_LANGUAGES, "named", task)["analyzer"] == "english"
    assert planning.pyserini_index(TWO_LANGUAGES, task.removesuffix("-dev")) == f"{of_german}-de-together"
    assert planning.training_search_settings(TWO_LANGUAGES, task.removesuffix("-dev"))["analyzer"] == "de"


def test_another_language_beside_it_changes_no_job_of_english():
    assert planning.index_of_task(TWO_LANGUAGES, "plain", "d") == planning.index_of_task(EXPERIMENT, "plain", "d")
    for system in SYSTEMS:
        of_both = [planning.search_settings(one, system, "d") for one in (EXPERIMENT, TWO_LANGUAGES)]
        assert of_both[0] == of_both[1]
    assert planning.tuning_settings(EXPERIMENT, "tuned", "d") == planning.tuning_settings(TWO_LANGUAGES, "tuned", "d")
