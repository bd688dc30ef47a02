"""Feature files from term counts and runs: values by hand, batches, statistics, and what each refusal says."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common import plugins
from ranktrial.common.errors import UserError
from ranktrial.features.families import features_in, known
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.comparative import Structure, read_document, write_structures
from ranktrial.ir.feature_file import check_index, feature_names, read_about, read_features
from ranktrial.ir.trec import write_qrels, write_run
from scripts.features import jobs as compute
from tests.support.calling import call
from tests.support.one_line import one_line
from tests.support.term_counts import write_term_counts

DOCUMENTS = {"d1": ["cat", "dog", "dog"], "d2": ["dog"], "d3": ["cow", "cat"], "d4": ["pig"]}
TITLES = {"d1": ["dog"], "d2": [], "d3": ["cow"], "d4": []}
RUN = {"q1": {"d1": 3.0, "d2": 2.0, "d4": 1.0}, "q2": {"d3": 1.5, "unknown": 1.0}, "q3": {"d1": 1.0}}
TERMS = {"q1": ["dog", "dog", "cat", "zebra"], "q2": ["cow"], "q3": [], "unused": ["pig"]}
FAMILIES = known()
STATISTICAL = [name for name in FAMILIES if not name.startswith("comparative_")]


def feature(name, field=None):
    base = name.partition(".")[0]
    return {"name": name, "family": FAMILIES[base], "feature": base, **({"field": field} if field else {})}


def score_of(system, missing="lowest"):
    return {"name": f"system.{system}", "system": system, "missing": missing}


@pytest.fixture
def place(tmp_path):
    write_term_counts(tmp_path / "whole", DOCUMENTS)
    write_term_counts(tmp_path / "apart", TITLES, "title", "best")
    write_run(tmp_path / "run", RUN, "bm25")
    write_run(tmp_path / "other", {"q1": {"d2": 0.5, "d4": 0.25}, "q3": {"d1": -1.0}}, "zero-shot")
    write_qrels(tmp_path / "qrels", {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": -2}})
    (tmp_path / "terms.json").write_text(json.dumps(TERMS))
    return tmp_path


def computed(place, of, depth=10, **changes):
    """Feature -> (query, document) -> value, of the file that the script writes."""
    options = {
        "candidates": place / "run", "query_terms": place / "terms.json", "qrels": place / "qrels",
        "terms": [place / "whole", place / "apart"], "features": place / "f.parquet", "timing": place / "t.json",
    }  # fmt: skip
    options |= {"runs": [place / "other" for one in of if "system" in one], **changes}
    call(compute.compute_features, {"of": of, "first_stage": "bm25", "depth": depth}, **options)
    parts = list(read_features(options["features"]))
    names = feature_names(options["features"])
    pairs = [pair for part in parts for pair in zip(part.queries, part.documents, strict=True)]
    values = np.concatenate([part.values for part in parts])
    return {name: dict(zip(pairs, values[:, column].tolist(), strict=True)) for column, name in enumerate(names)}


def test_values_are_those_by_hand(place):
    of = [
        *map(feature, STATISTICAL),
        feature("document_length.title", "title"),
        feature("TF_IDF.title", "title"),
        score_of("zero-shot"),
    ]
    found = computed(place, of)
    pairs = [("q1", "d1"), ("q1", "d2"), ("q1", "d4"), ("q2", "d3"), ("q2", "unknown"), ("q3", "d1")]
    assert set(found) == {one["name"] for one in of} and list(found["BM25"]) == pairs

    def column(name):
        return [found[name][pair] for pair in pairs]

    assert column("first_stage_score") == [3, 2, 1, 1.5, 1, 1] and column("first_stage_rank") == [1, 2, 3, 1, 2, 1]
    assert column("document_length") == [3, 1, 1, 2, 0, 3] and column("document_length.title") == [1, 0, 0, 1, 0, 1]
    assert column("query_length") == [4, 4, 4, 1, 1, 0]
    assert column("matched_share") == [2 / 3, 1 / 3, 0, 1, 0, 0]
    idf = {df: math.log2(5 / (df + 0.5)) for df in (0, 1, 2)}
    assert column("query_idf_sum") == pytest.approx([*[2 * idf[2] + idf[0]] * 3, idf[1], idf[1], 0])
    assert column("query_idf_mean") == pytest.approx([*[(2 * idf[2] + idf[0]) / 3] * 3, idf[1], idf[1], 0])
    assert column("query_idf_max") == pytest.approx([idf[0]] * 3 + [idf[1]] * 2 + [0])
    assert column("query_idf_min") == pytest.approx([idf[2]] * 3 + [idf[1]] * 2 + [0])
    whole = 2 * idf[2] + idf[0]
    assert column("matched_idf_share") == pytest.approx([2 * idf[2] / whole, idf[2] / whole, 0, 1, 0, 0])
    # TF_IDF: dog has key frequency 1 and cat 1/2; both are in two of four documents, of 7 tokens
    lengths = {name: 1.2 * (0.25 + 0.75 * len(words) / (7 / 4)) for name, words in DOCUMENTS.items()}
    expected = math.log2(4 / 2 + 1) * (1.2 * 2 / (2 + lengths["d1"]) + 0.5 * 1.2 / (1 + lengths["d1"]))
    assert found["TF_IDF"]["q1", "d1"] == pytest.approx(expected, rel=1e-14)
    assert found["TF_IDF"]["q1", "d4"] == 0 == found["TF_IDF"]["q3", "d1"]
    in_title = math.log2(4 / 1 + 1) * 1.2 / (1 + 1.2 * (0.25 + 0.75 * 1 / (2 / 4)))
    assert found["TF_IDF.title"]["q1", "d1"] == pytest.approx(in_title, rel=1e-14)
    assert column("system.zero-shot") == [0.25, 0.5, 0.25, 0, 0, -1]


def test_a_document_that_a_run_lacks_has_the_value_that_is_stated(place):
    found = computed(place, [score_of("zero-shot", -9.5)])
    assert list(found["system.zero-shot"].values()) == [-9.5, 0.5, 0.25, -9.5, -9.5, -1]
    assert read_about(place / "f.parquet")["pairs_without_score"] == {"system.zero-shot": 3}


def test_parameters_are_those_of_the_formula(place):
    """TF_IDF and Hiemstra_LM by hand: dog has key frequency 1 and cat 1/2; both are in two of four documents."""
    tf_idf = {**feature("TF_IDF"), "name": "TF_IDF(k1=2;b=0)", "parameters": {"k1": 2, "b": 0}}
    hiemstra = {**feature("Hiemstra_LM"), "name": "Hiemstra_LM(lambda=0.5)", "parameters": {"lambda": 0.5}}
    found = computed(place, [feature("TF_IDF"), tf_idf, hiemstra])
    assert found["TF_IDF(k1=2;b=0)"]["q1", "d1"] == pytest.approx(math.log2(3) * (2 * 2 / (2 + 2) + 0.5 * 2 / (1 + 2)))
    assert found["Hiemstra_LM(lambda=0.5)"]["q1", "d2"] == pytest.approx(math.log2(1 + 1 * 7 / (3 * 1)))
    assert found["TF_IDF"]["q1", "d1"] != found["TF_IDF(k1=2;b=0)"]["q1", "d1"]
    assert feature_names(place / "f.parquet") == ["TF_IDF", "TF_IDF(k1=2;b=0)", "Hiemstra_LM(lambda=0.5)"]
    assert read_about(place / "f.parquet")["features"][1]["parameters"] == {"k1": 2, "b": 0}


COMPARED = ["comparative_objects", "comparative_aspects_and_predicates", "comparative_structure"]


@pytest.fixture
def texts(place):
    """Of the run's documents d2 is the one without text, and `unknown` is in no corpus."""
    said = {"q1": "Are dogs or cats better pets?", "q2": "Cows?", "q3": "Tea or coffee?", "unused": "Pigs?"}
    write_queries(place / "queries.jsonl", said)
    documents = [
        Document("d1", "Dogs", "Dogs are more loyal than cats, and better for families."),
        Document("d2", "", ""),
        Document("d3", "", "Cows are bigger than goats."),
        Document("d4", "", "A dog."),
        Document("d9", "", "Dogs are better than cats."),
    ]
    write_corpus(place / "corpus.jsonl", documents)
    return [place / "queries.jsonl", place / "corpus.jsonl"]


def test_what_a_question_and_a_document_compare(monkeypatch, place, texts):
    found = computed(place, [feature("BM25"), *map(feature, COMPARED)], texts=texts)
    of = {pair: tuple(found[name][pair] for name in COMPARED) for pair in found["BM25"]}
    # of d1 "more loyal" and "better" are predicates, "families" is an aspect: four words
    assert of == {
        ("q1", "d1"): (2, 0.5 * 4, 1), ("q1", "d2"): (0, 0, 0), ("q1", "d4"): (1, 0, 0),
        ("q2", "d3"): (0, 0, 1), ("q2", "unknown"): (0, 0, 0), ("q3", "d1"): (0, 0, 1),
    }  # fmt: skip
    whole = compute.BATCH
    monkeypatch.setattr(compute, "BATCH", 1)
    again = computed(place, list(map(feature, COMPARED)), texts=texts, features=place / "g.parquet")
    assert whole > 1 and again == {name: found[name] for name in COMPARED}


def test_a_text_is_read_once_and_only_those_of_candidates(monkeypatch, place, texts):
    read = []
    family = plugins.load("ranktrial.features.families", "comparative")
    monkeypatch.setattr(family, "read_document", lambda text: read.append(text) or read_document(text))
    computed(place, list(map(feature, COMPARED)), texts=texts, depth=1)
    assert read == ["Dogs Dogs are more loyal than cats, and better for families.", "Cows are bigger than goats."]


def test_structures_of_a_model_take_the_place_of_the_rules(place, texts):
    of_queries = {"q1": Structure(("cat",)), "q2": Structure(), "q3": Structure(("dogs",))}
    of_documents = {"d1": Structure((), ("loyal families",), ("more",)), "d3": Structure(("cows",))}
    tagged = [("query", *one) for one in of_queries.items()]
    tagged += [("document", name, of_documents.get(name, Structure())) for name in ("d1", "d2", "d3", "d4")]
    write_structures(place / "s.jsonl", tagged)
    found = computed(place, list(map(feature, COMPARED)), texts=texts, structures=[place / "s.jsonl"])
    assert list(found["comparative_objects"].values()) == [1, 0, 0, 0, 0, 1]
    assert list(found["comparative_aspects_and_predicates"].values()) == [1.5, 0, 0, 0, 0, 1.5]
    assert list(found["comparative_structure"].values()) == [1, 0, 0, 1, 0, 1]


def test_structures_of_other_texts_are_refused(place, texts):
    write_structures(place / "s.jsonl", [("query", name, Structure()) for name in ("q1", "q2", "q3")])
    of = [feature("comparative_objects")]
    reported = "s.jsonl: has no structure of document d1; tag the texts again"
    refused(place, of, reported, texts=texts, structures=[place / "s.jsonl"])
    (place / "s.jsonl").write_text('{"kind": "query", "id": "q1", "objects": [1], "aspects": [], "predicates": []}\n')
    refused(place, of, "s.jsonl:1: was changed", texts=texts, structures=[place / "s.jsonl"])


def test_features_of_texts_need_them(place, texts):
    of = [feature("comparative_objects")]
    refused(place, of, "--texts: expected the files of queries and corpus, which comparative_objects needs")
    write_queries(texts[0], {"q1": "Tea or coffee?"})
    refused(place, of, "queries.jsonl: has no text of query q2", texts=texts)


def test_only_the_first_candidates_are_kept_and_terms_of_others_do_not_count(place):
    found = computed(place, [feature("matched_share")], depth=1)
    assert found["matched_share"] == {("q1", "d1"): 2 / 3, ("q2", "d3"): 1, ("q3", "d1"): 0}


def test_batches_change_nothing(monkeypatch, place):
    of = [*map(feature, STATISTICAL), score_of("zero-shot")]
    whole = computed(place, of)
    monkeypatch.setattr(compute, "BATCH", 1)
    assert computed(place, of, features=place / "g.parquet") == whole
    assert len(next(iter(read_features(place / "g.parquet"))).queries) == 6


def test_the_file_tells_what_its_numbers_are_from(place, capsys):
    computed(place, [feature("BM25"), feature("BM25.title", "title")])
    assert "1 of 5 candidates have no text in the index" in capsys.readouterr().err
    about = read_about(place / "f.parquet")
    assert about["depth"] == 10 and about["first_stage"] == "bm25" and about["features"][0]["name"] == "BM25"
    whole = about["indices"]["together"]
    assert whole["documents"] == 4 and whole["fields"] == {"contents": {"tokens": 7, "mean_length": 1.75}}
    assert about["indices"]["best"]["fields"]["title"]["tokens"] == 2 and len(whole["sha256"]) == 64
    rows = next(iter(read_features(place / "f.parquet")))
    assert rows.grades == [2, 0, None, -2, None, None]
    timing = json.loads((place / "t.json").read_text())
    assert (timing["queries"], timing["pairs"], timing["features"]) == (3, 6, 2)


def refused(place, of, *words, **changes):
    with pytest.raises(UserError) as error:
        computed(place, of, **changes)
    one_line(error, *words)
    assert not (place / "f.parquet").exists()


def test_a_feature_that_is_not_finite_is_refused(place):
    lengths = np.load(place / "whole" / "contents" / "lengths.npy")
    np.save(place / "whole" / "contents" / "lengths.npy", lengths * [1, 0, 1, 1])  # as of a damaged index
    words = ("f.parquet: feature Hiemstra_LM of query q1 and document d2 is inf, not a finite number",)
    refused(place, [feature("BM25"), feature("Hiemstra_LM")], *words)


def test_candidates_of_another_corpus_are_refused(place):
    write_run(place / "run", {"q1": {"x": 1.0}}, "bm25")
    refused(place, [feature("BM25")], "whole: has none of the candidates; they are of another corpus")


def test_a_query_of_another_task_is_refused(place):
    write_run(place / "run", {"q9": {"d1": 1.0}}, "bm25")
    refused(place, [feature("BM25")], "query q9 is not one of the task's")


def test_an_empty_run_is_refused(place):
    write_run(place / "run", {}, "bm25")
    refused(place, [feature("BM25")], "run: has no candidates")


def test_a_field_that_no_document_has_is_refused(place):
    refused(place, [feature("BM25.text", "text")], "apart: no document has a text, which BM25.text needs")


def test_indices_of_two_corpora_are_refused(place):
    write_term_counts(place / "third", {**TITLES, "d9": []}, "title", "best")
    terms = [place / "whole", place / "third"]
    refused(place, [feature("BM25.title", "title")], "third: has other documents than", terms=terms)


def test_features_of_another_index_are_refused(place):
    computed(place, [feature("BM25")])
    same = {"together": write_term_counts(place / "same", DOCUMENTS).digest()}
    check_index(place / "f.parquet", same)
    other = {"together": write_term_counts(place / "x", {**DOCUMENTS, "d5": ["pig"]}).digest()}
    with pytest.raises(UserError) as error:
        check_index(place / "f.parquet", other)
    one_line(error, "f.parquet: its features were computed from another index", "compute them again")


def test_names_are_unique_and_each_feature_says_its_formula():
    for family in dict.fromkeys(FAMILIES.values()):
        for name, one in features_in(family).items():
            assert FAMILIES[name] == family and len(one.function.__doc__) > 30
    assert len(FAMILIES) == 24


def test_the_page_of_features_lists_all_of_them():
    page = (Path(__file__).parents[2] / "docs" / "ranking.md").read_text()
    assert [name for name in FAMILIES if f"`{name}`" not in page] == []
