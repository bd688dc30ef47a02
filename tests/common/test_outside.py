"""Numbers, JSON and paths that come from outside."""

import json
import re

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.paths import below, why_not_below
from ranktrial.common.strict_json import parse_json, plain_json, read_json
from ranktrial.common.wording import finite, integer
from tests.support.one_line import refused
from tests.support.sources import our_sources


@pytest.mark.parametrize(
    "text", ["1_000", "١٢", "nan", "inf", "-infinity", "1e999", "", " 1", "0x1", "1,5", "1e", ".", "+"]
)
def test_what_is_no_plain_finite_number(text):
    assert finite(text) is None


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), ("-1.5", -1.5), (".5", 0.5), ("2.", 2.0), ("1e-3", 0.001), ("+4E2", 400.0)]
)
def test_plain_numbers(text, value):
    assert finite(text) == value


@pytest.mark.parametrize(
    "text", ["1.0", "1_0", "٣", "9223372036854775808", "-9223372036854775808", "1" * 5000, "", "1e3"]
)
def test_what_is_no_integer_of_64_bits(text):
    assert integer(text) is None


def test_integers():
    assert (integer("9223372036854775807"), integer("-1"), integer("+07")) == (2**63 - 1, -1, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', "x: duplicate key 'a'"),
        ('[{"b": {"a": 1, "a": 1}}]', "x: duplicate key 'a'"),
        ("NaN", "x: NaN is not a JSON number"),
        ("[-Infinity]", "x: -Infinity is not a JSON number"),
        ("1e999", "x: the number 1e999 is beyond 64 bits"),
        ("9223372036854775808", "x: the number 9223372036854775808 is beyond 64 bits"),
        ("1" * 5000, "x: the number 11111111111111111111… is beyond 64 bits"),
        (r'{"a": ["\ud800"]}', "x: half of a surrogate pair"),
        (r'{"\uDC00": 1}', "x: half of a surrogate pair"),
        ("[" * 100_000, "x: nested too deep"),
        ('{"a":' * 100_000, "x: nested too deep"),
        ("[" * 501 + "]" * 501, "x: nested too deep; expected at most 500 levels"),
        ("{'a': 1}", "x: not JSON (Expecting property name"),
        ("[1,\n2", "x: not JSON (Expecting ',' delimiter at line 2"),
        ("", "x: not JSON (Expecting value at column 1"),
    ],
    ids=lambda value: value[:20],
)
def test_json_that_is_refused(text, said):
    with refused(start=said):
        parse_json(text, "x")


def test_json_that_is_read(tmp_path):
    assert parse_json(r'{"a": ["😀", 1.5, null, -3]}', "x") == {"a": ["😀", 1.5, None, -3]}
    assert parse_json("[" * 500 + "]" * 500, "x")
    assert parse_json(json.dumps(wide := [{"a": '"[{\\'}] * 999), "x") == wide, (
        "neither brackets in texts nor those in a row"
    )
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_json(tmp_path / "a.json") == {"a": 1}
    (tmp_path / "b.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(UserError, match=r"b\.json: not UTF-8 text"):
        read_json(tmp_path / "b.json")
    with pytest.raises(UserError, match=r"c\.json: no such file"):
        read_json(tmp_path / "c.json")


@pytest.mark.parametrize(
    "name", ["", ".", "/etc/passwd", "..", "a/../b", "a//b", "./a", "a/", "a\\b", "a\nb", "a\0b", "a" * 256, "é" * 128]
)
def test_a_path_that_is_refused(tmp_path, name):
    with pytest.raises(UserError, match="x: refused, the path"):
        below(tmp_path, name, "x")


def test_a_path_below_its_folder_is_taken_and_one_through_a_link_is_not(tmp_path):
    assert below(tmp_path, "a/b c.txt", "x") == tmp_path / "a" / "b c.txt"
    assert why_not_below("a/..b/...") is None
    (tmp_path / "link").symlink_to("/tmp")
    for name in ("link", "link/a"):
        with pytest.raises(UserError, match="goes through a link"):
            below(tmp_path, name, "x")


@pytest.mark.parametrize("text", ["[" * 501, b"[" * 100_000, '{"a":' * 501, "{", b"\xff", ""])
def test_damaged_json_is_one_kind_of_error(text):
    with pytest.raises(ValueError):
        plain_json(text)


def test_deep_json_is_refused_before_python_reads_it():
    """Since Python 3.13, reading it ends the process where Java runs in it: catching RecursionError is no answer."""
    for file in our_sources():
        caught = re.findall(r"json\.loads?\(.*\n(?:.*\n){0,3}?.*RecursionError", file.read_text(encoding="utf-8"))
        assert not caught, f"{file}: plain_json refuses what is nested too deep"
