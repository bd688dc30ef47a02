"""Query likelihood, feedback and languages in a configuration: what each entry means, and what a mistake says."""

from functools import partial

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.system_types import system_type
from tests.experiment.test_config import resolved
from tests.support.one_line import each_is_one_line, refused

INDEX = {"analyzer": "english", "fields": "together"}
BM25 = {"type": "bm25"}
RM3 = {"feedback_terms": 10, "feedback_documents": 10, "original_query_weight": 0.5}
ROCCHIO = {"feedback_terms": 10, "feedback_documents": 10, "alpha": 1.0, "beta": 0.75}
NEGATIVE = {"gamma": 0.15, "negative_terms": 10, "negative_documents": 10}
GRIDS = {"k1": [0.6, 0.9, 1.2, 1.5, 2.0], "b": [0.2, 0.4, 0.6, 0.75, 0.9]}
TUNED_RM3 = {"feedback_terms": [5, 10, 20], "feedback_documents": [5, 10, 20], "original_query_weight": [0.3, 0.5, 0.7]}


def experiment(entry, **changes):
    return resolved({"systems": {"x": entry}, "comparisons": {}, **changes})


MEANINGS = {
    "query likelihood": ({"type": "query-likelihood"}, {"mu": 1000.0}),
    "query likelihood with mu": ({"type": "query-likelihood", "mu": 200}, {"mu": 200.0}),
    "rm3": ({**BM25, "feedback": "rm3"}, {"k1": 0.9, "b": 0.4, "feedback": {"rm3": RM3}}),
    "rm3 with parameters": (
        {**BM25, "k1": 1.2, "feedback": "rm3", "feedback_terms": 20.0, "original_query_weight": 1},
        {"k1": 1.2, "b": 0.4, "feedback": {"rm3": RM3 | {"feedback_terms": 20, "original_query_weight": 1.0}}},
    ),
    "rm3 of query likelihood": ({"type": "query-likelihood", "feedback": "rm3"}, {"mu": 1000.0, "feedback": {"rm3": RM3}}),
    "rocchio": ({**BM25, "feedback": "rocchio"}, {"k1": 0.9, "b": 0.4, "feedback": {"rocchio": ROCCHIO}}),
    "rocchio with negative documents": ({**BM25, "feedback": "rocchio", "gamma": 0.15}, {"k1": 0.9, "b": 0.4, "feedback": {"rocchio": ROCCHIO | NEGATIVE}}),
    "mu tuned": ({"type": "query-likelihood", "tune": True, "grid": {"mu": [10, 20.5], "measure": "RR@5"}}, {"mu": [10.0, 20.5], "measure": "RR@5", "depth": 5}),
    "rm3 tuned": ({**BM25, "tune": True, "feedback": "rm3"}, {**GRIDS, "measure": "nDCG@10", "depth": 10, "feedback": {"rm3": TUNED_RM3}}),
    "what is given stays": (
        {**BM25, "k1": 1.2, "b": 0.75, "tune": True, "feedback": "rm3", "feedback_documents": 7,
         "grid": {"original_query_weight": [0, 1]}},
        {"k1": [1.2], "b": [0.75], "measure": "nDCG@10", "depth": 10, "feedback": {"rm3": {
            "feedback_terms": [5, 10, 20], "feedback_documents": [7], "original_query_weight": [0.0, 1.0]}}},
    ),
    "rocchio is tuned at the depth of the run": (
        {**BM25, "tune": True, "feedback": "rocchio", "gamma": 0.15},
        {**GRIDS, "measure": "nDCG@10", "depth": 1000, "feedback": {"rocchio": {
            "feedback_terms": [5, 10, 20], "feedback_documents": [5, 10, 20], "alpha": [1.0], "beta": [0.5, 0.75, 1.0],
            "gamma": [0.15], "negative_terms": [10], "negative_documents": [10]}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "settings"), MEANINGS.values(), ids=MEANINGS)
def test_what_an_entry_means(entry, settings):
    assert given(experiment(entry).systems["x"].settings) == INDEX | settings


def test_tuning_tries_no_more_documents_than_rocchio_sees():
    feedback = experiment({**BM25, "tune": True, "feedback": "rocchio"}, depth=10).systems["x"].settings.feedback
    assert feedback["rocchio"]["feedback_documents"] == [5, 10]
    feedback = experiment({**BM25, "tune": True, "feedback": "rocchio"}, depth=3).systems["x"].settings.feedback
    assert feedback["rocchio"]["feedback_documents"] == [3]


def test_lists_make_several_systems():
    made = experiment({**BM25, "feedback": ["rm3", "rocchio"], "feedback_terms": [5, 10]}).systems
    assert list(made) == ["x-rm3-5", "x-rm3-10", "x-rocchio-5", "x-rocchio-10"]


DESCRIBED = {
    "query likelihood (Lucene, english analyser, title and text as one field), mu = 1000.0": {"type": "query-likelihood"},
    "query likelihood (Lucene, english analyser, title and text as one field), mu tuned on dev": {
        "type": "query-likelihood", "tune": True},
    "BM25 (Lucene, english analyser, title and text as one field), k1 = 0.9, b = 0.4, feedback by RM3 "
    "(feedback_terms = 10, feedback_documents = 10, original_query_weight = 0.5)": {**BM25, "feedback": "rm3"},
    "BM25 (Lucene, english analyser, title and text as one field), k1 and b tuned on dev, feedback by Rocchio tuned on dev": {
        **BM25, "feedback": "rocchio", "tune": True},
    "BM25 (Lucene, english analyser, title and text as one field), k1 = 1.2, b = 0.4, feedback by RM3 tuned on dev": {
        **BM25, "feedback": "rm3", "tune": True, "k1": 1.2, "grid": {"b": [0.4]}},
}  # fmt: skip


@pytest.mark.parametrize(("words", "entry"), DESCRIBED.items())
def test_a_description_says_what_it_is(words, entry):
    planned = experiment(entry)
    assert describe(planned, planned.systems["x"]) == words
    assert system_type(planned.systems["x"]).provenance(planned, planned.systems["x"])["method"].endswith(" (Lucene)")


def test_a_description_names_the_language_where_there_is_another_than_english():
    planned = experiment(BM25, **{"datasets/d/language": "de"})
    assert "(Lucene, analyser of the dataset's language, title" in describe(planned, planned.systems["x"])
    planned = experiment({**BM25, "analyzer": "english"}, **{"datasets/d/language": "de"})
    assert "(Lucene, english analyser, title" in describe(planned, planned.systems["x"])


SERVER = {**BM25, "engine": "elasticsearch", "url": "http://h:9200"}
REFUSED = {
    "method": ({**BM25, "feedback": "rm4"}, "systems.x.feedback: unknown value 'rm4' (did you mean 'rm3'?); expected one of rm3, rocchio"),
    "parameter of no method": ({**BM25, "feedback_terms": 5}, "systems.x.feedback_terms: only valid with feedback: rm3 or rocchio"),
    "grid of no method": ({**BM25, "tune": True, "grid": {"beta": [1]}}, "systems.x.grid.beta: only valid with feedback: rm3 or rocchio"),
    "parameter of the other method": ({**BM25, "feedback": "rm3", "beta": 1}, "systems.x.beta: no parameter of feedback: rm3 has feedback_terms, "),
    "grid of the other method": ({**BM25, "feedback": "rocchio", "tune": True, "grid": {"original_query_weight": [0.5]}},
                                 "systems.x.grid.original_query_weight: no parameter of feedback: rocchio has"),
    "negative documents without weight": ({**BM25, "feedback": "rocchio", "negative_terms": 5}, "systems.x.negative_terms: only valid with gamma; without it rocchio has"),
    "gamma of nothing": ({**BM25, "feedback": "rocchio", "gamma": 0}, "systems.x.gamma: is 0, so no document would count"),
    "no term": ({**BM25, "feedback": "rm3", "feedback_terms": 0}, "systems.x.feedback_terms: 0 is too small; expected a whole number from 1"),
    "half a term": ({**BM25, "feedback": "rm3", "feedback_terms": 2.5}, "systems.x.feedback_terms: 2.5 is not a whole number"),
    "weight": ({**BM25, "feedback": "rm3", "original_query_weight": 1.5}, "systems.x.original_query_weight: 1.5 is too large"),
    "weight in a grid": ({**BM25, "feedback": "rm3", "tune": True, "grid": {"original_query_weight": [-0.5]}},
                         "systems.x.grid.original_query_weight[1]: -0.5 is too small"),
    "weight of nothing": ({**BM25, "feedback": "rocchio", "alpha": 0, "beta": 0}, "systems.x.alpha: is 0, and so is beta"),
    "more than rm3 sees": ({**BM25, "feedback": "rm3", "feedback_documents": 51}, "systems.x.feedback_documents: 51 are more documents than rm3 sees, the best 50 of the first search; expected at most 50"),
    "more than a run keeps": ({**BM25, "feedback": "rocchio", "feedback_documents": 1000, "gamma": 1, "negative_documents": 999},
                              "systems.x.feedback_documents: 1000 are more documents than rocchio sees, the 999 that a run keeps (depth)"),
    "mu": ({"type": "query-likelihood", "mu": 0}, "systems.x.mu: 0 is too small; expected a number from 0.001"),
    "mu of bm25": ({**BM25, "mu": 10}, "systems.x: a system of type bm25 cannot have 'mu'"),
    "k1 of likelihood": ({"type": "query-likelihood", "k1": 1}, "systems.x: a system of type query-likelihood cannot have 'k1'"),
    "grid of k1 for likelihood": ({"type": "query-likelihood", "tune": True, "grid": {"k1": [1]}}, "systems.x.grid: a system of type query-likelihood cannot have 'k1' there"),
    "mu given and tuned": ({"type": "query-likelihood", "mu": 5, "tune": True}, "systems.x: mu is given, so tune: true has nothing to choose"),
    "grid without tuning": ({"type": "query-likelihood", "grid": {"mu": [5]}}, "systems.x.grid: only valid with tune: true"),
    "all given": ({**BM25, "k1": 1, "b": 0.5, "tune": True, "feedback": "rm3", **RM3}, "systems.x: all parameters are given, so tune: true has nothing"),
    "given and in the grid": ({**BM25, "tune": True, "feedback": "rm3", "feedback_terms": 5, "grid": {"feedback_terms": [5, 6]}},
                              "systems.x.grid.feedback_terms: feedback_terms is given beside the grid"),
    "k1 given and in the grid": ({**BM25, "tune": True, "feedback": "rm3", "k1": 1, "grid": {"k1": [1, 2]}}, "systems.x.grid.k1: k1 is given beside the grid"),
    "on a server": ({**SERVER, "feedback": "rm3"}, "systems.x.feedback: not together with engine: elasticsearch"),
    "parameters on a server": ({**SERVER, "feedback_terms": 5}, "systems.x.feedback_terms: only valid with feedback"),
    "fields apart": ({**BM25, "feedback": "rm3", "fields": "best"}, "systems.x.feedback: takes the terms of documents from an index of Pyserini's"),
    "standard analyser": ({**BM25, "feedback": "rm3", "analyzer": "standard"}, "systems.x.feedback: takes the terms of documents"),
    "feedback of a fusion": ({"type": "fusion", "systems": ["a", "b"], "feedback": "rm3"}, "systems.x: a system of type fusion cannot have 'feedback'"),
}  # fmt: skip


test_a_mistake_is_one_line = each_is_one_line(REFUSED, partial(experiment, depth=999))


def test_tuning_on_a_dataset_without_dev_is_reported():
    trec = {"format": "trec", "location": "tests", "documents": ["d"], "topics": {"test": "t"}, "qrels": {"test": "q"}}
    with pytest.raises(UserError, match=r"c.yaml: systems.x.tune: d has no judgements for the split dev"):
        experiment({"type": "query-likelihood", "tune": True}, **{"datasets/d": trec, "recipes": {}})


CARVE, FIXED = "datasets.d.splits: {dev: 0.1}", "k1 and b instead of tune: true"


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        (("train", "test"), f"its splits are test, train; expected {CARVE} or {FIXED}"),
        (("test",), f"its splits are test; expected {FIXED}"),
        (("dev", "test"), None),
        ((), None),  # what is wrong with such a folder, its reader says
    ],
)
def test_of_a_folder_that_lies_here_the_splits_are_known_before_anything_runs(tmp_path, judged, said):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl.gz").touch()
    for split in judged:
        (tmp_path / "qrels" / f"{split}.tsv").touch()
    alone = {"datasets/d/location": str(tmp_path), "recipes": {}}
    if said is None:
        assert experiment({**BM25, "tune": True}, **alone).systems["x"].settings.measure == "nDCG@10"
        return
    with pytest.raises(UserError) as error:
        experiment({**BM25, "tune": True}, **alone)
    assert str(error.value) == f"c.yaml: systems.x.tune: d has no judgements for the split dev; {said}"
    carved = alone | {"datasets/d/splits": {"dev": 0.1}}
    if "train" in judged:
        assert experiment({**BM25, "tune": True}, **carved).systems["x"].settings.measure == "nDCG@10"
        return
    with pytest.raises(UserError, match=r"^c.yaml: datasets.d.splits.dev: there is no train split to carve it out of"):
        experiment({**BM25, "tune": True}, **carved)


PASSAGES = {"model": "m", "long_documents": "passages", "rerank": {"first_stage": "bm25"}}
LANGUAGES = {
    "unknown": ({"datasets/d/language": "xx"}, "datasets.d.language: unknown value 'xx'; expected one of en, ar, bn, da, de"),
    "a name": ({"datasets/d/language": "german"}, "datasets.d.language: unknown value 'german'"),
    "Norwegian without quotes": ({"datasets/d/language": False}, "datasets.d.language: false is true or false; expected one of en, "),
    "Norwegian without quotes, to YAML": ({"datasets/d/language": False}, "put the text in quotes"),
    "of judgements": ({"datasets/q": {"format": "qrels", "location": "tests", "qrels": {"test": "a"}, "language": "de"}}, "cannot have 'language'"),
    "a side that the data lacks": ({"datasets/i": {"format": "insuranceqa", "location": "tests", "language": "de"}},
                                   "datasets.i.language: the data has no side in de; expected en or zh"),
    "sentences": ({"datasets/d/language": "th", "systems/p": PASSAGES}, "systems.p.long_documents: sentences of d cannot be found in its language, th"),
    "sentences of training": ({"datasets/d/language": "th", "recipes/r/long_documents": "passages"}, "recipes.r.long_documents: sentences of d cannot"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), LANGUAGES.values(), ids=LANGUAGES)
def test_a_language_that_does_not_fit_is_one_line(changes, said):
    with refused(said):
        resolved(changes)


@pytest.mark.parametrize("language", ["de", "zh", "fi", "no"])
def test_a_language_is_accepted(language):
    resolved({"datasets/d/language": language})
    assert given(experiment(BM25, **{"datasets/d/language": "en"}).systems["x"].settings) == INDEX | {
        "k1": 0.9,
        "b": 0.4,
    }
