"""The section features: its defaults, and what each mistake says in one line."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.configuration.sections.features import Tagger
from tests.experiment.test_config import resolved
from tests.support.one_line import refused

STATISTICAL = {"first_stage": "bm25", "of": ["BM25", "DPH.title", {"system": "tuned"}]}


def features(entry, **changes):
    return resolved({"features": {"f": entry}, **changes}).features["f"]


def test_names_are_looked_up_and_defaults_filled_in():
    found = features(STATISTICAL)
    assert (found.tasks, found.first_stage, found.depth, found.analyzer) == (("d",), "bm25", 100, "english")
    assert tuple(map(given, found.of)) == (
        {"name": "BM25", "family": "weighting-models", "feature": "BM25"},
        {"name": "DPH.title", "family": "weighting-models", "feature": "DPH", "field": "title"},
        {"name": "system.tuned", "system": "tuned", "missing": "lowest"},
    )
    assert features({**STATISTICAL, "of": [{"system": "tuned", "missing": 0}]}).of[0].missing == 0
    of_texts = {"name": "comparative_objects", "family": "comparative", "feature": "comparative_objects", "texts": True}
    assert list(map(given, features({**STATISTICAL, "of": ["comparative_objects"]}).of)) == [of_texts]
    assert features(STATISTICAL, depth=20).depth == 20


def test_parameters_stand_in_the_name_of_the_column_in_the_order_of_the_formula():
    of = [
        {"BM25": {"b": 0.4, "k1": 0.9}},
        {"DirichletLM.title": {"mu": 1500}},
        {"Hiemstra_LM": {"lambda": 0.1}},
        "BM25",
    ]
    found = features({**STATISTICAL, "of": of}).of
    family = {"family": "weighting-models"}
    assert tuple(map(given, found)) == (
        {"name": "BM25(k1=0.9;b=0.4)", **family, "feature": "BM25", "parameters": {"k1": 0.9, "b": 0.4}},
        {"name": "DirichletLM.title(mu=1500)", **family, "feature": "DirichletLM", "field": "title", "parameters": {"mu": 1500}},
        {"name": "Hiemstra_LM(lambda=0.1)", **family, "feature": "Hiemstra_LM", "parameters": {"lambda": 0.1}},
        {"name": "BM25", **family, "feature": "BM25"},
    )  # fmt: skip
    several = [{"BM25": {"k1": k1}} for k1 in (0.1 + 0.2, 0.3, 1e-3)]
    names = [one.name for one in features({**STATISTICAL, "of": several}).of]
    assert names == ["BM25(k1=0.30000000000000004)", "BM25(k1=0.3)", "BM25(k1=0.001)"]


def test_an_experiment_without_features_has_none():
    assert resolved({}).features == resolved({"features": {}}).features == {}


def test_files_of_others_are_taken_where_they_lie():
    found = features({"letor": {"d": "README.md"}})
    assert found.files == {"d": "README.md"} and found.tasks == ("d",) and found.of == ()


TAGGING = {"models/t": {"type": "token-classification", "weights": "org/t"}}
TAGGED = {"first_stage": "bm25", "of": ["BM25", "comparative_objects"], "tagger": {"model": "t"}}


def test_a_model_that_labels_words_takes_the_place_of_the_rules():
    found = features(TAGGED, **TAGGING)
    assert found.tagger == Tagger(model="t") and [one.tagger for one in found.of] == [None, "t"]
    labels = {"objects": ["OBJ-1", "OBJ-2"]}
    tagger = features({**TAGGED, "tagger": {"model": "t", "labels": labels}}, **TAGGING).tagger
    assert given(tagger) == {"model": "t", "labels": labels}


def test_such_a_model_ranks_nothing():
    systems = {"systems/x": {"model": "t", "rerank": {"first_stage": "bm25", "depth": 5}}}
    reported = r"systems\.x\.model: t is of type token-classification: it labels words or writes"
    with pytest.raises(UserError, match=reported):
        resolved(TAGGING | systems)


LISTED = {"systems/a": {"model": ["m", "n"]}, "models/n": {"type": "bi-encoder", "weights": "org/n"}}
WRONG = {
    "unknown feature": ({**STATISTICAL, "of": ["BM26"]}, {}, "features.f.of[1]: unknown feature 'BM26' (did you mean 'BM25'?); expected comparative_objects, "),
    "unknown field": ({**STATISTICAL, "of": ["BM25.body"]}, {}, "features.f.of[1]: unknown field 'body' in 'BM25.body'; expected title or text"),
    "the same for each field": ({**STATISTICAL, "of": ["query_length.title"]}, {}, "query_length is the same for each field; leave out .title"),
    "a feature twice": ({**STATISTICAL, "of": ["DPH", "BM25", "DPH"]}, {}, "features.f.of: DPH occurs twice"),
    "unknown parameter": ({**STATISTICAL, "of": [{"BM25": {"k2": 1}}]}, {}, "features.f.of[1].BM25: BM25 has no parameter 'k2'; its parameters are k1, b, k3"),
    "parameter of a model without": ({**STATISTICAL, "of": ["BM25", {"DPH": {"c": 1}}]}, {}, "features.f.of[2].DPH: DPH has no parameter 'c'; it has none"),
    "parameter of an unknown feature": ({**STATISTICAL, "of": [{"BM26": {"k1": 1}}]}, {}, "features.f.of[1]: unknown feature 'BM26'"),
    "parameter out of range": ({**STATISTICAL, "of": [{"BM25.title": {"b": 1.5}}]}, {}, "features.f.of[1].BM25.title.b: 1.5 is outside of 0 to 1"),
    "parameter that is not finite": ({**STATISTICAL, "of": [{"BM25": {"k1": float("nan")}}]}, {}, "features.f.of[1].BM25.k1"),
    "parameter that is no number": ({**STATISTICAL, "of": [{"BM25": {"k1": True}}]}, {}, "features.f.of[1]"),
    "no parameters": ({**STATISTICAL, "of": [{"BM25": {}}]}, {}, "features.f.of[1].BM25: is empty"),
    "defaults spelt out": ({**STATISTICAL, "of": ["BM25", {"BM25": {"k1": 1.2, "k3": 8}}]}, {}, "features.f.of: BM25(k1=1.2;k3=8) occurs twice: its parameters are those of BM25"),
    "two features in one entry": ({**STATISTICAL, "of": [{"BM25": {"k1": 1}, "PL2": {"c": 2}}]}, {}, "features.f.of[1]: has the keys BM25, PL2; expected a name, {NAME: {parameter: value}} or {system: NAME}, one feature per entry"),
    "parameters beside a system": ({**STATISTICAL, "of": [{"system": "tuned", "BM25": {"k1": 1}}]}, {}, "features.f.of[1]: unknown key 'BM25' beside system"),
    "missing without a system": ({**STATISTICAL, "of": [{"missing": 0}]}, {}, "features.f.of[1]: missing is not a feature"),
    "unknown tagger": ({**TAGGED, "tagger": {"model": "x"}}, TAGGING, "features.f.tagger.model: unknown name 'x'; models has"),
    "tagger that ranks": ({**TAGGED, "tagger": {"model": "m"}}, TAGGING, "features.f.tagger.model: m is of type bi-encoder, which labels no words; expected token-classification"),
    "tagger without texts": ({**TAGGED, "of": ["BM25"]}, TAGGING, "features.f.tagger: no feature here is of texts, such as comparative_objects; leave it out"),
    "label of two parts": ({**TAGGED, "tagger": {"model": "t", "labels": {"objects": ["A"], "aspects": ["A"]}}}, TAGGING, "features.f.tagger.labels: A is listed twice"),
    "tagger without a model": ({**TAGGED, "tagger": {}}, TAGGING, "features.f.tagger: key 'model' is missing"),
    "unknown system": ({**STATISTICAL, "of": [{"system": "x"}]}, {}, "features.f.of[1].system: unknown name 'x'; systems has bm25, tuned"),
    "unknown first stage": ({**STATISTICAL, "first_stage": "x"}, {}, "features.f.first_stage: unknown name 'x'"),
    "several systems": ({**STATISTICAL, "of": [{"system": "a"}]}, LISTED, "features.f.of[1].system: a became 2 systems; name one of them"),
    "unknown task": ({**STATISTICAL, "tasks": ["x"]}, {}, "features.f.tasks: unknown name 'x'; tasks has d"),
    "no first stage": ({"of": ["BM25"]}, {}, "features.f: key 'first_stage' is missing (or letor, with external files)"),
    "no features": ({"first_stage": "bm25"}, {}, "features.f: key 'of' is missing"),
    "deeper than runs": ({**STATISTICAL, "depth": 200}, {"depth": 100}, "features.f.depth: 200 is more than a run keeps; expected at most 100"),
    "unknown key": ({**STATISTICAL, "colour": 1}, {}, "features.f: unknown key 'colour'"),
    "infinite value": ({**STATISTICAL, "of": [{"system": "bm25", "missing": 1e300}]}, {}, "features.f.of"),
    "files and more": ({"letor": {"d": "README.md"}, "depth": 5}, {}, "features.f: letor has features that others computed, so leave out depth"),
    "no such file": ({"letor": {"d": "nowhere.txt"}}, {}, "features.f.letor.d: no file 'nowhere.txt' here or in the mirrors"),
    "file of no task": ({"letor": {"x": "README.md"}}, {}, "features.f.letor: unknown name 'x'; tasks has d"),
    "no run for the task": (STATISTICAL, {"systems/tuned/tasks": ["e"], "datasets/e": {"format": "beir", "location": "tests"}, "tasks": ["d", "e"], "comparisons": {}}, "features.f: tuned has no run for task 'd'"),
    "judgements alone": ({**STATISTICAL, "first_stage": "theirs", "of": ["BM25"]}, {"datasets/j": {"format": "qrels", "location": "README.md"}, "tasks": ["j"], "systems": {"theirs": {"type": "external", "runs": {"j": "README.md"}}}, "comparisons": {}}, "features.f.tasks: 'j' has no documents to compute features of"),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "changes", "reported"), WRONG.values(), ids=WRONG)
def test_each_mistake_is_one_line(entry, changes, reported):
    with refused(reported):
        features(entry, **changes)
