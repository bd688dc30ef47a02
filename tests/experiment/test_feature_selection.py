"""Which features of its set a ranker learns from: what names mean, the systems that lists make, and each mistake."""

import pytest

from ranktrial.experiment.descriptions import describe
from scripts.learning_to_rank import planning
from tests.experiment.test_config import resolved
from tests.support.one_line import each_is_one_line

OF = ["BM25", "BM25.title", {"PL2.title": {"c": 7}}, "document_length", "query_length", {"system": "z"}]
SETS = {"few": {"first_stage": "bm25", "depth": 10, "of": OF}, "two": {"first_stage": "bm25", "of": ["BM25", "DPH"]}}
COLUMNS = ["BM25", "BM25.title", "PL2.title(c=7)", "document_length", "query_length", "system.z"]
RANKER = {"type": "learning-to-rank", "features": "few", "learner": "linear"}


def experiment(**keys):
    return resolved({"features": SETS, "systems/z": {"model": "m"}, "systems/l": RANKER | keys})


def columns(**keys):
    """The columns of each system that the entry `l` became."""
    systems = experiment(**keys).systems.values()
    return {one.name: one.settings.columns for one in systems if one.type == "learning-to-rank"}


SELECTED = {
    "a column": ({"only": "BM25"}, ["BM25"]),
    "a name, whatever its field and parameters": ({"only": "PL2"}, ["PL2.title(c=7)"]),
    "a name with its field": ({"only": "PL2.title"}, ["PL2.title(c=7)"]),
    "a family": ({"only": "weighting-models"}, COLUMNS[:3]),
    "a system": ({"only": "z"}, ["system.z"]),
    "scores": ({"without": "systems"}, COLUMNS[:5]),
    "several, in the order of the file": ({"only": ["system.z", "lengths-and-terms", "BM25"]}, ["BM25", *COLUMNS[3:]]),
    "one of those": ({"only": "lengths-and-terms", "without": ["query_length"]}, ["document_length"]),
    "all": ({"only": ["weighting-models", "lengths-and-terms", "systems"]}, None),
    "nothing said": ({"only": None}, None),
}


@pytest.mark.parametrize(("keys", "expected"), SELECTED.values(), ids=SELECTED)
def test_names_select_columns(keys, expected):
    assert columns(**keys) == {"l": expected}


def test_lists_of_lists_make_systems():
    assert columns(without=[None, ["z"], ["BM25", "lengths-and-terms"]]) == {
        "l-all": None, "l-z": COLUMNS[:5], "l-BM25-lengths-and-terms": ["BM25.title", "PL2.title(c=7)", "system.z"],
    }  # fmt: skip
    assert columns(without=[["z"]]) == {"l": COLUMNS[:5]}
    assert list(columns(learner=["linear", "lightgbm"], only=[["z"], ["BM25"]])) == [
        "l-linear-z", "l-linear-BM25", "l-lightgbm-z", "l-lightgbm-BM25",
    ]  # fmt: skip


def test_each_is_a_system_a_feature():
    words = ["BM25", "BM25.title", "PL2.title_c_7", "document_length", "query_length", "system.z"]
    assert columns(only="each") == {f"l-{word}": [column] for word, column in zip(words, COLUMNS, strict=True)}
    assert columns(only=[None, "each"], features="two") == {"l-all": None, "l-BM25": ["BM25"], "l-DPH": ["DPH"]}
    assert list(columns(without="each", features=["few", "two"])) == [
        *(f"l-few-{word}" for word in words), "l-two-BM25", "l-two-DPH",
    ]  # fmt: skip
    assert experiment(only="each", label="linear").systems["l-BM25"].label == "linear (BM25)"


def test_a_learner_is_compared_with_itself():
    both = {"learner": ["linear", "lightgbm"]}
    less = RANKER | both | {"without": [["z"], ["BM25"]]}
    pairs = {"control": "l", "treatment": "less", "same": ["learner"]}
    given = {"features": SETS, "systems/z": {"model": "m"}, "systems/l": RANKER | both, "systems/less": less}
    made = resolved(given | {"comparisons/c": pairs}).comparisons
    reported = {(one.control, one.treatment) for name, one in made.items() if name.startswith("c-")}
    assert reported == {(f"l-{of}", f"less-{of}-{out}") for of in both["learner"] for out in ("z", "BM25")}


def test_a_selection_is_given_to_the_training_alone_and_needs_the_same_files():
    whole, part = experiment(), experiment(without="z")
    assert planning.features(part, "l", "d", "train") == planning.features(whole, "l", "d", "train")
    reported = planning.training_settings(whole, "l", "0")
    assert planning.training_settings(part, "l", "0") == reported | {"columns": COLUMNS[:5]}
    assert "columns" not in reported
    assert part.systems["l"].settings.takes == ("bm25", "z")
    assert planning.all_tables(whole) and not planning.all_tables(part)
    assert " on 5 of 6 features (few), " in describe(part, part.systems["l"])
    alone = experiment(only="BM25")
    assert " on BM25 alone (few), " in describe(alone, alone.systems["l"])


MISTAKES = {
    "unknown name": ({"only": ["BM26"]}, "systems.l.only: unknown name 'BM26' (did you mean 'BM25'?); few has BM25, BM25.title, PL2.title(c=7), "
     "document_length, query_length, system.z, weighting-models, PL2.title, PL2, lengths-and-terms, z, systems"),
    "one of several": ({"without": [["BM25"], ["lengths"]]}, "systems.l.without (in l-lengths): unknown name 'lengths' (did you mean 'query_length'?); few has"),
    "nothing left": ({"only": "BM25", "without": "weighting-models"}, "systems.l: only and without leave no feature of few"),
    "nothing but itself": ({"only": []}, "systems.l.only"),
    "a number": ({"only": [3]}, "systems.l.only"),
    "a list in a list in a list": ({"only": [[["BM25"]]]}, "systems.l.only: a list or mapping within a list"),
    "a mapping": ({"only": [None, {"system": "z"}]}, "systems.l"),
    "one twice": ({"only": [["BM25"], ["BM25"]]}, "systems.l: becomes 'l-BM25' twice"),
    "each of no set": ({"only": "each", "features": "x"}, "systems.l.features: unknown name 'x'; features has few"),
    "each beside another": ({"only": [["each", "BM25"]]}, "systems.l.only: unknown name 'each'"),
    "of another kind": ({"type": "bm25", "only": "each"}, "systems.l-BM25: a system of type bm25 cannot have"),
}  # fmt: skip


test_a_mistake_is_one_line = each_is_one_line(MISTAKES, lambda keys: experiment(**keys))
