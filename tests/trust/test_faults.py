"""Faults of the machine, each with its checker called directly: damaged records, a clock that was set back, Java without
memory, locales and other odd surroundings."""

import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.common.errors import UserError
from scripts.common.repair import repair
from scripts.common.state import DIRECTORY_STAMP, FORMAT, adopt, read_record, record_path, records

ROOT = Path(__file__).parents[2]
METADATA, INCOMPLETE = Path("results/state/metadata"), Path("results/state/incomplete")
NAME = "results/tiny/metrics/a.tsv"
WHOLE = {
    "rule": "score", "code": "python …", "shellcmd": "python score.py", "params": ["'{}'"], "input": ["b"], "log": ["c"],
    "input_checksums": {"b": "sha256:00"}, "starttime": 0.5, "endtime": 1.0, "record_format_version": FORMAT,
}  # fmt: skip


def write(path, content):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with one recorded result."""
    monkeypatch.chdir(tmp_path)
    write(NAME, "x")
    adopt(Path("results"), Path(".snakemake"))
    write(record_path(METADATA, NAME), json.dumps(WHOLE))
    return tmp_path


def mended():
    adopt(Path("results"), Path(".snakemake"))
    return repair(Path("results"), "tiny", Path(".snakemake"))


def test_whole_records_are_left_alone(clone):
    assert mended() == [] and not list(INCOMPLETE.iterdir())
    assert dict(records(METADATA)) == {NAME: WHOLE}


WITHOUT = {f"without {key}": json.dumps({k: v for k, v in WHOLE.items() if k != key}) for key in WHOLE}
NULL = {f"{key} null": json.dumps(WHOLE | {key: None}) for key in WHOLE}
DAMAGE = WITHOUT | NULL | {
    "empty": "", "spaces": " \n", "cut": json.dumps(WHOLE)[:90], "binary": b"\xff\xfe\x00\x01", "zeros": b"\0" * 4096,
    "UTF-16": json.dumps(WHOLE).encode("utf-16"), "a list": "[1]", "a number": "5", "a string": '"x"', "null": "null",
    "an empty object": "{}", "two objects": "{}{}", "nested deep": "[" * 100_000, "a key twice": '{"rule": "a", "rule": "b"}',
    "dates as text": json.dumps(WHOLE | {"endtime": "yesterday"}), "NaN": json.dumps(WHOLE | {"endtime": float("nan")}),
    "a date before all": json.dumps(WHOLE | {"endtime": -1.0}), "a huge date": '{"endtime": 1e400}',
    "params of numbers": json.dumps(WHOLE | {"params": [1]}), "inputs in an object": json.dumps(WHOLE | {"input": {"a": 1}}),
    "checksums as numbers": json.dumps(WHOLE | {"input_checksums": {"b": 5}}),
    "an older format": json.dumps(WHOLE | {"record_format_version": FORMAT - 1}),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_record_is_one_line_and_its_file_is_made_again(clone, damage):
    write(record_path(METADATA, NAME), damage)
    (line,) = mended()
    assert line == f"1 file is made again, no whole record in results/state says how they were made: {NAME}"
    assert not record_path(METADATA, NAME).exists()
    assert json.loads(record_path(INCOMPLETE, NAME).read_text()) == {"external_jobid": None}
    assert Path(NAME).read_text() == "x"  # Snakemake removes it when it does the job
    assert mended() == []


def replace(path, how):
    path.unlink(missing_ok=True)
    if how == "folder":
        write(path / "inside", "x")
    elif how == "link to nowhere":
        path.symlink_to("/nowhere/at/all")
    elif how == "link to itself":
        path.symlink_to(path)


@pytest.mark.parametrize("how", ["nothing", "folder", "link to nowhere", "link to itself"])
def test_what_is_no_file_is_no_record(clone, how):
    replace(record_path(METADATA, NAME), how)
    assert len(mended()) == 1 and not os.path.lexists(record_path(METADATA, NAME))


@pytest.mark.parametrize("how", ["folder", "link to nowhere", "link to itself"])
def test_what_is_no_file_becomes_a_mark(clone, how):
    replace(record_path(INCOMPLETE, NAME), how)
    mended()
    assert stat.S_ISREG(os.lstat(record_path(INCOMPLETE, NAME)).st_mode)


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"5", b"[]"], ids=["empty", "binary", "number", "list"])
def test_a_damaged_mark_is_still_a_mark(clone, content):
    write(record_path(INCOMPLETE, NAME), content)
    assert mended() == []
    assert json.loads(record_path(INCOMPLETE, NAME).read_text()) == {"external_jobid": None}


def test_what_slurm_notes_in_a_mark_is_kept(clone):
    write(record_path(INCOMPLETE, NAME), '{"external_jobid": "42"}')
    mended()
    assert json.loads(record_path(INCOMPLETE, NAME).read_text()) == {"external_jobid": "42"}


def test_a_folder_that_is_one_output_is_marked_as_one_and_what_is_no_output_is_not(clone):
    long = "results/tiny/" + "long/" * 60 + "name.tsv"
    for name in ["model/weights", f"model/{DIRECTORY_STAMP}", ".b.partial/b", "c.resume/d", "logs/e", "benchmarks/f",
                 "left-out.json"]:  # fmt: skip
        write(f"results/tiny/{name}", "x")
    for name in (long, "results/downloads/archive.zip", "results/other/of-another-experiment.tsv"):
        write(name, "x")
    (line,) = mended()
    assert line.startswith("3 files are made again")
    assert record_path(INCOMPLETE, "results/tiny/model").is_file() and record_path(INCOMPLETE, long).is_file()
    assert record_path(INCOMPLETE, "results/downloads/archive.zip").is_file()
    assert sum(len(files) for _, _, files in os.walk(INCOMPLETE)) == 3


def test_files_that_another_run_is_making_are_left_to_it(clone):
    record_path(METADATA, NAME).write_text('{"rule": "sc')  # it is being written at this moment
    write(".snakemake/locks/0.output.lock", f"{NAME}\n")
    write(".snakemake/locks/0.input.lock", "b\n")
    assert mended() == [] and record_path(METADATA, NAME).exists()


def test_other_files_among_the_records_are_passed_over(clone):
    for name in ("notes.txt", "@half/name", "not base 64 at all", "_w=="):
        write(METADATA / name, "x")
    assert mended() == [] and (METADATA / "notes.txt").exists()


@pytest.mark.parametrize("kind", ["file", "link to nowhere"])
@pytest.mark.parametrize("name", ["results/state", "results/state/metadata", "results/state/incomplete", ".snakemake",
                                  ".snakemake/locks", ".snakemake/auxiliary", ".snakemake/iocache"])  # fmt: skip
def test_something_else_where_a_folder_is_needed_is_one_line(clone, name, kind):
    path = clone / name
    if path.is_dir() and not path.is_symlink():
        path.rename(clone / "away")
    path.symlink_to("/nowhere/at/all") if kind != "file" else path.write_text("x")
    with pytest.raises(UserError, match="not a folder, but one is needed there; remove it") as caught:
        mended()
    assert name in str(caught.value) and "\n" not in str(caught.value)


def test_a_damaged_lock_is_one_line(clone):
    write(".snakemake/locks/0.output.lock", b"\xff\xfe")
    with pytest.raises(UserError, match=r"0.output.lock: damaged; where no other Snakemake runs here"):
        mended()


def test_links_to_other_disks(tmp_path, monkeypatch):
    """`results` and `.snakemake` may be links to folders elsewhere, of another depth."""
    for name in ("work/clone", "scratch/of/somebody/results", "fast/snakemake"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work/clone")
    Path("results").symlink_to(tmp_path / "scratch/of/somebody/results")
    Path(".snakemake").symlink_to(tmp_path / "fast/snakemake")
    adopt(Path("results"), Path(".snakemake"))
    write(record_path(Path(".snakemake/metadata"), NAME), json.dumps(WHOLE))
    assert read_record(tmp_path / "scratch/of/somebody" / record_path(METADATA, NAME)) == WHOLE


def test_files_dated_ahead_of_the_clock_are_dated_now_in_their_order(clone):
    names = ["results/tiny/a", "results/tiny/b", "results/tiny/c", NAME, "results/tiny/old"]
    for name in names:
        write(name, "x")
        write(record_path(METADATA, name), json.dumps(WHOLE))
    for name, date in zip(names, [1.1e10, 1.2e10, 1.1e10, 1e10, 1e9], strict=True):
        os.utime(name, (date, date))
    (line,) = mended()
    assert line == "4 files below results were dated ahead of this machine's clock; they are dated now"
    dates = {name: os.stat(name).st_mtime_ns for name in names}
    assert dates["results/tiny/old"] == 10**18 < dates[NAME] < dates["results/tiny/a"] == dates["results/tiny/c"]
    assert dates["results/tiny/a"] < dates["results/tiny/b"] < os.stat(write_now(clone)).st_mtime_ns + 10**9
    assert mended() == []


def write_now(folder):
    (folder / "now").write_text("x")
    return folder / "now"


@pytest.fixture
def tiny_disk(tmp_path):
    """A folder on a full disk of its own."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk takes root")
    (tmp_path / "full").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", tmp_path / "full"], check=True)
    yield tmp_path / "full"
    subprocess.run(["umount", "--lazy", tmp_path / "full"], check=True)


def test_a_full_tmpdir_is_one_line_before_anything_is_planned(clone, tiny_disk, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tiny_disk))
    with pytest.raises(UserError, match=r"full: No space left on device \(4 KiB are free\)$"):
        mended()


def test_a_full_tmpdir_is_one_line_of_what_unpacks_there(tmp_path, tiny_disk):
    with zipfile.ZipFile(tmp_path / "weather.zip", "w") as archive:
        archive.writestr("corpus.jsonl", CORPUS * 1000)
    made = [word.replace("Quelle - 樹", "weather.zip") for word in QRELS]
    one_line(script(tmp_path, made, TMPDIR=tiny_disk), f"{tiny_disk}: No space left on device")
    assert not any(tiny_disk.iterdir()) and not (tmp_path / "made").exists()


CORPUS = '{"_id": "d1", "title": "", "text": "fire and flood"}\n{"_id": "d2", "title": "", "text": "Bäume 樹 😀 hail"}\n'
INDEX = ["scripts/bm25/index.py", "--corpus", "corpus.jsonl", "--index", "index",
         "--settings", '{"analyzer": "english", "fields": "together"}']  # fmt: skip


def script(folder, arguments, limit=None, **environment):
    """Run a script of the workflow by hand in a folder, in an environment."""
    command = [sys.executable, ROOT / arguments[0], *arguments[1:]]
    if limit:
        command = ["bash", "-c", f'ulimit -v {limit}; exec "$@"', "bash", *command]
    known = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON"))}
    whole = {key: str(value) for key, value in (known | {"PYTHONPATH": ROOT} | environment).items() if value is not None}
    return subprocess.run(command, cwd=folder, env=whole, capture_output=True, stdin=subprocess.DEVNULL)


def one_line(done, *words):
    said = done.stderr.decode()
    lines = [line for line in said.splitlines() if not line.startswith("Picked up ")]  # this one is Java's, always
    assert done.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: "), said
    assert all(word in lines[0] for word in words), said


JAVA = {
    "a tiny heap": ({"JAVA_TOOL_OPTIONS": "-Xmx3m"}, None, "Java has not enough memory"),
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
QRELS = ["scripts/datasets/prepare.py", "--collection", "made", "--settings",
         json.dumps({"format": "beir", "source": "Quelle - 樹", "seed": 1, "splits": {}, "split_by": "queries",
                     "drop_shared": False, "strict": False, "language": "en", "topic_field": "title"},
                    ensure_ascii=False)]  # fmt: skip


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


def test_a_mistake_is_told_in_one_line_in_any_locale(tmp_path):
    done = script(tmp_path, ["scripts/bm25/index.py", "--corpus", "fehlt-樹.jsonl", *INDEX[3:]], **ASCII)
    one_line(done, "fehlt", "no such file")
