"""The user's own data is part of what a run is planned with, and is the same before and after a job has read it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ranktrial.common.command_line import parser, run
from ranktrial.common.digests import content_sha256, files_below
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.engine.identity import OwnData
from tests.support.clone import clone, flip, write  # noqa: F401

DATA = Path("data/weather")


@pytest.fixture
def data():
    (DATA / "qrels").mkdir(parents=True)
    (DATA / "corpus.jsonl").write_text('{"_id": "d1"}\n' * 3)
    (DATA / "qrels/test.tsv").write_text("q1\td1\t1\n")
    return DATA


def planned(path=DATA, kept="state"):
    """The content of the user's data as a run that begins now plans it."""
    return OwnData(Path(kept), "tiny").sha256(str(path))


CHANGES = {
    "a bit, dates kept": lambda: flip(DATA / "corpus.jsonl"),
    "a file more": lambda: (DATA / "qrels/dev.tsv").write_text(""),
    "a file less": lambda: (DATA / "qrels/test.tsv").unlink(),
    "a file renamed": lambda: (DATA / "qrels/test.tsv").rename(DATA / "qrels/dev.tsv"),
    "two files exchanged": lambda: (
        (DATA / "corpus.jsonl").rename("aside"),
        (DATA / "qrels/test.tsv").rename(DATA / "corpus.jsonl"),
        Path("aside").rename(DATA / "qrels/test.tsv"),
    ),
    "an older file": lambda: ((DATA / "corpus.jsonl").write_text("old"), os.utime(DATA / "corpus.jsonl", (1, 1))),
    "a file behind a link": lambda: Path("shared/x").write_text("two"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_of_content_is_planned_whatever_its_date(data, change, monkeypatch):
    Path("shared").mkdir()
    Path("shared/x").write_text("one")
    (data / "more").symlink_to(Path("shared").resolve())
    monkeypatch.setattr("ranktrial.engine.identity.SETTLED", -(10**18))  # take any file for long settled: cache at once
    before = planned()
    assert planned() == before and json.loads(Path("state/known.json").read_text())[str(DATA)]["sha256"] == before
    change()
    after = planned()
    assert after != before and after == content_sha256(data)


def test_other_dates_places_and_copies_are_the_same_content(data, monkeypatch):
    monkeypatch.setattr("ranktrial.engine.identity.SETTLED", -(10**18))
    before = planned()
    for file in files_below(data).values():
        os.utime(file, (1, 1))
    assert planned() == before
    subprocess.run(["cp", "-r", data, "copy"], check=True)
    assert planned(Path("copy")) == before == planned(data, "elsewhere")


def test_what_has_been_read_is_not_read_again(data, monkeypatch):
    monkeypatch.setattr("ranktrial.engine.identity.SETTLED", -(10**18))
    before = planned()
    monkeypatch.setattr("ranktrial.engine.identity.content_sha256", lambda path: pytest.fail("read again"))
    assert planned() == before


def test_what_has_just_changed_is_read_again(data):
    """A second change within one tick of the file system's clock would look like none."""
    assert planned() and not Path("state/known.json").exists()


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"data/weather": 1}', '{"data/weather": {"seen": 1}}', "[" * 99999]
)
def test_a_damaged_cache_is_made_anew(data, content):
    Path("state").mkdir()
    Path("state/known.json").write_text(content)
    assert planned() == content_sha256(data)


def test_what_cannot_be_read_is_left_to_the_job(data):
    os.mkfifo("pipe")
    assert planned(Path("none")) is None and planned(Path("pipe")) is None
    (data / "gone").symlink_to("nowhere")
    assert planned() == content_sha256(data)


def test_a_folder_that_holds_itself_is_read_once(data):
    (data / "again").symlink_to(data.resolve())
    assert set(files_below(data)) == {"corpus.jsonl", "qrels/test.tsv"}


def test_a_job_on_a_cluster_is_held_to_what_the_run_began_with(data):
    run_begins = OwnData(Path("state"), "tiny")
    run_begins.begin_run([str(data)])
    flip(data / "corpus.jsonl")
    on_the_node = OwnData(Path("state"), "tiny", job=True)
    assert on_the_node.sha256(str(data)) == run_begins.sha256(str(data)) != planned()


def import_job(data, expected, during=lambda: None, wrong=False, by_setting=False):
    """A job that reads data; `during` happens while it does. Returns its one line or None, and whether it wrote."""
    out = Path("results/tiny/data/out")

    def main():
        options = parser("", *([] if by_setting else ["source"])).parse_args()
        assert options.settings["sha256_of"] == {str(data): expected}
        with atomic_folder(out) as folder:
            during()
            if wrong:
                raise UserError("corpus.jsonl:2: not JSON")
            write(folder / "statistics.json")

    settings = {"sha256_of": {str(data): expected}} | ({"source": str(data)} if by_setting else {})
    options = [] if by_setting else ["--source", str(data)]
    sys.argv = ["script.py", *options, "--settings", json.dumps(settings)]
    try:
        run(main)
    except SystemExit as ended:
        return ended.code, out.exists()
    return None, out.exists()


@pytest.mark.parametrize("by_setting", [False, True], ids=["an option", "a setting"])
@pytest.mark.parametrize("change", list(CHANGES.values())[:-1], ids=list(CHANGES)[:-1])
def test_data_that_changed_before_or_while_it_is_read_gives_one_line_and_nothing_else(data, change, by_setting):
    expected = planned()
    assert import_job(data, expected, by_setting=by_setting) == (None, True)
    shutil.rmtree("results")
    reported = (f"error: {data}: changed while the run was under way; run again", False)
    assert import_job(data, expected, during=change, by_setting=by_setting) == reported
    assert import_job(data, expected, by_setting=by_setting) == reported
    assert import_job(data, planned(), by_setting=by_setting) == (None, True)


def test_a_mistake_in_half_written_data_is_not_reported_as_one_of_the_data(data):
    expected = planned()
    said, _ = import_job(data, expected, during=lambda: flip(data / "corpus.jsonl"), wrong=True)
    assert "changed while the run was under way" in said
    flip(data / "corpus.jsonl")
    assert import_job(data, expected, wrong=True) == ("error: corpus.jsonl:2: not JSON", False)


def test_data_that_is_gone_while_it_is_read(data):
    expected = planned()
    said, wrote = import_job(data, expected, during=lambda: shutil.rmtree(data))
    assert said == f"error: {data}: changed while the run was under way; run again" and not wrote
