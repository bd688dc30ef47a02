"""One list in place of the modules of a job's code: its name tells what they hold, and records go both ways."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from scripts.common.errors import UserError
from scripts.engine import code_lists
from scripts.engine.code_lists import FOLDER, fold_modules, listed, read_list, with_list, with_modules
from scripts.engine.job_records import FORMAT, read_record, record_path

METADATA = Path("results/state/metadata")
MODULES = {"scripts/common/a.py": "a = 1\n", "scripts/stage/b.py": "b = 2\n"}
SUMS = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in MODULES.items()}
SCRIPT = "scripts/stage/run.py"
NAMED = {SCRIPT: "sha256:" + "1" * 64, **{name: f"sha256:{digest}" for name, digest in SUMS.items()}}
RECORD = {
    "rule": "score", "code": "python …", "shellcmd": f"python {SCRIPT} --run 'results/x/a b.gz'", "params": ["'{}'"],
    "input": ["data/own.py", "results/x/a b.gz", *sorted(NAMED)], "log": ["c"],
    "input_checksums": {"data/own.py": "sha256:" + "2" * 64, **NAMED}, "starttime": 0.5, "endtime": 1.0,
    "record_format_version": FORMAT,
}  # fmt: skip


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with the modules, as a clone in which Snakemake runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code_lists, "ROOT", tmp_path)
    for name, text in MODULES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    code_lists._sha256.cache_clear()
    yield tmp_path
    code_lists._sha256.cache_clear()


def write(name, record):
    path = record_path(METADATA, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def test_a_list_is_what_sha256sum_checks_and_its_name_is_its_own_sha256(clone):
    path = listed(MODULES)
    subprocess.run(["sha256sum", "--check", "--strict", path], check=True, capture_output=True)
    assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == Path(path).parent.name
    assert read_list(path) == SUMS


def test_the_content_of_a_module_decides_and_neither_order_nor_date(clone):
    path = listed(MODULES)
    os.utime("scripts/common/a.py", (1, 1))
    code_lists._sha256.cache_clear()
    assert listed(reversed(MODULES)) == path
    Path("scripts/common/a.py").write_text("a = 3\n")
    code_lists._sha256.cache_clear()
    assert listed(MODULES) != path and read_list(path) == SUMS, "the list of before stays"
    assert listed(["scripts/stage/b.py"]) != path


def test_a_list_that_is_there_is_not_touched_and_one_that_is_damaged_is_written_again(clone):
    path = Path(listed(MODULES))
    before = path.stat()
    assert listed(MODULES) == str(path) and path.stat() == before
    path.write_text("")
    assert read_list(str(path)) is None
    assert read_list(listed(MODULES)) == SUMS
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_list_that_cannot_be_written_is_one_line(clone):
    Path("results").write_text("")
    with pytest.raises(UserError, match=f"{FOLDER}.*: Not a directory"):
        listed(MODULES)


def test_a_record_that_names_modules_gets_the_list_and_back_again(clone):
    folded = with_list(RECORD)
    path = listed(MODULES)
    assert folded["input"] == sorted(["data/own.py", "results/x/a b.gz", path, SCRIPT])
    assert folded["input_checksums"] == {
        "data/own.py": "sha256:" + "2" * 64, SCRIPT: NAMED[SCRIPT], path: f"sha256:{Path(path).parent.name}",
    }  # fmt: skip
    assert with_list(folded) is None and with_modules(folded) == RECORD | {"input": sorted(RECORD["input"])}
    assert {key for key in RECORD if folded[key] != RECORD[key]} == {"input", "input_checksums"}


def test_a_script_without_modules_has_an_empty_list(clone):
    alone = RECORD | {"input": [SCRIPT], "input_checksums": {SCRIPT: NAMED[SCRIPT]}}
    folded = with_list(alone)
    assert folded["input"] == sorted([SCRIPT, listed([])]) and with_modules(folded) == alone


def test_the_modules_of_a_clone_below_another_workflow_are_known_by_its_script(clone):
    moved = json.loads(json.dumps(RECORD).replace("scripts/", "vendor/my scripts/scripts/"))
    moved["shellcmd"] = "python 'vendor/my scripts/scripts/stage/run.py' --run x"
    assert listed(MODULES) in with_list(moved)["input"]


@pytest.mark.parametrize(
    "changes",
    [
        {"shellcmd": "python 'scripts"},
        {"shellcmd": "touch scripts/stage/run.py"},
        {"shellcmd": "python scripts/other/run.py"},
        {"shellcmd": ""},
        {"input": []},
        {"input_checksums": {}},
        {"input_checksums": NAMED | {"scripts/common/a.py": "sha256:../../x"}},
        {"input": [*RECORD["input"], "scripts/../evil.py"]},
    ],
)
def test_other_records_stay_as_they_are(clone, changes):
    record = RECORD | changes
    assert with_list(record) is None and with_modules(record) == record
    assert not Path(FOLDER).exists()


def test_records_of_before_are_changed_once_and_others_never(clone):
    old = write("results/x/a.tsv", RECORD)
    others = [write("results/x/b.tsv", RECORD | {"input": []}), write("results/x/c.tsv", "damaged")]
    before = [path.read_bytes() for path in others]
    fold_modules(METADATA)
    assert read_record(old) == with_list(RECORD)
    first = old.stat()
    fold_modules(METADATA)
    assert old.stat() == first and [path.read_bytes() for path in others] == before
    assert len(list(METADATA.iterdir())) == 3


def test_a_list_that_is_gone_is_missed_by_name(clone):
    folded = with_list(RECORD)
    Path(listed(MODULES)).unlink()
    assert with_modules(folded) == folded
