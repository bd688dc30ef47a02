"""Snakemake's records become the state of a run and the few lines that are shown; errors are repeated at the end."""

import io
import logging
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.logging import logger
from snakemake.sourcecache import LocalSourceFile
from snakemake_interface_logger_plugins.common import LogEvent

from ranktrial.engine import display as state
from ranktrial.engine import run_progress
from ranktrial.engine.run_progress import STREAM, RunProgress, errors_of_logs, first_error, follow


def test_each_error_of_this_run_is_reported_once_with_its_first_log(tmp_path):
    logs, slurm = tmp_path / "logs", tmp_path / "slurm"
    for path, text, date in [
        (logs / "score/b.log", "host: x\n12 queries\nerror: x.yaml: wrong\n", 2000),
        (logs / "a.log", "Traceback\nOSError: [Errno 28] No space left on device\n", 2000),
        (logs / "old.log", "error: of an earlier run\n", 1000),
        (logs / "no.txt", "error: in no log\n", 2000),
        (slurm / "1.log", "error: x.yaml: wrong\nslurmstepd-node7: error: Detected 1 oom_kill event\n", 2000),
    ]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (date, date))
    assert errors_of_logs([logs, slurm, tmp_path / "gone"], 1500) == [
        f"error: [Errno 28] No space left on device  [{logs / 'a.log'}]",
        f"error: x.yaml: wrong  [{logs / 'score/b.log'}]",
        f"error: Detected 1 oom_kill event  [{slurm / '1.log'}]",
    ]


def test_a_log_that_is_no_text_is_read_all_the_same(tmp_path):
    (tmp_path / "a.log").write_bytes(b"\xff\xfe\nerror: broken\n")
    assert errors_of_logs([tmp_path], 0) == [f"error: broken  [{tmp_path / 'a.log'}]"]


def test_the_last_line_of_slurms_log_says_why_a_job_could_not_start(tmp_path):
    folder = tmp_path / "slurm_logs"
    folder.mkdir()
    (folder / "7.log").write_text("modules loaded\n/spool/slurm_script: 4: /home/lab/with: not found\n\n")
    (folder / "8.log").write_text("host: c1\nBuilding DAG of jobs...\nExiting because a job execution failed.\n")
    (tmp_path / "rule.log").write_text("anything\n")
    logs = [*folder.glob("*.log"), tmp_path / "rule.log"]
    assert first_error(logs, 0.0) == f"/spool/slurm_script: 4: /home/lab/with: not found  [{folder / '7.log'}]"
    assert len(errors_of_logs([folder], 0.0)) == 1


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VERBOSE", raising=False)
    Path("run.log").touch()


@pytest.fixture
def said():
    return io.StringIO()


@pytest.fixture
def stream(said):
    """Snakemake's handler of the stream, alone on its logger."""
    handlers, logger.handlers = logger.handlers, []
    handler = logging.StreamHandler(said)
    handler.name = STREAM
    logger.addHandler(handler)
    yield handler
    logger.handlers = handlers


def a_workflow(logs=("run.log",), **settings):
    return SimpleNamespace(
        is_main_process=True, local_exec=True, cores=2, dag_settings=SimpleNamespace(targets=frozenset()),
        logger_manager=SimpleNamespace(get_logfile=lambda: list(logs)),
        output_settings=SimpleNamespace(**{"verbose": False, "quiet": {"host"}, **settings}),
        execution_settings=SimpleNamespace(retries=0),
        included=[],
        rules=[SimpleNamespace(name=name, snakefile=LocalSourceFile(f"rules/{file}.smk"))
               for name, file in (("score", "evaluation"), ("figure", "figures"))],
    )  # fmt: skip


def record(message="", event=None, level=logging.INFO, **fields):
    made = logging.makeLogRecord({"msg": message, "levelno": level, "event": event, **fields})
    return made


PLANNED = record("Job stats", LogEvent.RUN_INFO, stats={"all": 1, "score": 2, "figure": 1, "total": 4})


def job(number, rule, output=(), log="none.log"):
    named = {"jobid": number, "rule_name": rule, "rule_msg": f"{rule} x", "output": list(output), "log": [log]}
    return record("", LogEvent.JOB_INFO, **named)


@pytest.fixture
def progress(stream):
    """That of a run whose lines are kept for the test: it takes no terminal."""
    handler = RunProgress(a_workflow(), "tiny", {"first.png": "first"}, None)
    handler.lines = []
    handler.handle(PLANNED)
    handler.begin()
    handler.display = SimpleNamespace(say=handler.lines.append, show=lambda run: None, erase=lambda: None)
    yield handler
    handler.close()


def test_the_records_of_jobs_are_counted_by_stage_and_written_for_others(progress):
    for one in (job(1, "score"), job(2, "score"), job(3, "figure", ["first.svg", "first.png"])):
        progress.handle(one)
    progress.handle(record("", LogEvent.JOB_FINISHED, job_id=1))
    progress.handle(record("", LogEvent.JOB_FINISHED, job_id=3))
    assert progress.lines == ["forest plot of first: first.png"]
    progress.end("finished")
    found = state.read("tiny")
    assert {name: (rule.stage, rule.total, rule.done) for name, rule in found.rules.items()} == {
        "score": ("scoring", 2, 1), "figure": ("figures and tables", 1, 1)}  # fmt: skip
    assert found.outcome == "finished" and found.log == "run.log"


def test_a_failed_job_is_a_line_with_the_error_in_its_log_or_with_the_logs(progress):
    progress.handle(job(1, "score"))
    progress.handle(job(2, "score"))
    Path("score.log").write_text("host: x\nerror: no.qrels: no such file\nerror: second\n")
    progress.handle(record("", LogEvent.JOB_ERROR, logging.ERROR, jobid=1, log=["score.log"]))
    progress.handle(record("", LogEvent.JOB_ERROR, logging.ERROR, jobid=2, log=["none.log"]))
    assert progress.lines == [
        "failed: score x: no.qrels: no such file  [score.log]", "failed: score x: see none.log run.log"]  # fmt: skip
    progress.handle(job(3, "score"))  # alone: the end of the run, which follows, has the error
    progress.handle(record("", LogEvent.JOB_ERROR, logging.ERROR, jobid=3, log=["score.log"]))
    assert progress.lines[2:] == ["failed: score x: see score.log"]
    progress.workflow.execution_settings.retries = 3  # it may be tried again
    progress.handle(job(3, "score"))
    progress.handle(record("", LogEvent.JOB_ERROR, logging.ERROR, jobid=3, log=["score.log"]))
    assert progress.lines[3:] == ["failed: score x: no.qrels: no such file  [score.log]"]
    progress.handle(job(2, "score"))
    progress.handle(record("", LogEvent.JOB_FINISHED, job_id=2))
    assert progress.run.failed == {"1": "score", "3": "score"} and progress.run.rules["score"].done == 1


def test_a_jobs_warnings_are_shown_and_what_a_check_prints_stands_at_the_end(progress, capsys):
    head = "host: x\nslurm job: none\ndriver: none\n"
    Path("score.log").write_text(f"{head}a.trec: warning: not judged\nx.py:3: FutureWarning: of a library\n3 queries\n")
    Path("check.log").write_text(f"{head}weather  there\n")
    for number, rule in enumerate(("score", "check")):
        progress.handle(job(number, rule, log=f"{rule}.log"))
        progress.handle(record("", LogEvent.JOB_FINISHED, job_id=number))
    assert progress.lines == ["a.trec: warning: not judged"] and capsys.readouterr().out == ""
    progress.end("finished")
    assert capsys.readouterr().out == "weather  there\n"


def test_jobs_that_ctrl_c_ended_did_not_fail(progress):
    progress.handle(job(1, "score"))
    progress.handle(record("Terminating processes on user request, this might take some time."))
    progress.handle(record("", LogEvent.JOB_ERROR, logging.ERROR, jobid=1, log=[]))
    progress.end("failed")
    assert progress.lines == [] and state.read("tiny").outcome == "stopped" and state.read("tiny").failed == {}


def test_a_run_that_breaks_off_has_failed(progress):
    progress.close()
    assert state.read("tiny").outcome == "failed"


def test_a_command_that_runs_no_job_says_all_that_snakemake_says(stream, said):
    handler = follow(a_workflow(), "tiny", {})
    assert logger.handlers == [handler]
    handler.handle(record("Building DAG of jobs..."))
    handler.handle(record("beware", level=logging.WARNING))
    assert said.getvalue() == "beware\n"
    handler.handle(record("Nothing to be done"))
    handler.close()
    assert said.getvalue() == "beware\nBuilding DAG of jobs...\nNothing to be done\n"
    assert not state.FOLDER.exists()


def test_of_a_finished_experiment_the_end_says_what_was_found_and_where_the_pages_are(stream, said):
    results = Path("results/tiny")
    results.mkdir(parents=True)
    (results / "report.html").touch()
    (results / "summary.md").write_text("# tiny\n\n## Comparisons\n\n### Does b beat a?\n\n- **Yes** It does.\n")
    for targets in (frozenset(), ["all"], ["results/tiny/report.html"]):  # a list, if there are any
        workflow = a_workflow()
        workflow.dag_settings.targets = targets
        handler = follow(workflow, "tiny", {})
        for message in ("Building DAG of jobs...", "Nothing to be done (all requested files are present)."):
            handler.handle(record(message))
        handler.close()
        logger.handlers = [stream]
    assert said.getvalue().splitlines() == [
        *2 * ["Nothing to be done: tiny is finished", "Does b beat a?", "It does.",
              "results/tiny/report.html, results/tiny/summary.md contain the results"],
        "Building DAG of jobs...", "Nothing to be done (all requested files are present)."]  # fmt: skip


def test_before_an_error_stands_what_led_to_it(stream, said):
    handler = follow(a_workflow(), "tiny", {})
    handler.handle(record("Building DAG of jobs..."))
    handler.handle(record("MissingInputException", level=logging.ERROR))
    handler.close()
    assert said.getvalue() == "Building DAG of jobs...\nMissingInputException\n"


@pytest.mark.parametrize("settings", [{"verbose": True}, {"quiet": {"progress", "rules"}}, {"quiet": {"all"}}])
def test_snakemakes_own_output_stays_where_it_or_none_was_asked_for(stream, settings):
    handler = follow(a_workflow(**settings), "tiny", {})
    assert logger.handlers == [stream, handler] and handler.stream is None


@pytest.mark.parametrize(("value", "replaced"), [("1", False), ("0", True), ("", True)])
def test_verbose_in_the_environment_leaves_it_too(stream, monkeypatch, value, replaced):
    monkeypatch.setenv("VERBOSE", value)
    follow(a_workflow(), "tiny", {})
    assert (stream not in logger.handlers) == replaced


def test_a_dry_run_which_has_no_log_and_the_process_of_a_job_are_not_followed(stream):
    of_a_job = a_workflow()
    of_a_job.is_main_process = False
    assert follow(a_workflow(logs=()), "tiny", {}) is None and follow(of_a_job, "tiny", {}) is None
    assert logger.handlers == [stream]


def locked(stream, said):
    handler = follow(a_workflow(), "tiny", {})
    handler.handle(record("LockException:\nError: Directory cannot be locked.", level=logging.ERROR))
    return said.getvalue()


def test_a_run_that_is_under_way_already_is_named_in_one_line(stream, said, monkeypatch):
    monkeypatch.setattr(run_progress, "refusal", lambda: "is running already (process 7 of ann on node1)")
    assert locked(stream, said) == "error: tiny: is running already (process 7 of ann on node1)\n"


def test_locks_of_another_experiment_are_named_with_their_remedy(stream, said):
    assert locked(stream, said).count("\n") == 1 and ".venv/bin/snakemake --unlock" in said.getvalue()
