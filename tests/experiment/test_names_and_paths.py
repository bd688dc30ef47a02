"""Names, labels and paths: what files, figures, tables and a shell can hold, and where a clone may lie."""

import argparse
import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ranktrial.common.errors import UserError
from ranktrial.common.paths import why_no_clone
from ranktrial.configuration.reading import complete
from ranktrial.engine import rule_helpers
from ranktrial.experiment.resolution import resolve
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Column, Items, Paragraph, Span, Table
from scripts.engine import launch
from tests.experiment.test_config import changed, resolved

NAMES = {"newline at the end": "a\n", "newline": "a\nb", "carriage return": "a\r", "tab": "a\t", "NUL": "a\0",
         "101 characters": "x" * 101, "300 characters": "x" * 300, "empty": "", "blank": " ", "blank at the end": "a ", "slash": "a/b",
         "up": "..", "hidden": ".a", "option": "-a", "accent": "ä", "brace": "{task}", "angle": "<a>", "dollar": "$(touch x)",
         "backtick": "`x`", "quote": "a'b", "star": "*", "digits of other scripts": "१", "full-width": "\uff41", "escape": "a\x1b[31m",
         "line separator": "a\u2028", "turned": "a\u202e"}  # fmt: skip
TEXTS = {"blank": " ", "no-break space": "\u00a0", "zero width": "\u200b\u200d", "soft hyphen": "\u00ad", "empty": "",
         "newline": "a\nb", "newline at the end": "a\n", "carriage return": "a\rb", "tab": "a\tb", "NUL": "\0a", "bell": "\x07a",
         "escape": "\x1b[31ma", "C1": "a\x85b", "line separator": "a\u2028b", "paragraph separator": "a\u2029b",
         "turned": "a\u202eb", "isolated": "a\u2066b", "surrogate": "a\ud800b", "no character": "a\uffffb", "mark": "a\ufeffb",
         "long": "x" * 5000}  # fmt: skip
SHOWN = ["systems/bm25/label", "datasets/d/label", "datasets/d/licence", "models/m/licence", "actor/name", "actor/team"]
GOOD = r"a {task} {} {{x}} \input{secret} $x$ & <b>bold</b> | `code` *x* _y_ # % ~ ^ \"q\" 'q' [l](u) éµ日本 😀"


def refused(changes):
    """The one line with which a change of the base configuration is refused."""
    with pytest.raises(UserError) as error:
        resolved(changes)
    assert str(error.value).isprintable() and str(error.value).startswith("c.yaml: ")
    return str(error.value)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_that_are_refused(name):
    refused({"experiment": name})
    refused({"tasks": [name]})
    refused({"datasets": {name: {"format": "beir", "location": "tests"}, "d": {"format": "beir", "location": "tests"}}})
    for section, entry in (("models", {"type": "bi-encoder", "weights": "o/m"}), ("recipes", {"train_on": "d"}),
                           ("systems", {"type": "bm25"}), ("comparisons", {"control": "bm25", "treatment": "tuned"}),
                           ("charts", {"systems": ["bm25"], "measures": ["nDCG@10"]})):  # fmt: skip
        config = changed({})
        config.setdefault(section, {})[name] = entry
        with pytest.raises(UserError) as error:
            resolve(config, "c.yaml")
        assert str(error.value).isprintable() and section in str(error.value)


def test_a_derived_name_that_is_too_long_names_the_entry_it_is_made_of():
    name = "x" * 90
    message = refused({f"systems/{name}": {"type": "bm25", "k1": [0.123456, 0.7654321], "b": [0.25, 0.75]}})
    assert "made of 'xxx" in message and "at most 100 are allowed" in message


@pytest.mark.parametrize("key", SHOWN)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts_that_are_refused(key, text):
    changes = {key: text} if key != "actor/team" else {"actor/name": "A", key: text}
    assert key.split("/")[-1] in refused(changes)


@pytest.mark.parametrize("key", SHOWN)
def test_texts_of_any_visible_signs_are_taken_as_they_are(key):
    changes = {key: GOOD} if key != "actor/team" else {"actor/name": "A", key: GOOD}
    config, _ = complete(changed(changes), "c.yaml")
    for part in key.split("/"):
        config = config[part]
    assert config == GOOD


@pytest.mark.parametrize("path", ["", "data/{task}", "data/{}", "a}", "<results>", "x" * 256, "a/" * 600, "a\nb", "a\0b"],
                         ids=["empty", "wildcard", "braces", "brace", "variable", "256", "1200", "newline", "NUL"])  # fmt: skip
def test_paths_that_are_refused(path):
    external = {"type": "external", "runs": {"d": path}}
    for changes in ({"datasets/d/location": path}, {"models/m/weights": path}, {"mirrors": [path]}, {"systems/x": external},
                    {"published": {"file": path}}, {"models/ce/file": path}):  # fmt: skip
        refused(changes)


def test_braces_in_texts_are_no_wildcards_of_a_jobs_settings():
    from snakemake.io import WILDCARD_REGEX

    written = rule_helpers.settings(labels={"a": GOOD, "{b}": "\\{c}", '"{q}"': '\\"{'}, grid=[1, {"x": "{y, [0-9]+}"}])
    assert not WILDCARD_REGEX.search(written)
    assert json.loads(written) == {
        "labels": {"a": GOOD, "{b}": "\\{c}", '"{q}"': '\\"{'},
        "grid": [1, {"x": "{y, [0-9]+}"}],
    }


def test_settings_without_braces_in_texts_stay_as_they_were():
    values = {"b": [1, 2.5, {"ä": None}], "a": 'x\\y"z'}
    assert rule_helpers.settings(**values) == json.dumps(values, sort_keys=True, ensure_ascii=False)


def test_no_label_is_a_command_of_latex():
    rows = [[GOOD], [r"\end{tabular}\input{/etc/passwd}"]]
    table = printed.tabular(Table([Column("system")], [rows]))
    commands = set(re.findall(r"\\[a-zA-Z]+", table.replace(printed.SMALL, "").replace(printed.FITTING, "")))
    assert commands <= {r"\begin", r"\end", r"\toprule", r"\midrule", r"\bottomrule", r"\textbackslash", r"\textasciitilde",
                        r"\textasciicircum", r"\par"}  # fmt: skip
    assert table.count(r"\end") == 1 and r"\input" not in table


def read_as_markdown(text):
    """The tags and the texts that a reader of Markdown sees, with tables as GitHub has them."""
    shown = MarkdownIt("commonmark").enable("table").render(text)
    return re.findall(r"<(\w+)", shown), html.unescape(re.sub(r"<[^>]*>", "", shown)).strip()


@pytest.mark.parametrize("text", [
    GOOD, "a | b <script> `c` [x](javascript:y)", "*a* _b_ __c__ **d** ~~e~~", "# a", "1. a", "2) b", "- a", "+ a", "* a", "> a", "---",
    "&amp; &#35; & a", "[0.1, 0.2] < 0.3", "[a]: http://x", "[a][b]", "\\* \\", "a\\", "<http://x.y>", "![a](b)", "a_b* c*", "=", "p <0.001",
    "* 0.3*", "5$ and 6$", "[^1]", "\\`a\\`", "_", "*",
])  # fmt: skip
def test_no_label_is_markup_or_a_column_of_markdown(text):
    assert read_as_markdown(printed.markdown_document("t", [Paragraph(text)])) == (["h1", "p"], f"t\n{text}")
    assert read_as_markdown(printed.markdown_document(text, []))[1] == text
    assert read_as_markdown(printed.markdown_document("t", [Items([text])])) == (["h1", "ul", "li"], f"t\n\n{text}")
    tags, said = read_as_markdown(
        printed.markdown_document("t", [Table([Column(text), Column("b")], [[[text, Span(text, "strong")]]])])
    )
    assert tags == ["h1", "table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "strong"]
    assert said.count(text) == 3
    assert text.count("$") == printed.escape(text).count("\\$")


def test_plain_text_stays_plain_in_markdown():
    for text in ("BERT_base (v1.5) 50 % é", "0.05 [0.03, 0.07]", "p < 0.05, a & b", "p <0.001", "0.3 * 2"):
        assert printed.escape(text) == text


CLONES = {"dollar": "a$b", "command": "a$(touch PWNED)", "backtick": "a`b`", "backslash": "a\\b", "quote": "a'b", "quotes": 'a"b',
          "brace": "a{b}", "open brace": "a{", "star": "a*b", "question mark": "a?b", "bracket": "a[b]", "newline": "a\nb",
          "tab": "a\tb", "escape": "a\x1bb", "angle": "a<b>", "pipe": "a|b", "colon": "a:b", "turned": "a\u202eb"}  # fmt: skip


@pytest.mark.parametrize("name", CLONES.values(), ids=CLONES)
def test_folders_in_which_no_clone_can_lie(name, monkeypatch):
    assert why_no_clone(f"/home/me/{name}/ranktrial")
    root = Path(f"/home/me/{name}/ranktrial")
    monkeypatch.setattr(launch, "ROOT", root)
    with pytest.raises(UserError) as error:
        launch.check(argparse.Namespace(directory=None, snakefile=root / "Snakefile", configfile=[]))
    assert "the folder's path contains" in str(error.value) and str(error.value).isprintable()


@pytest.mark.parametrize(
    "name", ["with space", "ümlaut 日本", "a#b", "a%b", "a&b", "a;b", "~a", "a(b)", "a+b", "a=b", "a,b", "a@b"]
)
def test_folders_in_which_a_clone_works(name):
    assert why_no_clone(f"/home/me/{name}/ranktrial") is None


def test_make_hands_values_over_as_they_are():
    value = "a b'c$$(touch x);`y`.yaml"
    command = [
        "make",
        "-n",
        "--no-print-directory",
        "-o",
        "setup",
        "check",
        f"CONFIG={value}",
    ]  # a test may itself run below make
    done = subprocess.run(command, cwd=launch.ROOT, capture_output=True, text=True)
    shown = subprocess.run(["sh", "-c", done.stdout.strip().splitlines()[-1].replace(".venv/bin/snakemake", "printf '%s\\n'")],
                           capture_output=True, text=True)  # fmt: skip
    assert shown.stdout.splitlines() == ["check", f"--configfile={value.replace('$$', '$')}"]


def installed(venv):
    """Note that the core was installed from this lock."""
    for folder in ("bin", ".extras"):
        (venv / folder).mkdir(parents=True)
    shutil.copy(launch.ROOT / "requirements.lock", venv / ".extras/core")


def setup(venv, extras="core"):
    """make setup, with a Python that cannot create an environment."""
    command = ["make", "--no-print-directory", "setup", f"VENV={venv}", "BASE_PYTHON=false", f"EXTRAS={extras}"]
    return subprocess.run(command, cwd=launch.ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("file", [".extras/core", "bin/snakemake"])
def test_setup_compares_contents_and_changes_no_environment_behind_a_link(tmp_path, file):
    """Dates play no part: a copy or a link of another clone's environment may have any."""
    venv, link = tmp_path / "other" / "venv", tmp_path / "link"
    installed(venv)
    link.symlink_to(venv)
    shutil.copy(launch.ROOT / "scripts/engine/snakemake.sh", venv / "bin/snakemake")
    os.utime(venv / ".extras/core", (0, 0))
    assert setup(link).returncode == 0, "an old date changes nothing"
    (venv / file).write_text("another\n")
    done = setup(link)
    assert done.returncode and f"error: {link} is a link to an environment that differs from" in done.stderr
    assert (venv / file).read_text() == "another\n"
    if file != "bin/snakemake":
        assert "setting up" not in setup(link).stdout and setup(venv).returncode, "its own would be set up"


def test_setup_puts_the_launcher_in_the_place_of_snakemake_once(tmp_path):
    venv = tmp_path / "venv"
    installed(venv)
    (venv / ".sources").write_text(f"{launch.ROOT}\n")
    (venv / "bin" / "snakemake").write_text("what pip wrote\n")
    for _ in range(2):
        subprocess.run(["make", "setup", f"VENV={venv}", "EXTRAS=core"], cwd=launch.ROOT, check=True)
    made = venv / "bin" / "snakemake"
    assert made.read_bytes() == (launch.ROOT / "scripts/engine/snakemake.sh").read_bytes()
    assert made.stat().st_mode & 0o111
