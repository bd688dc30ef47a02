"""Configurations with former words: they mean what they meant, and one line says what to write."""

import copy

import pytest

from scripts.common.errors import UserError
from scripts.experiment.former_words import former_words
from scripts.experiment.resolution import resolve


def config(way, length):
    return {
        "experiment": "e",
        "datasets": {"d": {"format": "beir", "location": "tests"}},
        "models": {"m": {"type": "bi-encoder", "weights": "org/m"}},
        "recipes": {"r": {"train_on": "d", "long_documents": way, length: 80}},
        "systems": {"cut": {"model": "m", "recipe": "r", "long_documents": way, length: 80}},
        "tasks": ["d"],
    }


FORMER, CURRENT = config("split", "piece_length"), config("passages", "passage_length")


def test_former_words_mean_the_same():
    assert vars(resolve(copy.deepcopy(FORMER), "c.yaml")) == vars(resolve(copy.deepcopy(CURRENT), "c.yaml"))


def test_one_line_says_what_to_write():
    (line,) = former_words(FORMER)
    assert "long_documents: split is long_documents: passages now" in line
    assert "piece_length is passage_length now" in line and "\n" not in line
    assert former_words(CURRENT) == []


def test_a_list_of_values_keeps_the_names_that_it_makes():
    listed = config(["truncate", "split"], "comment")
    del listed["recipes"]["r"]["comment"], listed["systems"]
    listed["systems"] = {"cut": {"model": "m", "recipe": "r-split", "long_documents": "passages"}}
    experiment = resolve(copy.deepcopy(listed), "c.yaml")
    assert list(experiment.recipes) == ["r-truncate", "r-split"]
    assert experiment.recipes["r-split"]["long_documents"] == "passages"
    assert former_words(listed) == ["long_documents: split is long_documents: passages now: "
                                    "the former words are read as these, please write them"]  # fmt: skip


def test_both_words_at_once_are_refused():
    both = copy.deepcopy(CURRENT)
    both["systems"]["cut"]["piece_length"] = 90
    with pytest.raises(UserError, match=r"systems.cut: unknown key 'piece_length'; did you mean 'passage_length'\?"):
        resolve(both, "c.yaml")


@pytest.mark.parametrize("entries", [None, [], "x", {"r": None}, {"r": []}, {"r": {"long_documents": [["split"]]}}])
def test_what_is_no_configuration_is_left_to_the_schema(entries):
    assert former_words({"recipes": entries}) == []
