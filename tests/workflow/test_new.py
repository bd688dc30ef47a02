"""A configuration that `make new` writes runs as it is: planned for each layout, run to the summary effect for some."""

import subprocess

import pytest

from tests.new import folders
from tests.workflow.conftest import REPOSITORY, copy


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    made = copy(REPOSITORY, tmp_path_factory.mktemp("new") / "ranktrial")
    (made.folder / "config/beir.yaml").unlink()  # the name that make new would choose
    for name, write in folders.LAYOUTS.items():
        write(made.folder / "data" / name)
    return made


def new(workspace, *arguments):
    """What `make new` does, as its recipe does it."""
    command = [workspace.python, "-m", "ranktrial.api.command", "new", *arguments]
    env = {"PYTHONPATH": ".", "RANKTRIAL_MAKE": "1"}
    return subprocess.run(command, cwd=workspace.folder, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def written(workspace):
    """The configurations, by layout."""
    done = {layout: new(workspace, f"data/{layout}") for layout in folders.LAYOUTS}
    assert {layout: one.stderr for layout, one in done.items() if one.returncode} == {}
    return {layout: f"config/{layout}.yaml" for layout in folders.LAYOUTS}


def test_it_says_what_it_found_and_what_comes_next_and_writes_once(workspace, written):
    done = new(workspace, "data/scores")
    assert done.returncode == 2 and done.stderr == (
        "error: config/scores.yaml: exists already; choose another place by OUT=config/NAME.yaml\n"
    )
    done = new(workspace, "data/scores", "--out", "config/again.yaml")
    said = [
        "scores (score) of 2 systems on 2 tasks",
        "each column (bm25, dense) is read as a system, each file as a task; if it is the other way round: COLUMNS=tasks.",
        "the control is bm25, by its name.",
        "next: make run CONFIG=config/again.yaml",
    ]
    assert done.stdout == f"config/again.yaml: {chr(10).join(said)}\n"
    done = new(workspace, "rules")
    assert done.returncode == 2 and done.stderr.startswith("error: rules: looked for BEIR's layout")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("layout", ["beir", "trec"])
def test_a_collection_is_planned(workspace, written, layout):
    jobs = workspace.planned(written[layout])
    assert {f"prepare_dataset {layout}", "report"} <= jobs, jobs
    assert any(job.startswith("encode") for job in jobs) and any(job.startswith("compare") for job in jobs)


@pytest.mark.parametrize("layout", ["runs", "scores"])
def test_runs_and_scores_are_run_to_their_summary_effect(workspace, written, layout):
    meta = f"results/{layout}/meta/against-bm25.json"
    workspace.run(meta, config=written[layout])
    results = workspace.folder / f"results/{layout}"
    assert (workspace.folder / meta).is_file() and len(list(results.glob("metrics/*/*/*.tsv"))) == 4
