"""Faults of what Snakemake goes by: damaged records, marks and locks, a clock that was set back. Called directly."""

import json
import os
import stat
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.engine.job_records import DIRECTORY_STAMP, adopt, read_record, record_path, records, repair

METADATA, INCOMPLETE = Path("results/state/metadata"), Path("results/state/incomplete")
NAME = "results/tiny/metrics/a.tsv"
WHOLE = {
    "rule": "score", "code": "python …", "shellcmd": "python score.py", "params": ["'{}'"], "input": ["b"], "log": ["c"],
    "input_checksums": {"b": "sha256:00"}, "starttime": 0.5, "endtime": 1.0, "record_format_version": 6,
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
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_record_is_one_line_and_its_file_is_made_again(clone, damage):
    write(record_path(METADATA, NAME), damage)
    (line,) = mended()
    assert line == f"1 file is made again, no complete record in results/state says how they were made: {NAME}"
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
