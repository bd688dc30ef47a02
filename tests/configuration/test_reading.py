"""What a configuration may not hold, class by class: YAML and texts (numbers: test_numbers.py); and that each message is true and one line."""

import argparse
import copy
import datetime
import os
import subprocess
import sys

import jsonschema
import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.configuration.key_paths import with_file
from ranktrial.configuration.reading import complete, read_yaml
from ranktrial.configuration.schema import schema as whole_schema
from ranktrial.experiment.resolution import resolve
from scripts.engine import launch
from tests.experiment.test_config import BASE, changed
from tests.workflow.conftest import REPOSITORY

NINES = "9" * 5000
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP_ALIASES = "a: &a [[[[[[[[1]]]]]]]]\nb: &b [[[[[[[*a]]]]]]]\nc: [[[[[[[*b]]]]]]]\n"
YAML = {
    "empty": (b"", "is empty"),
    "comments only": (b"# a\n# b\n", "is empty"),
    "null": (b"null\n", "is empty"),
    "list": (b"- 1\n- 2\n", "1: a list at the top; expected a mapping"),
    "text": (b"just text\n", "1: text at the top"),
    "number": (b"3\n", "1: a number at the top"),
    "two documents": (b"a: 1\n---\nb: 2\n", "2: not YAML: but found another document"),
    "two documents, the second empty": (b"a: 1\n---\n", "2: not YAML: but found another document"),
    "tab": (b"a:\n\tb: 1\n", "2: not YAML: found character '\\t'"),
    "indentation": (b"a:\n  b: 1\n c: 2\n", "3: not YAML: expected <block end>"),
    "open quote": (b"a: 1\nb: 'x\nc: 2\nd: 3\n", "2: not YAML: the quote that begins here is not closed"),
    "open double quote": (b'a: 1\nb:\n  - "x\nc: 2\n', "3: not YAML: the quote that begins here is not closed"),
    "open quote, closed by a later one": (b"a: 'x\nb: 1\nc: 'y'\n", "1: not YAML: the quote that begins here is closed in line 3 only"),
    "open quote, closed before a colon": (b'a: "x\nb: "c: d"\n', "1: not YAML: the quote that begins here is closed in line 2 only"),
    "open quote in brackets": (b"a: {b: 'x, c: 1}\nd: 2\n", "1: not YAML: the quote that begins here is not closed"),
    "apostrophe": (b"a: 'it's fine'\n", "1: not YAML: more text follows the quoted 'it'; quote the text as a whole"),
    "open bracket": (b"a: [1, 2\nb: 3\n", "1: not YAML: the bracket that begins here is not closed, or a text in it needs quotes (noticed in line 2)"),
    "colon in a text": (b"x: 1\na: b: c\n", "2: not YAML: the text 'b' that begins here has ': ' behind it; quote a text"),
    "colon at its end": (b"a: b c:\n", "1: not YAML: the text 'b c' that begins here has ': ' behind it; quote a text"),
    "colon in the second line of a text": (b"a:\n  b c\n  d: e\n", "2: not YAML: the text 'b c d' that begins here has ': ' behind it in line 3"),
    "colon in a list": (b"a:\n- b: c: d\n", "2: not YAML: the text 'c' that begins here has ': ' behind it; quote"),
    "colon in brackets": (b"x: 1\na: [b: c: d]\n", "2: not YAML: the bracket that begins here is not closed, or a text in it needs quotes"),
    "key without a colon": (b"a: 1\nb\nc: 2\n", "2: not YAML: a key is followed by ': ' and its value (noticed in line 3)"),
    "backslash": (b'a: "C:\\data"\n', "1: not YAML: found unknown escape character 'd' (a backslash has a meaning"),
    "at sign": (b"a: @x\n", "cannot start any token"),
    "unknown tag": (b"a: !x 1\n", "1: unknown tag '!x'"),
    "Python's tag": (b"a: !!python/object/apply:os.system [ls]\n", "1: unknown tag '!!python/object/apply:os.system'"),
    "binary": (b"a: !!binary aGk=\n", "1: unknown tag '!!binary'"),
    "set": (b"a: !!set {x}\n", "1: unknown tag '!!set'"),
    "tag of another kind": (b"a: !!str [1]\n", "1: unknown tag '!!str'"),
    "tag that does not fit": (b"a: !!int x\n", "1: 'x' is not a number"),
    "unknown alias": (b"a: *b\n", "1: not YAML: found undefined alias 'b'"),
    "anchor twice": (b"a: &a 1\nb: &a 2\n", "2: not YAML: second occurrence"),
    "NUL": (b"a: 1\nb: \0\n", "2: contains NUL"),
    "escaped NUL": (b'a: "\\0"\n', "1: the text '\\x00' contains NUL"),
    "escaped surrogate": (b'a: "\\ud800"\n', "1: the text '\\ud800' contains U+D800"),
    "bell": (b"a: \x07\n", "1: contains U+0007"),
    "line separator": ("a: 'x\u2028y'\n".encode(), "1: contains U+2028 (LINE SEPARATOR)"),
    "turned direction in a comment": ("# \u202ex\n".encode(), "1: contains U+202E (RIGHT-TO-LEFT OVERRIDE)"),
    "Latin-1": ("a: 1\nb: ä\n".encode("latin-1"), "2: the byte 0xe4 is not UTF-8 text; save the file as UTF-8"),
    "UTF-16": ("a: 1".encode("utf-16"), "save it as UTF-8"),
    "UTF-16, no mark": ("a: 1".encode("utf-16-le"), "save it as UTF-8"),
    "UTF-16, big end first": ("a: 1".encode("utf-16-be"), "save it as UTF-8"),
    "UTF-32": ("a: 1".encode("utf-32-be"), "save it as UTF-8"),
    "gzip": (b"\x1f\x8b\x08\x08\x01\x01", "1: the byte 0x8b is not UTF-8 text"),
    "recursive list": (b"a: &a [*a]\n", "1: an alias (*name) lies inside what it names"),
    "recursive mapping": (b"a: &a\n  b: {c: *a}\n", "an alias (*name) lies inside what it names"),
    "list as key": (b"? [1, 2]\n: 3\n", "1: the key is a list to YAML"),
    "mapping as key": (b"? {a: b}\n: 3\n", "1: the key is a mapping to YAML"),
    "number as key": (b"1: x\n", "1: the key 1 is a number to YAML; for a text write '1'"),
    "true as key": (b"true: x\n", "1: the key true is true or false to YAML"),
    "no as key": (b"no: x\n", "1: the key no is true or false to YAML; for a text write 'no'"),
    "null as key": (b"null: x\n", "1: the key null is null to YAML"),
    "date as key": (b"2020-01-01: x\n", "1: 2020-01-01 is a date to YAML"),
    "key twice": (b"a: 1\nb: 2\na: 3\n", "3: duplicate key 'a'"),
    "merge key twice": (b"a: {<<: {x: 1}, <<: {y: 1}}\n", "1: duplicate key '<<'"),
    "merged number": (b"<<: 3\n", "1: not YAML: expected a mapping"),
    "merged list of numbers": (b"<<: [1]\n", "1: not YAML: expected a mapping"),
    "date": (b"a: 1\nb: 2020-01-01\n", "2: 2020-01-01 is a date to YAML; no value here is a date; for a text write '2020"),
    "time": (b"a: 2020-01-01 10:00:00\n", "1: 2020-01-01 10:00:00 is a date to YAML"),
    "NaN": (b"a: .nan\n", "1: .nan is not a finite number"),
    "infinity": (b"a: [1, .inf]\n", "1: .inf is not a finite number"),
    "minus infinity": (b"a: {b: -.INF}\n", "1: -.INF is not a finite number"),
    "number beyond 64-bit floats": (b"a: 1.0e+999\n", "1: 1.0e+999 is not a finite number"),
    "number beyond 64-bit integers": (b"a: 9223372036854775808\n", "1: the number 9223372036854775808 is beyond 64 bits"),
    "5,000 digits": (f"a: {NINES}\n".encode(), "is beyond 64 bits"),
    "octal": (b"a: 010\n", "1: 010 is the number 8 to YAML; write 8, or '010' for a text"),
    "sexagesimal": (b"a: 1:30\n", "1: 1:30 is the number 90 to YAML; write 90, or '1:30' for a text"),
    "sexagesimal float": (b"a: 1:30.5\n", "1: 1:30.5 is the number 90.5 to YAML"),
    "binary digits without one": (b"a: 0b_\n", "1: '0b_' is not a number"),
    "equals sign": (b"a: =\n", "1: = has a meaning of its own"),
    "deep": (b"a: " + b"[" * 60 + b"]" * 60, "1: more than 20 lists and mappings inside one another"),
    "very deep": (b"[" * 100_000, "1: more than 20 lists"),
    "deep by aliases": (DEEP_ALIASES.encode(), "more than 20 lists and mappings"),
    "billion laughs": (BOMB.encode(), "contains more than 100,000 values"),
    "large": (b"#" * (1 << 20) + b"\n", "is larger than 1 MB"),
    "template": (b"__use_yte__: true\na: ?if 1\n", "1: the key __use_yte__ would run code from the configuration"),
    "version 3": (b"%YAML 3.0\n---\na: 1\n", "1: not YAML: found incompatible YAML document"),
}  # fmt: skip


def refused(function, *arguments):
    """The message with which the arguments are refused, which is one line that can be printed."""
    with pytest.raises(UserError) as error:
        function(*arguments)
    assert str(error.value).isprintable(), "more than one line, or signs that cannot be seen"
    return str(error.value)


@pytest.mark.parametrize(("content", "said"), YAML.values(), ids=YAML)
def test_yaml_that_is_refused(tmp_path, content, said):
    path = tmp_path / "c.yaml"
    path.write_bytes(content)
    message = refused(read_yaml, path)
    assert message.startswith(f"{path}:") and said in message


def test_files_that_are_none(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    cases = {"none.yaml": "no such file", ".": "is a folder", "pipe": "is a pipe", "/dev/zero": "is a pipe or a device",
             "loop": "cannot be read", "a" * 300: "cannot be read", "a\nb": "no such file", "a\0b": "contains a NUL"}  # fmt: skip
    for name, said in cases.items():
        assert said in refused(read_yaml, tmp_path / name)


@pytest.mark.parametrize(
    "content",
    ["\ufeffa: 1\n", "a: 1\r\nb: 2\r\n", "%YAML 1.1\n---\na: 1\n", "a: 1_000\n", "b: &b {x: 1, y: 2}\na: {<<: *b, x: 3}\n", "a: 'ünï 日本 😀'\n", '{"a": [1, 2.5, null, true, "x"]}', "a: !!str 2020-01-01\n"],
    ids=["byte order mark", "CRLF", "version", "underscore", "merge", "letters of the world", "JSON", "tag"],
)  # fmt: skip
def test_yaml_that_is_read(tmp_path, content):
    (tmp_path / "c.yaml").write_text(content)
    assert read_yaml(tmp_path / "c.yaml") == yaml.safe_load(content)


def test_the_launcher_reads_before_snakemake_does(tmp_path):
    (tmp_path / "c.yaml").write_text("- 1\n")
    command = [sys.executable, "-P", launch.__file__, "-n", "--configfiles", "config/ranger.yaml", tmp_path / "c.yaml"]
    done = subprocess.run(command, cwd=launch.ROOT, capture_output=True, text=True)
    reported = [line for line in done.stderr.splitlines() if not line.startswith("Using ")]
    assert (done.returncode, reported) == (
        1,
        [f"error: {tmp_path}/c.yaml:1: a list at the top; expected a mapping (key: value)"],
    )


@pytest.mark.parametrize(
    "given", [["bad.yaml"], ["good.yaml", "bad.yaml"], ["bad.yaml", "good.yaml"], ["none.yaml"], ["."]], ids=" ".join
)
def test_the_launcher_reads_every_file_of_the_command_line(tmp_path, given):
    (tmp_path / "bad.yaml").write_text("a: [1\n")
    (tmp_path / "good.yaml").write_text("a: 1\n")
    arguments = argparse.Namespace(
        directory=None, snakefile=launch.ROOT / "Snakefile", configfile=[tmp_path / one for one in given]
    )
    assert str(tmp_path) in refused(launch.check, arguments)
    arguments.snakefile = tmp_path / "Snakefile"  # of another workflow: none of our business
    launch.check(arguments)


def test_the_launcher_reads_the_usual_configuration_where_none_is_named(tmp_path):
    arguments = argparse.Namespace(directory=tmp_path, snakefile=launch.ROOT / "Snakefile", configfile=[])
    assert refused(launch.check, arguments) == f"{tmp_path}/config/config.yaml: no such file"
    arguments.directory = launch.ROOT
    launch.check(arguments)


# What each message says, for every validator of the schema

MESSAGES = {
    "quoted number": ({"depth": "42"}, "depth: '42' is text; expected a whole number from 1 to 10000000 (it is text, in quotes or to YAML: write 42)"),
    "exponent": ({"depth": "1e3"}, "write 1000)"),
    "small exponent": ({"recipes/r/learning_rate": "2e-5"}, "write 2.0e-05)"),
    "no number": ({"depth": "1_0"}, "depth: '1_0' is text; expected a whole number from 1 to 10000000"),
    "fraction": ({"depth": 1.5}, "depth: 1.5 is not a whole number; expected"),
    "too small": ({"depth": 0}, "depth: 0 is too small; expected a whole number from 1"),
    "too large": ({"seed": 2**32}, "seed: 4294967296 is too large; expected a whole number from 0 to 4294967295"),
    "true for a number": ({"seed": True}, "seed: true is true or false; expected a whole number"),
    "list for a number": ({"seed": [1]}, "seed: [1] is a list; expected a whole number"),
    "null": ({"seed": None}, "seed: has no value (null); expected a whole number"),
    "text for a list": ({"tasks": "d"}, "tasks: 'd' is text; expected a list"),
    "no as text": ({"systems/bm25/label": False}, "systems.bm25.label: false is true or false; expected a line of text of at most 200 characters (to YAML, yes, no"),
    "number as text": ({"systems/bm25/label": 7}, "label: 7 is a whole number; expected a line of text of at most 200 characters (put it in quotes"),
    "text as true": ({"systems/bm25/tune": "yes"}, "tune: 'yes' is text; expected true or false (write true without quotes)"),
    "text as mapping": ({"systems/bm25": "x"}, "systems.bm25: 'x' is text; expected a mapping (keys type, label, tasks, feedback_terms, …)"),
    "null as mapping": ({"comparisons": None}, "comparisons: has no value (null); expected a mapping, or leave the key out"),
    "empty text": ({"systems/bm25/label": ""}, "systems.bm25.label: '' is empty; expected a line of text"),
    "empty name": ({"experiment": ""}, "experiment: '' is empty; expected a name of"),
    "enum": ({"comparisons/c/estimator": "RELM"}, "estimator: unknown value 'RELM' (did you mean 'REML'?); expected one of DL, PM"),
    "enum, other case": ({"comparisons/c/effect": "md"}, "did you mean 'MD'?"),
    "enum of numbers": ({"comparisons/c/ddof": 2}, "ddof: 2 is a whole number; expected one of 0, 1"),
    "const, near": ({"recipes/r/queries": "al"}, "queries: unknown value 'al' (did you mean 'all'?)"),
    "const, far": ({"recipes/r/queries": "some"}, "queries: 'some' is text; expected 'all' or a whole number from 1"),
    "anyOf, a way that is meant": ({"systems/tuned/seeds": [1, 1]}, "systems.tuned.seeds: duplicate entry 1"),
    "anyOf, a deeper place": ({"systems/tuned/seeds": [1, 0]}, "systems.tuned.seeds[2]: 0 is too small"),
    "anyOf, too small": ({"systems/tuned/seeds": 0}, "systems.tuned.seeds: 0 is too small; expected a whole number from 1"),
    "doubled fractions": ({"systems/bm25": {"type": "bm25", "tune": True, "grid": {"k1": [0.5, 0.5]}}}, "grid.k1: duplicate entry 0.5"),
    "one number, written in two ways": ({"systems/tuned/seeds": [1, 1.0]}, "duplicate entry"),
    "the same task twice": ({"tasks": ["d", "d"]}, "tasks: duplicate entry 'd'"),
    "empty list": ({"measures": []}, "measures: is empty; expected at least one entry"),
    "too few entries": ({"plan_study": {"queries": [50]}}, "plan_study.queries: has 1 of the 2 entries that are expected at least"),
    "empty mapping": ({"systems": {}}, "systems: is empty; expected at least one entry"),
    "bad key": ({"systems/a b": {"type": "bm25"}}, "systems: bad name 'a b': does not fit; expected a name of at most 100 letters"),
    "long key": ({"systems/" + "x" * 101: {"type": "bm25"}}, "has 101 characters, but at most 100 are allowed"),
    "unknown key": ({"recipes/r/epoch": 1}, "recipes.r: unknown key 'epoch' (did you mean 'epochs'?)"),
    "unknown key, other case": ({"Depth": 1}, "unknown key 'Depth' (did you mean 'depth'?)"),
    "missing key": ({"recipes/r/train_on": ...}, "recipes.r: key 'train_on' is missing"),
    "date": ({"systems/bm25/label": datetime.date(2020, 1, 1)}, "systems.bm25.label: 2020-01-01 is a date to YAML; no value here is a date; for a text write '2020-01-01'"),
    "bytes": ({"systems/bm25/label": b"x"}, "is a bytes to YAML"),
    "number as key": ({"systems": {1: {"type": "bm25"}}}, "systems: the key 1: is not text; quote it"),
    "SHA-256": ({"datasets/d/sha256": "0" * 63}, "does not fit; expected a SHA-256 (64 digits and letters a to f)"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MESSAGES.values(), ids=MESSAGES)
def test_each_message_says_what_is_wrong_and_what_would_be_right(changes, said):
    message = refused(complete, changed(changes), "c.yaml")
    assert message.startswith("c.yaml: ") and said in message


def test_every_validator_of_the_schema_has_a_message_that_is_tried_here():
    used = set()

    def walk(part, is_schema):
        if isinstance(part, list):
            for one in part:
                walk(one, is_schema)
        elif isinstance(part, dict):
            used.update(part if is_schema else [])
            for key, one in part.items():
                if key not in ("default", "const", "enum", "required"):
                    walk(one, not (is_schema and key in ("properties", "$defs")))

    walk(whole_schema(), True)
    used &= set(jsonschema.Draft202012Validator.VALIDATORS)
    known = {"type", "enum", "const", "anyOf", "pattern", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
             "uniqueItems", "required", "additionalProperties", "propertyNames", "properties", "items", "minimum", "maximum",
             "exclusiveMinimum", "exclusiveMaximum", "$ref"}  # fmt: skip
    assert used <= known


# Whatever stands wherever: refused in one line, or taken


HOSTILE = [None, True, -1, 1.5, "", " ", "{x}", "x" * 300, [], [1, 1], [[1]], [{}], [None], {}, {"x": {}}, {"": 1}, {1: 2},
           ["a", None, 1.5], {"x": ["a", "b"]}, "42"]  # fmt: skip


def places(value, path=()):
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []:
        yield from places(value[key], (*path, key))


@pytest.mark.parametrize("path", list(places(BASE)), ids=lambda path: ".".join(map(str, path)))
def test_a_hostile_value_at_any_place_is_refused_in_one_line_or_taken(path):
    for bad in HOSTILE:
        config = copy.deepcopy(BASE)
        part = config
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = copy.deepcopy(bad)
        try:
            resolve(config, "c.yaml")
        except UserError as error:
            assert str(error).isprintable()


def leaves(value, path=""):
    """Each value's key path, as messages write it."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from leaves(inner, f"{path}.{key}".lstrip("."))
    if not isinstance(value, dict):
        yield path


@pytest.mark.parametrize("name", [path.stem for path in sorted((REPOSITORY / "config").glob("*.yaml"))])
def test_of_several_files_a_message_names_the_one_that_writes_its_key(name):
    """Their entries divided in turn over two files; the keys of one entry too."""
    whole = read_yaml(REPOSITORY / "config" / f"{name}.yaml")
    files = {"a": {}, "b": {}}
    for section, entries in whole.items():
        for place, (entry, keys) in enumerate(entries.items() if isinstance(entries, dict) else ()):
            for number, (key, value) in enumerate(keys.items() if isinstance(keys, dict) else ()):
                files["ab"[(place + number) % 2]].setdefault(section, {}).setdefault(entry, {})[key] = value
    for file, written in files.items():
        for path in leaves(written):
            for words in (f"{path}: is wrong", f"{path}[2]: is wrong", f"{path} (in x-y): is wrong"):
                assert with_file(f"b: {words}", "b", files) == f"{file}: {words}"
            entry, _, key = path.rpartition(".")
            said = f"{entry}: unknown key {key!r}; allowed are x"
            assert with_file(f"b: {said}", "b", files) == f"{file}: {said}"
        for section in written:
            said = f"unknown key {section!r}; allowed are x"
            assert with_file(f"b: {said}", "b", {"b": {}, "a": written}) == f"a: {said}"
    assert with_file("b: is odd", "b", files) == "b: is odd" and with_file("c: x: y", "b", files) == "c: x: y"
