"""A run after a change has the results of a run in a fresh folder, byte for byte, and the next one has nothing to do."""

import shutil

import pytest

from tests.support.mutations import changes, experiment, write_data
from tests.workflow.conftest import REPOSITORY, copy

CHANGES = changes()
SHORT = ("roles exchanged", "tasks turned", "clusters of the same size and date", "a word of a query")
ASIDE = {"logs", "benchmarks", ".snakemake_timestamp"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder in which results stay from change to change, and one in which each run begins anew."""
    made = [copy(REPOSITORY, tmp_path_factory.mktemp(name) / "ranktrial") for name in ("kept", "anew")]
    ran(made[0], lambda config, folder: None)
    return made


def ran(workspace, change, *arguments):
    """Run the changed experiment, which replaces the earlier one."""
    write_data(workspace.folder)
    config = experiment()
    change(config, workspace.folder)
    workspace.write_config(config, "small.yaml")
    done = workspace.snakemake(*arguments, config="small.yaml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def results(workspace):
    """The content of all files that the experiment made, by their paths."""
    folder = workspace.folder / "results/small"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not ASIDE & set(path.parts)]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def different(kept, anew):
    """The files that a fresh run has and that are missing or different; files of what is no longer asked may stay."""
    ours, theirs = results(kept), results(anew)
    return [name for name, content in theirs.items() if ours.get(name) != content]


def start_anew(workspace):
    for name in ("results", ".snakemake"):
        shutil.rmtree(workspace.folder / name, ignore_errors=True)


def agrees(folders, change):
    kept, anew = folders
    ran(kept, change)
    start_anew(anew)
    ran(anew, change)
    assert different(kept, anew) == []
    assert kept.planned("small.yaml") == set()


def test_each_declared_key_has_a_change():
    assert len(CHANGES) > 60


def test_a_run_after_changes_equals_a_fresh_one(folders):
    """In the suite, several changes at once."""

    def change(config, folder):
        for name in SHORT:
            CHANGES[name](config, folder)

    agrees(folders, change)


@pytest.mark.long
@pytest.mark.parametrize("name", CHANGES)
def test_a_run_after_any_change_equals_a_fresh_one(folders, name):
    agrees(folders, CHANGES[name])


@pytest.mark.long
@pytest.mark.parametrize("rule", ["score", "compare", "collect", "figure"])
def test_a_run_that_was_cut_short_is_completed(folders, rule):
    """The change is under way when the run ends, and the next run has another one."""
    ran(folders[0], CHANGES["roles exchanged"], "--until", rule)
    agrees(folders, CHANGES["tasks turned"])


@pytest.mark.long
def test_corrected_texts_reach_what_shows_them_after_a_run_that_was_cut_short(folders):
    ran(folders[0], CHANGES["a word of a query"], "--until", "score")
    agrees(folders, CHANGES["a word of a query"])


@pytest.mark.long
def test_touch_records_no_settings_that_no_job_ran_with(folders):
    agrees(folders, CHANGES["roles exchanged"])
    kept = folders[0]
    config = experiment()
    config["comparisons"]["helps"]["alpha"] = 0.2
    kept.write_config(config, "small.yaml")
    planned = kept.planned("small.yaml")
    touched = kept.snakemake("--touch", config="small.yaml")
    assert touched.returncode == 1 and "--touch: " in touched.stderr and "Traceback" not in touched.stderr
    assert kept.planned("small.yaml") == planned != set()
