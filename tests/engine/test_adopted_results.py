"""Before planning: what is out of order is mended, and what is in order is not touched, so a dry run changes nothing."""

import json
import os
from pathlib import Path

import pytest

from ranktrial.engine.job_records import adopt, record_path, repair

RECORD = {
    "rule": "score", "code": "python …", "shellcmd": "python score.py", "params": [], "input": [], "log": [],
    "input_checksums": {}, "starttime": 0.5, "endtime": 1000.0, "record_format_version": 6,
}  # fmt: skip


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with one finished file and its record, made elsewhere: its date is later than the record's."""
    monkeypatch.chdir(tmp_path)
    path = record_path(Path("results/state/metadata"), "results/x/a.tsv")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(RECORD))
    Path("results/x").mkdir()
    Path("results/x/a.tsv").write_text("1\n")
    Path("results/x/config.yaml").write_text("experiment: x\n")
    return tmp_path


def state(folder):
    """What can be seen of every file and link: content, date of change (which nothing sets back), where a link leads."""
    return {
        str(path): (path.lstat().st_ctime_ns, path.readlink() if path.is_symlink() else path.is_file() and path.read_bytes())
        for path in sorted(folder.rglob("*"))
    }  # fmt: skip


def make_ready():
    """What the Snakefile does before it plans; returns its warnings."""
    adopt(Path("results"), Path(".snakemake"))
    return repair(Path("results"), "x", Path(".snakemake"))


def test_results_from_elsewhere_are_taken_over_at_once(clone):
    assert make_ready() == []
    assert os.stat("results/x/a.tsv").st_mtime == 1000.0 and Path(".snakemake/metadata").is_symlink()


def test_where_all_is_in_order_nothing_is_touched(clone):
    make_ready()
    before = state(clone)
    assert make_ready() == []
    assert state(clone) == before and len(before) > 5


def test_a_file_without_a_record_is_reported_and_the_configuration_of_the_last_run_is_none(clone):
    Path("results/x/b.tsv").write_text("2\n")
    (warning,) = make_ready()
    assert "1 file is made again" in warning and warning.endswith(": results/x/b.tsv")
