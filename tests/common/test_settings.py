"""Settings of a script: read into its dataclass, or refused with the key that is wrong."""

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest

from ranktrial.common.command_line import parser
from ranktrial.common.errors import UserError
from ranktrial.common.settings import given, help_of, read_settings


@dataclass(frozen=True)
class Grid:
    k1: list[float]


@dataclass(frozen=True)
class Search:
    depth: Annotated[int, "documents per query that are kept"]
    how: Literal["one", "two"] = "one"
    share: float | None = None
    labels: dict[str, str] = field(default_factory=dict)
    grid: Grid | None = None
    plain: Grid = field(default_factory=lambda: Grid([1]))
    named: dict[str, Grid] = field(default_factory=dict)
    listed: list[Grid] = field(default_factory=list)


def test_values_stay_what_they_are():
    made = read_settings(Search, {"depth": 3, "share": 1, "labels": {"a": "b"}, "plain": {"k1": [1, 2.5]}})
    assert made == Search(3, share=1, labels={"a": "b"}, plain=Grid([1, 2.5])) and type(made.share) is int


def test_dataclasses_are_read_inside_lists_and_mappings_and_where_null_is_allowed():
    made = read_settings(Search, {"depth": 1, "grid": {"k1": [2]}, "named": {"a": {"k1": [3]}}, "listed": [{"k1": []}]})
    assert made == Search(1, grid=Grid([2]), named={"a": Grid([3])}, listed=[Grid([])])
    assert read_settings(Search, {"depth": 1, "grid": None}).grid is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"depth": 1, "deep": 2}, "unknown key 'deep'; expected depth, how,"),
        ({"how": "two"}, "key 'depth' is missing"),
        ({"depth": "1"}, "depth: expected int, not '1' (str)"),
        ({"depth": True}, "depth: expected int, not True (bool)"),
        ({"depth": 1, "how": "three"}, "how: expected 'one' or 'two', not 'three'"),
        ({"depth": 1, "labels": {"a": 1}}, "labels: expected dict[str, str], not {'a': 1}"),
        ({"depth": 1, "plain": {}}, "plain: key 'k1' is missing"),
        ({"depth": 1, "plain": {"k1": ["x"]}}, "plain: k1: expected list[float]"),
        ({"depth": 1, "grid": {"k2": []}}, "grid: unknown key 'k2'"),
        ({"depth": 1, "named": {"a": {}}}, "named.a: key 'k1' is missing"),
        ({"depth": 1, "listed": [{"k1": [1]}, 3]}, "listed[1]: expected an object, not 3"),
        ({"depth": 1, "listed": {}}, "listed: expected list["),
    ],
)
def test_what_is_wrong_is_reported_with_its_key(values, said):
    with pytest.raises(UserError, match=re.escape(f"--settings: {said}")):
        read_settings(Search, values)


def test_help_lists_each_field_with_its_type_default_and_meaning():
    lines = help_of(Search).splitlines()
    assert lines[0] == "  depth: int  documents per query that are kept"
    assert lines[1] == "  how: 'one' or 'two' (default: 'one')"
    assert len(lines) == 8


def test_the_command_line_reads_settings_into_the_dataclass_and_explains_them():
    made = parser("What it does.", "run*", settings=Search)
    assert made.parse_args(["--settings", json.dumps({"depth": 2, "sha256_of": {}})]).settings == Search(2)
    assert "documents per query that are kept" in made.format_help()


@dataclass(frozen=True)
class Negatives:
    from_: Annotated[str, "where they come from"]
    length: int | None = None


def test_a_word_of_python_is_a_field_with_an_underscore():
    assert read_settings(Negatives, {"from": "bm25"}) == Negatives("bm25")
    assert help_of(Negatives).splitlines()[0] == "  from: str  where they come from"
    with pytest.raises(UserError, match="unknown key 'from_'; expected from, length"):
        read_settings(Negatives, {"from_": "bm25"})


def test_what_was_given_leaves_out_defaults_and_keeps_what_is_required():
    assert given(Negatives("bm25")) == {"from": "bm25"}
    assert given(Negatives("bm25", 3)) == {"from": "bm25", "length": 3}
