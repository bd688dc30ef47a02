"""Weighting models against numbers of Terrier's own classes (oracle/README.md), from statistics and from an index."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ranktrial.features.families import Matches, features_in
from ranktrial.features.sources import Matcher, Pairs
from ranktrial.ir.collection import Document, write_corpus
from ranktrial.ir.term_counts import TermCounts
from scripts.bm25 import index as index_script
from scripts.bm25.terms import Settings, analysed, count
from tests.support.term_counts import write_term_counts

ORACLE = Path(__file__).parent / "oracle"
MODELS = features_in("weighting-models")
PARAMETERS = {
    "bm25.k_1": "k1", "bm25.b": "b", "bm25.k_3": "k3", "tf_idf.k_1": "k1", "tf_idf.b": "b", "dfr.c": "c",
    "hiemstra_lm.lambda": "lambda", "dirichletlm.mu": "mu",
}  # fmt: skip
DOCUMENTS = json.loads((ORACLE / "toy_corpus.json").read_text())
QUERIES = json.loads((ORACLE / "toy_queries.json").read_text())


def rows_of(path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        return list(csv.DictReader(file, delimiter="\t"))


STATISTICS = rows_of(ORACLE / "scores.tsv.gz")
TOY = rows_of(ORACLE / "toy.tsv")
SETTINGS = sorted({(row["model"], row["parameters"]) for row in STATISTICS})


def keywords(parameters):
    """The oracle's parameters, by the names that a configuration gives them."""
    return {PARAMETERS[name]: float(value) for name, value in (one.split("=") for one in parameters.split(";") if one)}


def agree(model, computed, expected):
    tolerance = (1e-11 if model == "DFRee" else 1e-12) * np.maximum(1, np.abs(expected))
    assert (np.abs(computed - expected) <= tolerance).all()


def test_all_models_of_the_oracle_are_features():
    assert {model for model, _ in SETTINGS} == set(MODELS) and len(SETTINGS) == 26


@pytest.mark.parametrize(("model", "parameters"), SETTINGS)
def test_a_term_scores_as_in_terrier(model, parameters):
    rows = [row for row in STATISTICS if (row["model"], row["parameters"]) == (model, parameters)]
    names = ("tf", "doclen", "key_frequency", "df", "cf", "N", "tokens")
    columns = [np.array([float(row[name]) for row in rows]) for name in names]
    computed = MODELS[model].having(keywords(parameters)).function(Matches(np.arange(len(rows)), *columns))
    assert len(rows) == 215
    agree(model, computed, np.array([float(row["score"]) for row in rows]))


def scores(counts, model, parameters, key_frequencies=None):
    """(query, document) -> a model's whole score of each document of the toy corpus."""
    queries = {query: Counter(terms) for query, terms in QUERIES.items()}
    number = len(counts.ids)
    pairs = Pairs(
        list(queries), np.repeat(np.arange(len(queries)), number), np.tile(np.arange(number), len(queries)),
        np.zeros(number * len(queries)), np.zeros(number * len(queries)),
    )  # fmt: skip
    field = counts.fields["contents"]
    matches = Matcher(field, queries, np.arange(number)).match(pairs).matches
    terms = MODELS[model].having(keywords(parameters)).function(matches)
    values = np.bincount(matches.pair, weights=terms, minlength=len(pairs.query))
    return {
        (query, name): values[i * number + j] for i, query in enumerate(queries) for j, name in enumerate(counts.ids)
    }


def compare_with_toy(counts, mode="terrier"):
    compared = 0
    for model, parameters in sorted({(row["model"], row["parameters"]) for row in TOY}):
        rows = [row for row in TOY if (row["qtf_mode"], row["model"], row["parameters"]) == (mode, model, parameters)]
        computed = scores(counts, model, parameters)
        agree(
            model,
            np.array([computed[row["qid"], row["docno"]] for row in rows]),
            np.array([float(row["score"]) for row in rows]),
        )
        compared += len(rows)
    return compared


def test_documents_score_as_in_terrier(tmp_path):
    assert compare_with_toy(write_term_counts(tmp_path / "terms", DOCUMENTS)) == 546


def test_documents_score_as_in_terrier_from_a_lucene_index(tmp_path):
    """The standard analyser keeps every word of the toy corpus as it is."""
    write_corpus(tmp_path / "corpus.jsonl", [Document(name, "", " ".join(words)) for name, words in DOCUMENTS.items()])
    how = {"analyzer": "standard", "fields": "together"}
    index_script.build(tmp_path / "corpus.jsonl", tmp_path / "index", how)
    count(tmp_path / "index", tmp_path / "terms", Settings(**how))
    assert analysed({name: " ".join(words) for name, words in QUERIES.items()}, "standard") == QUERIES
    assert compare_with_toy(TermCounts(tmp_path / "terms")) == 546


def test_plain_counts_as_key_frequencies_give_other_scores(tmp_path, monkeypatch):
    """So the oracle can tell both apart."""
    counts = write_term_counts(tmp_path / "terms", DOCUMENTS)
    monkeypatch.setattr("ranktrial.features.sources.key_frequencies", lambda counts: counts)
    assert compare_with_toy(counts, "raw") == 546
    with pytest.raises(AssertionError):
        compare_with_toy(counts)


def test_each_parameter_of_the_oracle_is_one_that_a_configuration_may_set():
    declared = {name: {one.name for one in model.parameters} for name, model in MODELS.items()}
    for model, parameters in SETTINGS:
        assert set(keywords(parameters)) <= declared[model]
    assert {"k1", "b", "k3"} == declared["BM25"] and declared["DPH"] == declared["DFIC"] == set()
    assert MODELS["Hiemstra_LM"].defaults() == {"lambda": 0.15} and MODELS["DirichletLM"].defaults() == {"mu": 2500}


@pytest.mark.parametrize("model", [name for name, model in MODELS.items() if model.parameters])
def test_scores_are_finite_at_the_limits_of_each_parameter(model):
    names = ("tf", "doclen", "key_frequency", "df", "cf", "N", "tokens")
    rows = [row for row in STATISTICS if (row["model"], row["parameters"]) == (model, "")]
    matches = Matches(np.arange(len(rows)), *(np.array([float(row[name]) for row in rows]) for name in names))
    default = MODELS[model].function(matches)
    for one in MODELS[model].parameters:
        for value in (one.least, one.most):
            scores = MODELS[model].having({one.name: value}).function(matches)
            assert np.isfinite(scores).all() and not np.array_equal(scores, default)
