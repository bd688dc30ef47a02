"""The options of jobs: files whose names begin with a hyphen, and mistakes in one line, also in the log."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

import pytest

from ranktrial.common.command_line import arguments_of, job, parser
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
    names = {"-h", "--help", "-", "--", "--settings", "--log"}
    names |= {f"--{name.replace('_', '-')}" for name in re.findall(r"^        ([a-z_]+)=", scripts, re.MULTILINE)}
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


def of_a_job(runs: list[Path], qrels: Path, corpus: Path | None, depth: Annotated[int, "documents"], k: float = 60):
    """A job's function."""
    print(runs, qrels, corpus, depth, k)


@dataclass(frozen=True)
class Options:
    depth: Annotated[int, "documents"]


def with_a_record(run: Path, settings: Options):
    """Another."""
    print(run, settings)


def given(monkeypatch, *words, **settings):
    monkeypatch.setattr(sys, "argv", ["script.py", *words, "--settings", json.dumps(settings)])


def test_a_signature_is_the_command_line_and_the_settings(monkeypatch, capsys):
    given(monkeypatch, "--runs", "a", "b", "--qrels", "q", "--corpus", "c", depth=5)
    expected = {"runs": [Path("a"), Path("b")], "qrels": Path("q"), "corpus": Path("c"), "depth": 5, "k": 60}
    assert arguments_of(of_a_job) == expected
    given(monkeypatch, "--runs", "--qrels", "q", depth=5, k=1.5)
    assert arguments_of(of_a_job) == expected | {"runs": [], "corpus": None, "k": 1.5}
    given(monkeypatch, "--run", "a", depth=5)
    assert arguments_of(with_a_record) == {"run": Path("a"), "settings": Options(5)}
    given(monkeypatch, "with_a_record", "--run", "a", depth=5)
    job(of_a_job, with_a_record)
    assert capsys.readouterr().out == "a Options(depth=5)\n"


@pytest.mark.parametrize(("words", "settings", "said"), [
    (["of_a_job", "--qrels", "q"], {"depth": "many"}, "depth"),
    (["of_a_job", "--qrels", "q"], {}, "depth"),
    (["of_a_job", "--qrels", "q"], {"depth": 5, "deep": 1}, "deep"),
    (["of_a_job"], {"depth": 5}, "--qrels"),
    (["gone", "--qrels", "q"], {"depth": 5}, "expected one of of_a_job, with_a_record"),
    ([], {}, "expected one of of_a_job, with_a_record"),
])  # fmt: skip
def test_other_arguments_than_those_of_the_function_are_one_line(monkeypatch, capsys, words, settings, said):
    given(monkeypatch, *words, **settings)
    with pytest.raises(SystemExit) as stopped:
        job(of_a_job, with_a_record)
    text = f"{stopped.value.code}{capsys.readouterr().err}"
    assert said in text and stopped.value.code != 0
