"""Snakemake's records lie with the results, and results that come from elsewhere get their recorded times back."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.engine.job_records import DIRECTORY_STAMP, adopt, records

WHOLE = {
    "rule": "score", "code": "python …", "shellcmd": "python score.py", "params": [], "input": [], "log": [],
    "input_checksums": {}, "starttime": 0.5, "endtime": 1.0, "record_format_version": 6,
}  # fmt: skip


def record(metadata, name, **values):
    encoded = base64.urlsafe_b64encode(name.encode()).decode()
    parts = [encoded[i : i + 254] for i in range(0, len(encoded), 254)]
    path = metadata.joinpath(*("@" + part for part in parts[:-1]), parts[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(WHOLE | values))


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_a_run_recorded_before_moves_into_the_results(clone):
    record(clone / ".snakemake/metadata", "results/a.tsv", rule="score")
    adopt(clone / "results", clone / ".snakemake")
    assert [name for name, _ in records(clone / "results/state/metadata")] == ["results/a.tsv"]
    assert (clone / ".snakemake/metadata").is_symlink() and (clone / ".snakemake/incomplete").is_dir()


def test_records_that_come_with_results_date_them(clone):
    long_name = "results/" + "long/" * 60 + "b.tsv"
    for name, ended in (("results/a.tsv", 1000.25), (long_name, 2000.5), ("results/gone.tsv", 1.0)):
        record(clone / "results/state/metadata", name, endtime=ended)
        if "gone" not in name:
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_text("x")
    record(clone / "results/state/metadata", "results/model", endtime=1500.0)
    (clone / "results/model").mkdir()
    (clone / "results/model" / DIRECTORY_STAMP).touch()
    adopt(clone / "results", clone / ".snakemake")
    assert os.stat("results/a.tsv").st_mtime == 1000.25
    assert os.stat(long_name).st_mtime == 2000.5
    assert os.stat(f"results/model/{DIRECTORY_STAMP}").st_mtime == os.stat("results/model").st_mtime == 1500.0


def test_a_file_that_changes_later_stays_changed(clone):
    record(clone / "results/state/metadata", "results/a.tsv", endtime=1000.0)
    (clone / "results/a.tsv").write_text("x")
    adopt(clone / "results", clone / ".snakemake")
    (clone / "results/a.tsv").write_text("y")
    changed = os.stat("results/a.tsv").st_mtime
    adopt(clone / "results", clone / ".snakemake")
    assert os.stat("results/a.tsv").st_mtime == changed > 1000.0


@pytest.mark.parametrize("removed", ["nothing", "there/results", "there"])
def test_results_copied_into_a_clone_in_which_snakemake_planned_are_dated(clone, monkeypatch, removed):
    """Over its results, in their place, and with `.snakemake`."""
    for name in ("here", "there"):
        Path(name).mkdir()
        adopt(Path(name, "results"), Path(name, ".snakemake"))
    record(clone / "here/results/state/metadata", "results/a.tsv", endtime=1000.0)
    Path("here/results/a.tsv").write_text("x")
    shutil.rmtree(removed, ignore_errors=True)
    copied = ["here", "there"] if removed == "there" else ["here/results", "there"]
    subprocess.run(["cp", "-r", *copied], check=True)
    monkeypatch.chdir("there")
    adopt(Path("results"), Path(".snakemake"))
    assert os.stat("results/a.tsv").st_mtime == 1000.0


def test_a_file_in_the_way_is_one_line(clone):
    (clone / "results").write_text("not a folder")
    with pytest.raises(UserError, match="results: not a folder"):
        adopt(clone / "results", clone / ".snakemake")
