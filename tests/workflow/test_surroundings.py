"""Faults of the machine around a script: full disks, Java without memory, locales and other odd surroundings."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.engine.job_records import repair

ROOT = Path(__file__).parents[2]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


@pytest.fixture
def tiny_disk(tmp_path):
    """A folder on a full disk of its own."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk takes root")
    (tmp_path / "full").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", tmp_path / "full"], check=True)
    yield tmp_path / "full"
    subprocess.run(["umount", "--lazy", tmp_path / "full"], check=True)


def test_a_full_tmpdir_is_one_line_before_anything_is_planned(tmp_path, tiny_disk, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tiny_disk))
    with pytest.raises(UserError, match=r"full: No space left on device \(4 KiB are free\)$"):
        repair(tmp_path / "results", "tiny", tmp_path / ".snakemake")


def test_a_full_tmpdir_is_one_line_of_what_unpacks_there(tmp_path, tiny_disk):
    with zipfile.ZipFile(tmp_path / "weather.zip", "w") as archive:
        archive.writestr("corpus.jsonl", CORPUS * 1000)
    made = [word.replace("Quelle - 樹", "weather.zip") for word in QRELS]
    one_line(script(tmp_path, made, TMPDIR=tiny_disk), f"{tiny_disk}: No space left on device")
    assert not any(tiny_disk.iterdir()) and not (tmp_path / "made").exists()


CORPUS = (
    '{"_id": "d1", "title": "", "text": "fire and flood"}\n{"_id": "d2", "title": "", "text": "Bäume 樹 😀 hail"}\n'
)
INDEX = ["scripts/bm25/index.py", "index", "--corpus", "corpus.jsonl", "--index", "index",
         "--settings", '{"analyzer": "english", "fields": "together"}']  # fmt: skip


def script(folder, arguments, limit=None, **environment):
    """Run a script of the workflow by hand in a folder, in an environment."""
    command = [sys.executable, ROOT / arguments[0], *arguments[1:]]
    if limit:
        command = ["bash", "-c", f'ulimit -v {limit}; exec "$@"', "bash", *command]
    known = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON"))}
    whole = {
        key: str(value) for key, value in (known | {"PYTHONPATH": ROOT} | environment).items() if value is not None
    }
    return subprocess.run(command, cwd=folder, env=whole, capture_output=True, stdin=subprocess.DEVNULL)


def one_line(done, *words):
    said = done.stderr.decode()
    lines = [line for line in said.splitlines() if not line.startswith("Picked up ")]  # this one is Java's, always
    assert done.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: "), said
    assert all(word in lines[0] for word in words), said


JAVA = {
    "a tiny heap": ({"JAVA_TOOL_OPTIONS": "-Xmx3m"}, None, "Java does not have enough memory"),
    "a heap too small to start": ({"JAVA_TOOL_OPTIONS": "-Xmx1k"}, None, "Too small maximum heap"),
    "a heap larger than the machine": ({"_JAVA_OPTIONS": "-Xmx900t"}, None, "Could not reserve enough space"),
    "an option that Java does not know": ({"JAVA_TOOL_OPTIONS": "-XX:Bogus"}, None, "Unrecognized VM option"),
    "few addresses": ({}, 1_500_000, "under ulimit -v"),
    "a few more addresses": ({}, 3_500_000, "under ulimit -v"),
}


@pytest.mark.parametrize(("environment", "limit", "words"), JAVA.values(), ids=JAVA)
def test_java_without_memory_is_one_line_and_leaves_no_index(tmp_path, environment, limit, words):
    write(tmp_path / "corpus.jsonl", CORPUS)
    one_line(script(tmp_path, INDEX, limit, **environment), words, "give the job more memory")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_a_java_that_cannot_be_loaded_is_one_line(tmp_path):
    write(tmp_path / "java/lib/server/libjvm.so", "not a library")
    write(tmp_path / "java/release", 'JAVA_VERSION="21.0.1"')
    write(tmp_path / "corpus.jsonl", CORPUS)
    one_line(script(tmp_path, INDEX, JAVA_HOME=tmp_path / "java"), "Java cannot be started", "BM25 needs Java 21")
    assert not (tmp_path / "index").exists() and not (tmp_path / ".index.partial").exists()


ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
SURROUNDINGS = {
    "locale C": {"LC_ALL": "C", "LANG": "C"},
    "POSIX": {"LC_ALL": "POSIX"},
    "ASCII alone": ASCII,
    "an unknown locale": {"LC_ALL": "xx_YY.ISO-8859-1", "PYTHONUTF8": "0"},
    "another time zone": {"TZ": "Pacific/Kiritimati"},
    "no home": {"HOME": None, "MPLCONFIGDIR": None},
    "a home that is a file": {"HOME": "/dev/null", "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None},
    "no TMPDIR": {"TMPDIR": "/nowhere/at/all"},
    "odd threads": {"OMP_NUM_THREADS": "2,1"},
    "no colours, no columns": {"TERM": None, "COLUMNS": "0"},
}
QRELS = ["scripts/datasets/prepare.py", "--statistics", "made/statistics.json", "--settings",
         json.dumps({"format": "beir", "source": "Quelle - 樹", "seed": 1, "splits": {}}, ensure_ascii=False)]  # fmt: skip


def prepared(folder, **environment):
    """All files of a small collection that was prepared in an environment."""
    source = folder / "Quelle - 樹"
    write(source / "corpus.jsonl", CORPUS)
    write(source / "queries.jsonl", '{"_id": "q-1", "text": "Überschwemmung 😀"}\n')
    write(source / "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq-1\td2\t1\n")
    done = script(folder, QRELS, **environment)
    assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr.decode()
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "made").rglob("*") if path.is_file()}


@pytest.mark.parametrize("environment", SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_texts_come_out_the_same_in_any_surroundings(tmp_path, environment):
    usual, odd = tmp_path / "usual", tmp_path / "odd"
    assert prepared(odd, **environment) == prepared(usual, LC_ALL="C.UTF-8")


@pytest.mark.parametrize("environment", [ASCII, {"LC_ALL": "C"}], ids=["ASCII alone", "locale C"])
def test_java_finds_folders_with_any_name_in_any_locale(tmp_path, environment):
    folder = tmp_path / "Bäume 樹"
    write(folder / "corpus.jsonl", CORPUS)
    done = script(folder, INDEX, **environment)
    assert done.returncode == 0, done.stderr.decode()
    assert (folder / "index").is_dir()


def test_a_mistake_is_reported_in_one_line_in_any_locale(tmp_path):
    done = script(tmp_path, ["scripts/bm25/index.py", "index", "--corpus", "fehlt-樹.jsonl", *INDEX[4:]], **ASCII)
    one_line(done, "fehlt", "no such file")
