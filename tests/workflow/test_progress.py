"""What a run shows while it runs, in which order it does its jobs, and what `make status` says of it."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from ranktrial.common.processes import SAID
from tests.workflow.conftest import REPOSITORY, copy

SYSTEMS = ("a", "b", "y", "z")
CONFIG = {
    "experiment": "tiny",
    "datasets": {"rte": {"format": "scores", "measure": "accuracy"}},
    "systems": {name: {"type": "external", "scores": {"rte": f"{name}.txt"}} for name in SYSTEMS},
    "tasks": ["rte"],
    "comparisons": {
        "zy": {"control": "y", "treatment": "z", "measure": "accuracy"},
        "ab": {"control": "a", "treatment": "b", "measure": "accuracy"},
    },
}


def snakemake(workspace, *arguments, **environment):
    command = workspace.command("--cores", "1", *arguments)
    return subprocess.run(
        command, cwd=workspace.folder, capture_output=True, text=True, env=os.environ | environment
    )  # fmt: skip


def status(workspace):
    command = [workspace.python, "scripts/engine/status.py", "--config", "tiny.yaml"]
    done = subprocess.run(
        command, cwd=workspace.folder, env=os.environ | {"PYTHONPATH": "."}, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    made = copy(REPOSITORY, tmp_path_factory.mktemp("progress") / "ranktrial")
    rng = random.Random(1)
    for name in SYSTEMS:
        (made.folder / f"{name}.txt").write_text("".join(f"{rng.random()}\n" for _ in range(20)))
    made.write_config(CONFIG)
    return made


@pytest.fixture(scope="module")
def done(workspace):
    """The experiment, run."""
    done = snakemake(workspace)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def test_a_log_gets_a_few_lines_per_stage_and_snakemakes_own_are_in_its_log(workspace, done):
    lines = done.stderr.splitlines()
    of_stages = [line for line in lines if re.match(r"\d\d:\d\d:\d\d  ", line)]
    ended = [line for line in of_stages if re.search(r" (\d+) of \1 done$", line)]
    assert len(ended) == 4
    assert len(lines) < 40 and not re.search(r"^Job \d+: |^rule ", done.stderr, re.MULTILINE)
    (log,) = re.findall(r"^Snakemake's log: (\.snakemake/log/\S+)$", done.stderr, re.MULTILINE)
    assert "Job stats:" in (workspace.folder / log).read_text() and len(workspace.ran()) > 12


def test_the_first_comparison_is_done_before_what_only_the_second_needs_begins(workspace, done):
    """By name or by the order of the rules, systems a and b came first."""
    jobs = workspace.ran()
    assert jobs.index("compare zy") < min(
        jobs.index("import_scores rte a seed-0"), jobs.index("import_scores rte b seed-0")
    )
    plots = re.findall(r"^forest plot of (\S+): (\S+)$", done.stderr, re.MULTILINE)
    assert plots == [(name, f"results/tiny/figures/{name}.png") for name in ("zy", "ab")]


def test_in_the_end_stand_the_conclusions_and_where_the_pages_are(workspace, done):
    question, here, others, *further, where = done.stdout.splitlines()
    assert question == "Does z beat y in accuracy?" and here.startswith("On this task, mean accuracy of z")
    summary = (workspace.folder / "results/tiny/summary.md").read_text()
    assert all(text in summary for text in (question, here, others))
    assert further and all(text.startswith("On this task, mean accuracy of") for text in further)
    pages = where.removesuffix(" contain the results").split(", ")
    assert pages[0] == "results/tiny/report.html" and all((workspace.folder / page).exists() for page in pages)


def test_status_says_it_afterwards_and_the_next_run_knows_how_long_jobs_take(workspace, done):
    first, *stages, last = status(workspace)
    assert re.match(r"tiny: (\d+) of \1 jobs done in ", first) and last.startswith("finished at ") and len(stages) == 4
    for name in ("zy", "ab"):
        (workspace.folder / f"results/tiny/figures/{name}.png").unlink()
    again = snakemake(workspace, "results/tiny/figures/ab.png", "results/tiny/figures/zy.png")
    assert re.search(r"^tiny: \d+ jobs to do, about \d+ (s|min) left$", again.stderr, re.MULTILINE), again.stderr


def test_a_target_that_is_there_already_is_no_error(workspace, done):
    again = snakemake(workspace, "all", "results/tiny/report.html")
    assert again.returncode == 0 and "Nothing to be done" in again.stderr, again.stderr


def test_a_priority_is_no_reason_to_run_a_job_again(workspace, done):
    turned = CONFIG | {"comparisons": dict(reversed(CONFIG["comparisons"].items()))}
    workspace.write_config(turned, "turned.yaml")
    planned = {job.split()[0] for job in workspace.planned("turned.yaml")}
    assert not planned & {"import_scores", "compare"}  # plots take corrected p-values from a table in this order


def test_verbose_shows_snakemakes_lines_and_status_works_all_the_same(workspace, done):
    (workspace.folder / "results/tiny/figures/ab.png").unlink()
    again = snakemake(workspace, "results/tiny/figures/ab.png", VERBOSE="1")
    assert again.returncode == 0 and re.search(r"^Job \d+: figure ab$", again.stderr, re.MULTILINE), again.stderr
    assert "figures and tables  1 of 1 done" in status(workspace)


def test_a_failing_job_is_one_line_at_once_and_one_in_the_end(workspace, done):
    broken = copy(workspace.folder, workspace.folder.parent / "broken")
    (broken.folder / "b.txt").write_text("1.0\nyes\n")
    again = snakemake(broken, "--keep-going")
    assert again.returncode == 1
    said = "b.txt:2: value 'yes' is not a number; expected decimal digits with a point, such as 0.25"
    said += " (a heading calls its first column id)"
    log = "results/tiny/logs/import_scores/rte/b/seed-0.log"
    assert [line for line in again.stderr.splitlines() if "b.txt" in line or "seed-0.log" in line] == [
        f"failed: import_scores rte b seed-0: see {log}",
        f"error: {said}  [{log}]",
    ]
    assert re.search(r"^\S+  scoring .* 1 failed", again.stderr, re.MULTILINE) and "Traceback" not in again.stderr
    *stages, last = status(broken)
    assert any("1 failed" in line for line in stages) and last.startswith("failed at ")


def test_ctrl_c_once_or_twice_ends_with_one_line_and_the_same_command_goes_on(workspace):
    text = (workspace.folder / "tiny.yaml").read_text().replace("tiny", "i")
    (workspace.folder / "interrupted.yaml").write_text(text)
    command = [sys.executable, "-P", "scripts/engine/launch.py", "--cores", "1", "--configfile", "interrupted.yaml"]
    for times in (1, 2):
        run = subprocess.Popen(command, cwd=workspace.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)  # fmt: skip
        said = []
        for line in run.stderr:
            said.append(line)
            if " 1 running, " in line:
                for _ in range(times):
                    os.killpg(run.pid, signal.SIGINT)
                    time.sleep(0.2)
                said.append(run.stderr.read())
        assert run.wait() != 0 and "".join(said).endswith(f"\n{SAID}\n"), said
        assert "Traceback" not in "".join(said) and "WorkflowError" not in "".join(said)
        assert len(list((workspace.folder / "results/i/metrics").rglob("*.tsv"))) < len(SYSTEMS)
    effects = "results/i/effects/ab.tsv"
    done = workspace.snakemake(effects, config="interrupted.yaml")
    assert done.returncode == 0 and (workspace.folder / effects).exists(), done.stderr
