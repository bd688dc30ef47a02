"""Records of results: what is written is read again as it was, and a key that does not fit is named."""

import json
from dataclasses import dataclass, field
from typing import Annotated

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import INLINE, given
from ranktrial.common.projection import filled
from ranktrial.common.settings import read_record, read_settings, write_record


@dataclass(frozen=True)
class Ends:
    low: float
    high: float | None


@dataclass(frozen=True)
class Given:
    source: str


@dataclass(frozen=True)
class Assumed:
    sd: float


@dataclass(frozen=True)
class Row:
    number: int
    ends: Annotated[Ends, INLINE]


@dataclass(frozen=True)
class Kept:
    name: str
    basis: Annotated[Given | Assumed, INLINE]
    ends: Ends | None
    pair: tuple[float, float] | None
    points: tuple[Ends, ...]
    by_name: dict[str, Ends]
    of: list[str]
    how: str | dict[str, int] = "random"
    further: Annotated[Ends | None, INLINE] = None
    rows: dict[str, Row | None] = field(default_factory=dict)


WHOLE = Kept(
    "n",
    Given("s"),
    Ends(1, None),
    (0.1, 2),
    (Ends(1.5, 2),),
    {"a": Ends(0, 1)},
    ["x"],
    {"b": 2},
    Ends(3, 4),
    {"r": Row(1, Ends(5, 6)), "none": None},
)
SHORT = Kept("n", Assumed(0.5), None, None, (), {}, [])


@pytest.mark.parametrize("kept", [WHOLE, SHORT], ids=["whole", "short"])
def test_what_is_written_is_read_again(tmp_path, kept):
    path = tmp_path / "kept.json"
    write_record(path, kept)
    assert read_record(Kept, path) == kept


def test_a_default_is_left_out_and_null_is_kept():
    assert given(SHORT) == {"name": "n", "sd": 0.5, "ends": None, "pair": None, "points": [], "by_name": {}, "of": []}
    assert list(given(WHOLE)) == [
        "name",
        "source",
        "ends",
        "pair",
        "points",
        "by_name",
        "of",
        "how",
        "low",
        "high",
        "rows",
    ]
    assert json.loads(json.dumps(given(WHOLE)))["points"] == [{"low": 1.5, "high": 2}]


@pytest.mark.parametrize(("change", "said"), [
    ({"nam": 1}, "k: unknown key 'nam'"),
    ({"name": 3}, "k: name: expected str, not 3"),
    ({"ends": {"low": 1}}, "k: ends: key 'high' is missing"),
    ({"points": [{"low": 1}]}, r"k: points\[0\]: key 'high' is missing"),
    ({"by_name": {"a": 3}}, "k: by_name.a: expected an object, not 3"),
    ({"pair": [1, "x"]}, r"k: pair: expected tuple\[float, float\] \| None, not \[1, 'x'\]"),
    ({"pair": [1]}, r"k: pair: expected tuple\[float, float\] \| None, not \[1\]"),
    ({"pair": "12"}, r"k: pair: expected tuple\[float, float\] \| None"),
    ({"points": {}}, "k: points: expected"),
    ({"by_name": []}, "k: by_name: expected"),
    ({"how": 1}, "k: how: expected"),
])  # fmt: skip
def test_what_does_not_fit_is_named(change, said):
    with pytest.raises(UserError, match=f"^{said}"):
        read_settings(Kept, given(SHORT) | change, "k")


def test_a_missing_key_is_named():
    for key in ("name", "pair"):
        with pytest.raises(UserError, match=rf"^k: key '{key}' is missing$"):
            read_settings(Kept, {name: value for name, value in given(SHORT).items() if name != key}, "k")
    with pytest.raises(UserError, match=r"^k: key 'source' is missing$"):
        read_settings(Kept, {name: value for name, value in given(SHORT).items() if name != "sd"}, "k")
    with pytest.raises(UserError, match=r"^k: expected an object, not \[\] \(list\)$"):
        read_settings(Kept, [], "k")


def test_a_record_is_filled_from_what_is_given_else_from_the_first_record_that_has_the_field():
    found = filled(Ends, Given("s"), Ends(1, 2), Ends(3, 4), high=None)
    assert found == Ends(1, None)
