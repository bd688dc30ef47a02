"""The options of jobs: files whose names begin with a hyphen, and mistakes in one line, also in the log."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from ranktrial.common.command_line import parser
from ranktrial.common.keys import FilePath, Location, Rule

REPOSITORY = Path(__file__).parents[2]
ODD = ["-x.trec", "--x", "--run.trec", "--runs=3", "-", "-1", "-h.tsv", "-0.5"]


@pytest.mark.parametrize("name", ODD)
def test_a_file_whose_name_begins_with_a_hyphen_is_a_file_for_each_option(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).touch()
    Path("plain").touch()
    made = parser("x", "run", "runs*", "qrels*", settings=False)
    for words in (
        ["--run", name, "--runs", name, "plain", name, "--qrels", name],
        ["--qrels", "--runs", name, name, "plain", "--run", name],
    ):
        monkeypatch.setattr(sys, "argv", ["script.py", *words])
        options = made.parse_args()
        assert options.run == Path(name) and set(options.runs) == {Path(name), Path("plain")}
        assert options.qrels in ([], [Path(name)])


@pytest.mark.parametrize("kind", [FilePath, Location])
def test_a_path_that_is_an_option_s_name_is_refused_by_the_schema(kind):
    pattern = next(rule.pattern for rule in get_args(kind) if isinstance(rule, Rule))
    scripts = "\n".join(path.read_text() for path in (REPOSITORY / "rules").rglob("*.smk"))
    names = {"-h", "--help", "-", "--", *re.findall(r"(?<!\S)\"? ?(--[a-z-]+)", scripts)}
    assert len(names) > 30
    for name in names:
        assert not any(re.search(pattern, path) for path in (name, f"./{name}", f"././{name}"))
    for path in (*ODD[:4], *ODD[5:], "a--run", "runs/--run", "-.-", "--run/x", "..", "a"):
        assert re.search(pattern, path) or path == "--x"


def test_a_mistake_is_one_line_and_in_the_log(tmp_path):
    """A job's output is in its log, to which the terminal points."""
    script = "from ranktrial.common.command_line import parser; parser('x', 'run', settings=False).parse_args()"
    command = [sys.executable, "-c", script, "--run", "--log", str(tmp_path / "job.log")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    said = "error: argument --run: expected one argument; --help shows the options\n"
    assert done.returncode == 2 and done.stdout == said  # with a log, both go there
    assert (tmp_path / "job.log").read_text().endswith(said)


def test_every_value_of_the_makefile_is_part_of_its_option():
    """So that FOLDER=-x is a folder, and no option."""
    assert not re.findall(r"--[a-z-]+ \$\(call quoted", (REPOSITORY / "Makefile").read_text())
