"""Records of keys: declared once; read, given, stated, extended by kinds, and turned into a JSON schema."""

import json
import re
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Literal

import jsonschema
import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import (
    NO_KEY,
    NULL,
    OTHERS,
    Needs,
    Not,
    Rule,
    Written,
    extended,
    given,
    given_of,
    keys_of,
    stated,
    wrong_keys,
)
from ranktrial.common.settings import help_of, read_settings
from ranktrial.configuration.key_schema import of_record

Rate = Annotated[float, Rule(exclusive_minimum=0, maximum=10)]
Sizes = Annotated[tuple[Annotated[int, Rule(minimum=1)], ...], Rule(min_items=1, unique_items=True)]


@dataclass(frozen=True, kw_only=True)
class Adapter:
    rank: Annotated[int, "of the adapter"] = 8


@dataclass(frozen=True, kw_only=True)
class Base:
    rate: Annotated[Rate, "the highest"] = 2e-5
    margin: Annotated[Rate | None, "null: none", NULL] = None


@dataclass(frozen=True, kw_only=True)
class Section(Base):
    from_: Annotated[str | tuple[str, ...], Written(Literal["all"] | Sizes), "where it is from"]
    adapter: Annotated[Adapter | None, "{} is enough"] = None
    always: Adapter = Adapter()
    sizes: Sizes | None = None
    words: Annotated[dict[Literal["dev", "test"], str], "by split"] = field(default_factory=dict)
    note: Annotated[str | None, NO_KEY] = None


@dataclass(frozen=True, kw_only=True)
class Learner:
    type: str
    parameters: Annotated[dict[str, float], OTHERS] = field(default_factory=dict)


WHOLE = {"from": ["a", "b"], "adapter": {}, "sizes": [3, 1], "margin": 0.5, "words": {"dev": "x"}}


def test_lists_become_tuples_and_mappings_records():
    made = read_settings(Section, WHOLE)
    assert made == Section(from_=("a", "b"), adapter=Adapter(), sizes=(3, 1), margin=0.5, words={"dev": "x"})
    assert read_settings(Section, {"from": "a", "adapter": None, "always": Adapter(rank=2)}).always.rank == 2
    assert hash(read_settings(Base, {"rate": 1})) == hash(Base(rate=1))


def test_what_is_given_is_read_again_and_what_is_stated_has_defaults():
    made = read_settings(Section, WHOLE)
    assert given(made) == WHOLE and read_settings(Section, json.loads(json.dumps(given(made)))) == made
    assert given(made, "sizes", "words") == {"from": ["a", "b"], "adapter": {}, "margin": 0.5}
    assert given_of(Base, made) == {"margin": 0.5}
    assert stated(made, "words") == {
        "rate": 2e-5, "margin": 0.5, "from": ["a", "b"], "adapter": {"rank": 8}, "always": {"rank": 8}, "sizes": [3, 1],
    }  # fmt: skip


def test_a_schema_says_type_bounds_default_and_sentence():
    schema = of_record(Section)
    assert schema["required"] == ["from"] and schema["additionalProperties"] is False
    properties = schema["properties"]
    rate = {"type": "number", "exclusiveMinimum": 0, "maximum": 10}
    assert properties["rate"] == {"description": "the highest", **rate, "default": 2e-5}
    assert properties["margin"] == {"description": "null: none", "anyOf": [rate, {"const": None}], "default": None}
    assert properties["from"]["anyOf"][0] == {"const": "all"}  # as it is written
    assert "default" not in properties["adapter"] and properties["adapter"]["properties"]["rank"]["default"] == 8
    assert properties["always"]["default"] == {} and "note" not in properties
    assert set(properties["words"]["properties"]) == {"dev", "test"}
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid({"from": [1]}) and not check.is_valid({"from": [0]})
    assert not check.is_valid({"from": "all", "adapter": None}) and check.is_valid({"from": "all", "margin": None})


def test_keys_that_a_record_does_not_name_are_kept_where_it_says_so():
    assert read_settings(Learner, {"type": "t", "a": 1, "b": 2}) == Learner(type="t", parameters={"a": 1, "b": 2})
    assert of_record(Learner)["additionalProperties"] == {"type": "number"}
    with pytest.raises(UserError, match=re.escape("x: parameters: expected dict[str, float], not {'a': 'b'}")):
        read_settings(Learner, {"type": "t", "a": "b"}, "x")


def test_a_mapping_or_list_of_anything_is_reported_by_its_class():
    anything = make_dataclass("Anything", [("mapping", dict), ("listed", list)])
    assert read_settings(anything, {"mapping": {"a": 1}, "listed": [1]}).listed == [1]
    with pytest.raises(UserError, match="mapping: expected dict, not 1"):
        read_settings(anything, {"mapping": 1, "listed": []})


def test_a_section_with_the_keys_of_kinds_is_one_record():
    both = extended(Base, Adapter, Adapter)
    assert list(keys_of(both)) == ["rate", "margin", "rank"] and extended(Base, Adapter, Adapter) is both
    assert read_settings(both, {"rank": 3}).rank == 3 and isinstance(both(), Base)


def test_help_shows_types_without_their_rules():
    assert help_of(Base).splitlines() == [
        "  rate: float (default: 2e-05)  the highest", "  margin: float | None (default: None)  null: none",
    ]  # fmt: skip


def _is_even(number):
    return number % 2 == 0


@dataclass(frozen=True, kw_only=True)
class Inner:
    speed: int | None = None
    limit: Annotated[int | None, "at most", Needs("inner.speed", "it is a limit of that")] = None
    mode: Annotated[str, Needs("size: 2 or inner.limit"), Not("fast: true", of="careful")] = "plain"


@dataclass(frozen=True, kw_only=True)
class Related:
    size: int = 1
    fast: Annotated[bool, Not("inner.speed or inner.limit")] = False
    half: Annotated[int | None, Needs("an even size", path="size", such=_is_even)] = None
    inner: Inner = Inner()


@pytest.mark.parametrize(
    ("entry", "problems"),
    [
        (Related(), []),
        (Related(fast=True, size=3), []),
        (Related(half=1, size=2, inner=Inner(mode="any")), []),
        (Related(half=1), [("half", "only valid with an even size")]),
        (Related(fast=True, inner=Inner(speed=0)), [("fast", "not together with inner.speed")]),
        (Related(inner=Inner(limit=3)), [("inner.limit", "only valid with speed (it is a limit of that)")]),
        (Related(inner=Inner(mode="any")), [("inner.mode", "only valid with size: 2 or limit")]),
        (Related(fast=True, size=2, inner=Inner(mode="any")), []),
        (
            Related(fast=True, size=2, inner=Inner(mode="careful")),
            [("inner.mode", "careful is not together with fast: true")],
        ),
    ],
)
def test_a_key_that_does_not_go_with_others_is_reported_with_its_path(entry, problems):
    assert list(wrong_keys(entry)) == problems


def test_conditions_between_keys_are_part_of_the_description():
    described = {name: key.description for name, key in keys_of(Inner).items()}
    assert described["limit"] == "at most; only with inner.speed"
    assert described["mode"] == "only with size: 2 or inner.limit; careful not with fast: true"
