"""The head of a README from outside: what is read of it, and that nothing in it takes long or much memory."""

import resource
import time
from itertools import pairwise

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import front_matter
from tests.support.one_line import refused

NAMES = "abcdefghi"


def nested(first, each):
    """Nine anchors, each of which holds the one before ten times: a billion of the first."""
    return f"a: &a {first}\n" + "".join(
        f"{name}: &{name} {each(', '.join([f'*{one}'] * 10))}\n" for one, name in pairwise(NAMES)
    )


HOSTILE = {
    "aliases": nested("[x]", lambda ten: f"[{ten}]") + "wanted: *i",
    "aliases of another key": nested("[x]", lambda ten: f"[{ten}]") + "wanted: fine",
    "aliases in a key": nested("[x]", lambda ten: f"[{ten}]") + "wanted: {? *i : x}",
    "merges": nested("{k: v}", lambda ten: f"{{<<: [{ten}]}}") + "wanted: {<<: *i}",
    "a list inside itself": "wanted: &a [*a]",
    "depth": "wanted: " + "[" * 100_000,
    "depth of mappings": "wanted: " + "{a: " * 100_000,
    "values": "wanted:\n" + "- x\n" * 100_000,
    "digits": "wanted: " + "1" * 900_000,
    "quotes": "wanted: '" + "''" * 400_000 + "'",
    "NUL": "wanted: a\0",
    "length": "wanted: x\n" + "a: b\n" * 300_000,
    "no YAML": "wanted: [",
    "no mapping": "- wanted",
    "a tag": "wanted: !!python/object/apply:os.system ['false']",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_takes_long_or_much_memory(tmp_path, name):
    (tmp_path / "README.md").write_text(f"---\n{HOSTILE[name]}\n---\n# A page\n")
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        found = front_matter(tmp_path / "README.md", "wanted")
        assert name in ("aliases of another key", "digits", "quotes", "a tag") and len(str(found)) < 1_000_000
    except UserError as error:
        assert "\n" not in str(error) and len(str(error)) < 400 and str(error).startswith(str(tmp_path))
    assert time.process_time() - start < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB


def test_an_error_has_the_line_of_the_file(tmp_path):
    (tmp_path / "README.md").write_text("\n---\na: b\nwanted: &a [*a]\n---\n")
    with refused("README.md:4: an alias (*name) lies inside what it names"):
        front_matter(tmp_path / "README.md", "wanted")


def test_all_but_null_and_truth_are_texts(tmp_path):
    (tmp_path / "README.md").write_text(
        "\ufeff---\r\nwhen: 2024-01-01\nlarge: 99999999999999999999999\n"
        "wanted:\n- {a: 2020, b: 2024-01-01, c: 1:30, d: .nan, e: null, f: true, g: no, h: '1', [x]: y}\n- &b [b]\n- *b\n"
        "---  \r\n# A page\n---\nwanted: other\n---\n"
    )
    values = {"a": "2020", "b": "2024-01-01", "c": "1:30", "d": ".nan", "e": None, "f": True, "g": False, "h": "1"}
    assert front_matter(tmp_path / "README.md", "wanted") == [values, ["b"], ["b"]]
    assert front_matter(tmp_path / "README.md", "other") is None


@pytest.mark.parametrize(
    "text", ["", "# A page\n", "---\nwanted: x\n", "---\n---\n", "text\n---\nwanted: x\n---\n", "---\n\n---\n"]
)
def test_no_head_is_none(tmp_path, text):
    (tmp_path / "README.md").write_text(text)
    assert front_matter(tmp_path / "README.md", "wanted") is None
