"""A file that is no longer what its job wrote is noticed by whoever reads it: the ledger, and the check of a job's inputs."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ranktrial.common import ledger
from ranktrial.common.command_line import parser, run
from ranktrial.common.digests import sha256
from ranktrial.common.files import atomic_folder, atomic_path, atomic_text
from tests.support.clone import METRICS, MODEL, clone, flip, write, write_model  # noqa: F401

# The ledger


def test_what_is_written_below_results_is_entered_as_sha256sum_writes_it():
    write(METRICS)
    write_model()
    assert ledger.recorded(METRICS) == {str(METRICS): sha256(METRICS)}
    assert (ledger.LEDGER / METRICS).read_text() == f"{sha256(METRICS)}  {METRICS}\n"
    assert set(ledger.recorded(MODEL)) == {f"{MODEL}/1_Pooling/config.json", f"{MODEL}/model.safetensors"}
    for entry in ledger.entries():
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", entry], check=True)
    assert ledger.changed(METRICS) == ledger.changed(MODEL) == []


@pytest.mark.parametrize("name", ["back\\slash", "new\nline", "\\n", "two  spaces", " first", "ü", "a\rb", "\udcff"])
def test_odd_names_in_a_folder_are_entered_as_sha256sum_writes_them(name):
    with atomic_folder(MODEL) as folder:
        (folder / name).write_text("x")
    assert ledger.recorded(MODEL) == {f"{MODEL}/{name}": sha256(MODEL / name)}
    assert ledger.changed(MODEL) == []


@pytest.mark.parametrize(
    "path",
    ["out.tsv", "../out.tsv", "results-old/a.tsv", "results/state/x", "results/tiny/seed-1.resume/checkpoint-4/DONE"],
)
def test_nothing_is_claimed_of_what_is_no_output(path):
    write(Path(path))
    assert ledger.recorded(path) is None and not ledger.LEDGER.exists()


def test_the_parts_of_a_folder_are_entered_with_it_alone():
    with atomic_folder(Path("results/tiny/data/weather")) as folder:
        write(folder / "qrels/test.qrels", "q1 0 d1 1\n")
    assert [str(entry) for entry in ledger.entries()] == [str(ledger.LEDGER / "results/tiny/data/weather")]
    assert ledger.recorded("results/tiny/data/weather/qrels/test.qrels")
    assert ledger.recorded("results/tiny/data/weather/qrels/dev.qrels") is None


def test_an_absolute_path_is_the_same_output():
    write(METRICS.absolute())
    assert ledger.recorded(METRICS.absolute()) == ledger.recorded(METRICS) == {str(METRICS): sha256(METRICS)}


def test_an_output_that_is_written_again_has_its_new_entry():
    for content in ("one", "two"):
        write(METRICS, content)
        assert ledger.changed(METRICS) == []
    write(MODEL / "model.safetensors", "in a folder of single files")
    write_model()
    assert ledger.changed(MODEL) == []
    ledger.record(MODEL / "model.safetensors")  # as one file of a folder that was recorded as a whole
    (MODEL / "model.safetensors").write_text("other")
    ledger.record(MODEL / "model.safetensors")
    assert ledger.changed(MODEL) == [] and len(ledger.recorded(MODEL)) == 2


def test_what_was_forgotten_is_taken_as_it_is():
    write(METRICS)
    write_model()
    ledger.forget(METRICS)
    ledger.forget(MODEL / "model.safetensors")
    METRICS.write_text("other")
    (MODEL / "1_Pooling/config.json").write_text("other")
    assert ledger.recorded(METRICS) is None
    assert ledger.changed(MODEL) == [f"{MODEL}/1_Pooling/config.json: {ledger.DIFFERS}",
                                     f"{MODEL}/model.safetensors: {ledger.ALIEN}"]  # fmt: skip
    ledger.forget(MODEL)
    assert ledger.changed(MODEL) == []


def test_a_write_that_fails_leaves_file_and_entry_as_they_were():
    write(METRICS, "old")
    with pytest.raises(RuntimeError), atomic_text(METRICS) as file:
        file.write("half")
        raise RuntimeError
    assert METRICS.read_text() == "old" and ledger.changed(METRICS) == [] and ledger.recorded(METRICS)


STEPS = {
    "before the old folder goes": (MODEL, "ranktrial.common.files.shutil.rmtree"),
    "before the new folder comes": (MODEL, "ranktrial.common.files.os.replace"),
    "before the new folder is entered": (MODEL, "ranktrial.common.ledger.record"),
    "before the new file comes": (METRICS, "ranktrial.common.files.os.replace"),
    "before the new file is entered": (METRICS, "ranktrial.common.ledger.record"),
}


class Killed(BaseException):
    pass


@pytest.mark.parametrize(("path", "step"), STEPS.values(), ids=STEPS)
def test_an_end_in_between_never_makes_a_good_file_look_bad(path, step, monkeypatch):
    """The process ends at this step of taking an output over: what lies there is recorded rightly or not at all."""

    def make(number):
        if path is METRICS:
            write(path, f"number {number}")
        else:
            write_model()
            (path / "model.safetensors").write_text(f"number {number}")
            ledger.record(path)

    make(1)
    module, function = step.rsplit(".", 1)
    real = getattr({"shutil": shutil, "os": os, "ledger": ledger}[module.rsplit(".", 1)[1]], function)

    def kill(*arguments, **options):
        if any(isinstance(one, Path) and one == path for one in arguments):
            raise Killed
        return real(*arguments, **options)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(step, kill)
        make(2)
    assert ledger.recorded(path) is None and ledger.changed(path) == []
    make(3)
    assert ledger.recorded(path) and ledger.changed(path) == []


def test_parallel_jobs_do_not_disturb_each_other():
    paths = [Path(f"results/tiny/metrics/t/s{n}/seed-0.tsv") for n in range(40)]
    threads = [threading.Thread(target=write, args=(path, str(path))) for path in paths]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert all(ledger.recorded(path) and ledger.changed(path) == [] for path in paths)


@pytest.mark.parametrize("content", [b"", b"x\n", b"\xff\xfe\n", b"{}", b"0" * 64, b"0" * 64 + b"  cut off"])
def test_a_damaged_entry_claims_nothing(content):
    write(METRICS)
    (ledger.LEDGER / METRICS).write_bytes(content)
    assert not ledger.recorded(METRICS) and ledger.changed(METRICS) == []
    write(METRICS)
    assert ledger.recorded(METRICS)


# A job's inputs


def job(options, *names, out="results/tiny/tables/means.tsv"):
    """Run a script with these options as Snakemake would, which has taken its output away; returns its one line."""

    def main():
        parser("", *names, "out").parse_args()
        write(Path(out), "made")

    Path(out).unlink(missing_ok=True)
    sys.argv = ["script.py", *map(str, options), "--out", out]
    with pytest.raises(SystemExit) as ended:
        run(main)
    return ended.value.code


def refused(said, path, it="it"):
    assert said.startswith(f"error: {path}: ") and "\n" not in said
    assert f"; delete {it} and run again, so that it is made anew" in said
    assert not Path("results/tiny/tables/means.tsv").exists()


DAMAGES = {
    "a bit": flip,
    "emptied": lambda path: path.write_text(""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "one byte more": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    "replaced": lambda path: (path.unlink(), path.write_text("mine")),
    "a link to another": lambda path: (path.unlink(), Path("mine").write_text("mine"), path.symlink_to(Path("mine").resolve())),
}  # fmt: skip
GIVEN = {
    "an option": lambda path: (["--in", path, "--settings", "{}"], ["in"]),
    "one of many": lambda path: (["--in", "a", "b", path, "--settings", "{}"], ["in*"]),
    "absolute": lambda path: (["--in", path.resolve(), "--settings", "{}"], ["in"]),
    "a setting": lambda path: (["--settings", json.dumps({"source": str(path)})], []),
    "deep in the settings": lambda path: (["--settings", json.dumps({"b": {"x": [{"timing": str(path)}]}})], []),
    "a key of the settings": lambda path: (["--settings", json.dumps({"beside": {str(path): {}}})], []),
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_changed_input_is_refused_however_it_is_given(damage, given):
    write(METRICS)
    options, names = given(METRICS)
    assert ledger.changed(METRICS) == []
    damage(METRICS)
    said = job(options, *names)
    refused(said, METRICS, METRICS.resolve() if "absolute" in str(options) else "it")
    assert "is not what its job wrote (SHA-256 differs)" in said


FOLDER_DAMAGES = {
    "a bit": (flip, "model.safetensors", ledger.DIFFERS),
    "in a part": (lambda path: path.write_text("[]"), "1_Pooling/config.json", ledger.DIFFERS),
    "deleted": (Path.unlink, "model.safetensors", ledger.MISSING),
    "added": (lambda path: path.write_text("{}"), "adapter_config.json", ledger.ALIEN),
}


@pytest.mark.parametrize(("damage", "name", "what"), FOLDER_DAMAGES.values(), ids=FOLDER_DAMAGES)
def test_a_changed_folder_is_refused_by_who_reads_it_or_a_part_of_it(damage, name, what):
    write_model()
    damage(MODEL / name)
    said = job(["--checkpoint", MODEL, "--settings", "{}"], "checkpoint")
    refused(said, f"{MODEL}/{name}", MODEL)
    assert what in said
    if what is ledger.DIFFERS:
        refused(job(["--in", MODEL / name, "--settings", "{}"], "in"), MODEL / name)
    if what is not ledger.ALIEN:  # files that were taken over one by one, as from an archive
        sums = ledger.recorded(MODEL)
        (ledger.LEDGER / MODEL).unlink()
        for one, found in sums.items():
            ledger.record(Path(one), {"": found})
        refused(job(["--checkpoint", MODEL, "--settings", "{}"], "checkpoint"), f"{MODEL}/{name}", MODEL)


def test_a_job_that_writes_one_file_of_a_folder_anew_is_not_held_to_the_others():
    """A dataset is prepared again: of the old one Snakemake has taken away all but what it does not know."""
    folder = Path("results/tiny/data/weather")
    with atomic_folder(folder) as made:
        write(made / "corpus.jsonl")
        write(made / "statistics.json")
    (folder / "statistics.json").unlink()
    assert "is missing" in job(["--collection", folder, "--settings", "{}"], "collection")
    sys.argv = ["script.py", "--statistics", str(folder / "statistics.json"), "--settings", "{}"]
    parser("", "statistics").parse_args()


def test_what_is_as_it_was_or_has_no_entry_is_read():
    write(METRICS)
    write_model()
    old = Path("results/tiny/effects/old.tsv")
    old.parent.mkdir()
    old.write_text("made before there was a ledger")
    sys.argv = ["script.py", "--in", *map(str, [METRICS, MODEL, old, "theirs.trec", "x" * 5000]), "--settings", "{}"]
    assert len(parser("", "in*").parse_args().__dict__["in"]) == 5


def test_a_large_file_is_hashed_as_a_stream():
    """Its size does not show in memory."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with atomic_path(Path("results/tiny/embeddings/e.npy")) as path, open(path, "wb") as file:
        file.truncate(1 << 28)
    assert ledger.changed(Path("results/tiny/embeddings/e.npy")) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 16  # KiB
