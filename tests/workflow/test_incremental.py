"""A run after a change has the results of a run in a fresh folder, byte for byte, and the next one has nothing to do."""

import json
import re
import shutil
from pathlib import Path

import pytest

from ranktrial.archive.jobs import Job, job_records
from ranktrial.common.job_code import modules_behind
from ranktrial.experiment.resolution import resolve
from tests.support.mutations import changed, changes, groups
from tests.support.needless import needless, state
from tests.support.once import made_once
from tests.support.warm import LOADED
from tests.workflow.conftest import REPOSITORY, copy
from tests.workflow.test_kills import kill_when

CHANGES = changes()
SHORT = ("roles exchanged", "tasks turned", "clusters of the same size and date", "a word of a query")
NUMBER = re.compile(r"[-\d.+ ]+")  # of times, with the widths of their columns
DECLARING = "ranktrial/learning_to_rank/learners/"  # whose keys are read where a configuration is
ASIDE = {"logs", "benchmarks", ".snakemake_timestamp"}
# Of searches: Lucene's files have random names, and these have times.
TIMES = ("bm25/*/index*", "*.timing.json", "costs.*", "inference-times.*", "cost-*", "report.html", "summary.md")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder in which results stay from change to change, and one in which each run begins anew."""
    first = made_once(tmp_path_factory, "small", lambda folder: ran(copy(REPOSITORY, folder)))
    return [copy(first, tmp_path_factory.mktemp(name) / "ranktrial") for name in ("kept", "anew")]


def ran(workspace, *names, until=()):
    """Run the changed experiment, which replaces the earlier one."""
    workspace.write_config(changed(names, workspace.folder), "small.yaml")
    workspace.run(*until, config="small.yaml")


def results(workspace, aside):
    """The content of all files that the experiment made, by their paths, without those of a name in `aside`."""
    folder = workspace.folder / "results/small"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not ASIDE & set(path.parts)]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not any(one.match(name) for name in aside for one in (path, *path.parents))
    }


def different(kept, anew):
    """The files that a fresh run has and that are missing or different; files of what is no longer asked may stay."""
    aside = TIMES if (anew.folder / "results/small/bm25").exists() else ()
    ours, theirs = results(kept, aside), results(anew, aside)
    return [name for name, content in theirs.items() if ours.get(name) != content]


def start_anew(workspace):
    for name in ("results", ".snakemake"):
        shutil.rmtree(workspace.folder / name, ignore_errors=True)


def agrees(folders, *names):
    """As a fresh one, and of its jobs none ran without a reason."""
    before = state(folders[0].folder)
    equals_a_fresh_run(folders, *names)
    assert needless(before, state(folders[0].folder)) == []


def equals_a_fresh_run(folders, *names):
    kept, anew = folders
    ran(kept, *names)
    start_anew(anew)
    ran(anew, *names)
    assert different(kept, anew) == []
    assert kept.planned("small.yaml") == set()


def loaded_by_jobs(told):
    """The modules with content that each job has loaded, by its log."""
    for words, files in map(json.loads, told.read_text().splitlines()):
        if "--log" in words:
            yield words[words.index("--log") + 1], {file for file in files if Path(file).read_text().strip()}


def test_each_declared_key_has_a_change():
    assert len(CHANGES) > 60


def test_a_run_after_changes_equals_a_fresh_one(tmp_path, monkeypatch):
    """In the suite, several changes at once. No job has loaded what is not part of its code."""
    kept, anew = (copy(REPOSITORY, tmp_path / name) for name in ("kept", "anew"))
    ran(kept, "much less")
    monkeypatch.setenv(LOADED, str(tmp_path / "loaded"))
    agrees((kept, anew), "much less", *SHORT)
    monkeypatch.chdir(anew.folder)
    loaded = dict(loaded_by_jobs(tmp_path / "loaded"))
    assert len(loaded) > 20
    jobs = {log: job for job in map(Job, job_records().values()) for log in job.record["log"]}
    others = {(log, file) for log, job in jobs.items() for file in loaded[log] - {*modules_behind(job.code)}}
    assert {(log, file) for log, file in others if not file.startswith(DECLARING)} == set()


def test_each_change_is_in_one_group():
    assert sorted(name for group in groups() for name in group) == sorted(CHANGES)


@pytest.mark.parametrize("names", groups(), ids=", ".join)
def test_each_changed_experiment_is_a_valid_one(names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    resolve(changed(names, tmp_path), "small.yaml")


@pytest.mark.long
@pytest.mark.parametrize("names", groups(), ids=", ".join)
def test_a_run_after_any_change_equals_a_fresh_one(folders, names):
    agrees(folders, *names)


@pytest.mark.long
@pytest.mark.parametrize(
    "names", [("systems turned", "tasks turned", "comparisons turned", "datasets turned"), ("bm25.tune",)]
)
def test_what_is_shown_has_the_order_of_the_configuration(folders, names):
    """Settings arrive with sorted keys; here, in a copy of the repository, with those of the configuration."""
    kept, anew = folders
    for workspace in folders:
        start_anew(workspace)
    helpers = anew.folder / "ranktrial/engine/rule_helpers.py"
    text = helpers.read_text()
    assert text.count("sort_keys=True") == 1
    helpers.write_text(text.replace("sort_keys=True", "sort_keys=False"))
    try:
        for workspace in folders:
            ran(workspace, *names)
    finally:
        helpers.write_text(text)
    assert [name for name in different(kept, anew) if not name.startswith("explorer/data/")] == []
    ours, theirs = ((one.folder / "results/small/summary.md").read_text() for one in folders)
    assert NUMBER.sub("", ours) == NUMBER.sub("", theirs)


@pytest.mark.long
@pytest.mark.parametrize("rule", ["score", "compare", "collect", "figure"])
def test_a_run_that_was_cut_short_is_completed(folders, rule):
    """The change is under way when the run ends, and the next run has another one."""
    ran(folders[0], "roles exchanged", until=("--until", rule))
    equals_a_fresh_run(folders, "tasks turned")


@pytest.mark.long
def test_a_killed_run_is_completed_by_the_same_command(folders):
    kept = folders[0]
    start_anew(kept)
    kept.write_config(changed(["tasks turned"], kept.folder), "small.yaml")
    kill_when(kept, (kept.folder / "results/small/effects/third.tsv").exists, config="small.yaml")
    equals_a_fresh_run(folders, "tasks turned")


@pytest.mark.long
def test_corrected_texts_reach_what_shows_them_after_a_run_that_was_cut_short(folders):
    ran(folders[0], "a word of a query", until=("--until", "score"))
    equals_a_fresh_run(folders, "a word of a query")


@pytest.mark.long
def test_touch_records_no_settings_that_no_job_ran_with(folders):
    agrees(folders, "roles exchanged")
    kept = folders[0]
    config = changed(["roles exchanged"], kept.folder)
    config["comparisons"]["helps"]["alpha"] = 0.2
    kept.write_config(config, "small.yaml")
    planned = kept.planned("small.yaml")
    touched = kept.snakemake("--touch", config="small.yaml")
    assert touched.returncode == 1 and "--touch: " in touched.stderr and "Traceback" not in touched.stderr
    assert kept.planned("small.yaml") == planned != set()
