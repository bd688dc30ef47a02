"""Shows the progress of a run, one line per stage; Snakemake's own lines go only to its log.

Snakemake reports events as records of Python's `logging`. A handler takes them here, in place of Snakemake's stream
handler (its handler of the log file stays). Snakemake has plug-ins for such handlers, but only the command line can
choose one (`--logger`), it has to be an installed package, and it knows neither rule files nor whether jobs run at all:
so the Snakefile installs the handler. Lines are held back until `onstart`; a command that runs no job (`--unlock`)
shows them when it ends; if the whole experiment is finished, its conclusions and the paths of its pages are shown
instead. A dry run has no log file and keeps its output, as does VERBOSE=1. The output of jobs and their programs is in
their own logs and, while they run, in Snakemake's; the error lines of failed jobs are repeated at the end.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from ranktrial.common.command_line import HEAD
from ranktrial.engine import display as state
from ranktrial.engine.display import Display, ending, in_words, lasts, stage_of
from ranktrial.engine.run_lock import refusal

ERROR = re.compile(r"(?:error|OSError|slurmstepd\S* error): (.*)")
OF_SLURM = "slurm_logs"  # the folder of Slurm's own logs
STARTED = "Building DAG of jobs"  # what Snakemake writes first in each job
STREAM = "DefaultStreamHandler"  # Snakemake's name for the handler that is replaced
NOTHING = "Nothing to be done"  # how Snakemake reports that all is finished
STOPPING = "Terminating processes"  # the beginning of Snakemake's answer to Ctrl-C
SAID = (STOPPING, "Trying to restart", "Will exit after finishing")  # information that stays visible
INTERVAL = 1.0  # seconds between two updates
KEPT = 10.0  # seconds between two writes of the status, possibly on a shared file system
INCOMPLETE = "WorkflowError:\nAt least one job did not complete"  # the beginning of its last report, also after Ctrl-C
LOCKED = "LockException"  # the beginning of its message that another Snakemake makes the same files
OF_A_JOB = "RuleException:\nCalledProcessError"  # the beginning of Snakemake's second report of a failed job
TARGET = "all"  # the rule without a job
PRINTING = ("check", "plan_study", "write_archive", "export_runs")  # the rules whose jobs print requested output
WARNING = re.compile(r"(?:\S+: )?warning: ")  # the beginning of lines of a job's log that are shown


def errors_of_logs(folders: Iterable[Path], since: float) -> list[str]:
    """The distinct error lines of logs below these folders that were modified since a time, each with its log.

    An error in several logs is reported with the first, in the order of the folders.
    """
    logs = (log for folder in folders for log in sorted(folder.rglob("*.log")))
    first_log: dict[str, Path] = {}
    for message, log in _errors(logs, since):
        first_log.setdefault(message, log)
    return [f"error: {message}  [{log}]" for message, log in first_log.items()]


def first_error(logs: Iterable[Path], since: float) -> str | None:
    """The first error, with its log, in those of these logs that were modified since a time; None without one."""
    return next((f"{message}  [{log}]" for message, log in _errors(logs, since)), None)


def _errors(logs: Iterable[Path], since: float) -> Iterator[tuple[str, Path]]:
    """The messages of error lines, each with its log, of existing logs that were modified since a time.

    If a job could not start, the last line of Slurm's log stands for them.
    """
    for log in logs:
        if log.is_file() and log.stat().st_mtime >= since:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            found = [error[1] for line in lines if (error := ERROR.match(line))]
            if not found and OF_SLURM in log.parts and not any(line.startswith(STARTED) for line in lines):
                found = [line.strip() for line in lines if line.strip()][-1:]  # why the job could not start
            yield from ((error, log) for error in found)


def follow(workflow: Any, experiment: str, plots: Mapping[str, str]) -> RunProgress | None:
    """Follow the run of a workflow; `plots`: the file of each forest plot -> its name. None in jobs."""
    logs = workflow.logger_manager.get_logfile()
    if not workflow.is_main_process or not logs:
        return None
    stream = next((handler for handler in logger.handlers if handler.name == STREAM), None)
    handler = RunProgress(workflow, experiment, plots, stream if stream and not _as_it_is(workflow) else None)
    if handler.stream:
        logger.removeHandler(handler.stream)
    logger.addHandler(handler)
    return handler


def _as_it_is(workflow: Any) -> bool:
    """Whether Snakemake's own output, or no output, was requested."""
    asked = workflow.output_settings
    quiet = {str(about) for about in asked.quiet or ()}
    return os.environ.get("VERBOSE", "") not in ("", "0") or asked.verbose or bool(quiet & {"progress", "all"})


def _under_way(experiment: str) -> str:
    """Why Snakemake finds its files locked: a run that is under way, or one that was killed."""
    return refusal() or (
        f"another experiment here makes the same files of {experiment}, such as a download: wait for its end; if none "
        "is running (it was killed): .venv/bin/snakemake --unlock"
    )


def _stays_visible(record: logging.LogRecord) -> bool:
    """Whether a line of Snakemake is shown together with those of the stages."""
    message = record.getMessage()
    if record.levelno < logging.WARNING:
        return message.startswith(SAID)
    return not message.startswith(OF_A_JOB)


def _line(text: str) -> logging.LogRecord:
    """A line as a log record for Snakemake's handler."""
    return logging.makeLogRecord({"msg": text, "levelno": logging.INFO, "levelname": "INFO"})


def _log_of(began: Mapping[str, Any]) -> list[str]:
    """The log of a job, from the record of its start."""
    logs = [path for path in map(Path, began["log"]) if path.is_file()]
    return [
        line for log in logs for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[len(HEAD) :]
    ]


class RunProgress(logging.Handler):
    """The run of a workflow; `stream` is the handler of Snakemake that it replaces, or None to show nothing."""

    def __init__(
        self, workflow: Any, experiment: str, plots: Mapping[str, str], stream: logging.StreamHandler | None
    ) -> None:
        super().__init__()
        self.workflow, self.experiment, self.plots, self.stream = workflow, experiment, plots, stream
        self.run: state.Run | None = None
        self.display: Display | None = None
        self.held: list[logging.LogRecord] = []  # held back until it is known whether jobs run
        self.jobs: dict[str, logging.LogRecord] = {}  # the record of each job's start
        self.planned: Mapping[str, int] = {}  # rule -> its jobs
        self.stopped = False  # by Ctrl-C: jobs that end afterwards did not fail
        self.warned: set[str] = set()  # reasons for waiting that were warned of
        self.printed: list[str] = []  # output of jobs for the reader, shown at the end
        self.written = -KEPT
        self.over = threading.Event()
        self.descriptors: list[int] = []  # copies of the terminal's

    # Reports of Snakemake.

    def emit(self, record: logging.LogRecord) -> None:
        """Handle a record of Snakemake; only one thread at a time calls it."""
        event = getattr(record, "event", None)
        if event is LogEvent.RUN_INFO:
            self.planned = {rule: jobs for rule, jobs in record.__dict__["stats"].items() if rule != "total"}
        if self.run is None:
            self._hold(record)
            return
        if event is LogEvent.JOB_INFO:
            self.jobs[str(record.__dict__["jobid"])] = record
            self.run.start(str(record.__dict__["jobid"]), record.__dict__["rule_name"])
        elif event is LogEvent.JOB_FINISHED:
            self._finished(str(record.__dict__["job_id"]))
        elif event is LogEvent.JOB_ERROR and self.stopped:
            return
        elif event is LogEvent.JOB_ERROR:
            self._failed(str(record.__dict__["jobid"]), record.__dict__["log"])
        elif record.getMessage().startswith(INCOMPLETE):  # each failed job has its line
            return
        elif _stays_visible(record):
            if record.getMessage().startswith(STOPPING):
                self._stop()
            self._pass_on(record)

    def _stop(self) -> None:
        """Ctrl-C was pressed: a second one would break the end of the jobs off, in a traceback."""
        self.stopped = True
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, lambda *_: None)

    def _hold(self, record: logging.LogRecord) -> None:
        """Hold back a line unless it is a warning; before an error, all of them are shown."""
        if record.getMessage().startswith(NOTHING) and (found := self._finished_before()):
            self.held = [_line(text) for text in (f"{NOTHING}: {self.experiment} is finished", *found)]
            return
        if record.levelno < logging.WARNING:
            self.held.append(record)
            return
        if record.levelno >= logging.ERROR and record.getMessage().startswith(LOCKED):
            record, self.held = _line(f"error: {self.experiment}: {_under_way(self.experiment)}"), []
        elif record.levelno >= logging.ERROR:
            self._release()
        self._pass_on(record)

    def _finished_before(self) -> list[str]:
        """The conclusions of the whole experiment, if it was requested and is finished; otherwise empty."""
        whole = set(self.workflow.dag_settings.targets) <= {TARGET}
        return ending(Path("results", self.experiment)) if whole else []

    def _release(self) -> None:
        for record in self.held:
            self._pass_on(record)
        self.held = []

    def _pass_on(self, record: logging.LogRecord) -> None:
        """Show a record as Snakemake would."""
        if self.display:
            self.display.erase()
        if self.stream:
            self.stream.handle(record)

    def _finished(self, job: str) -> None:
        assert self.run
        self.run.finish(job)
        if job not in self.jobs:
            return
        began = self.jobs.pop(job).__dict__
        said = _log_of(began) if self.display else []
        if began["rule_name"] in PRINTING:
            self.printed += said
        else:
            self._say(*filter(WARNING.match, said))
        for file in began["output"]:
            if file in self.plots:
                self._say(f"forest plot of {self.plots[file]}: {file}")

    def _failed(self, job: str, logs: list[str]) -> None:
        """A line on a failed job: the error in its log, or which logs to look into.

        If this ends the run, whose last lines tell the error, it names the log only.
        """
        assert self.run
        self.run.fail(job)
        if (began := self.jobs.pop(job, None)) is None:
            return
        what = began.__dict__["rule_msg"] or began.__dict__["rule_name"]
        error = first_error(map(Path, logs), began.created - 1)
        ends = not self.jobs and not self.workflow.execution_settings.retries
        if ends or not error:
            error = f"see {' '.join(logs if error else [*logs, self.run.log])}"
        self._say(f"failed: {what}: {error}")

    def _say(self, *lines: str) -> None:
        for line in lines if self.display else ():
            self.display.say(line)

    # Calls from the Snakefile.

    def begin(self) -> None:
        """Jobs are about to run: start showing progress."""
        workflow, log = self.workflow, self.workflow.logger_manager.get_logfile()[0]
        at_a_time = workflow.cores if workflow.local_exec else workflow.nodes
        run = state.Run(
            self.experiment, os.path.relpath(log), at_a_time, socket.gethostname(), os.getpid(), time.time()
        )
        run.under_way = "running" if workflow.local_exec else "submitted"
        files = {file.get_path_or_uri(secret_free=True): file for file in workflow.included}
        files = {rule.name: files.get(rule.snakefile, rule.snakefile).get_filename() for rule in workflow.rules}
        stages = {rule: stage_of(Path(files[rule]).stem) for rule in self.planned if rule != TARGET}
        run.plan(stages, self.planned)
        self.held, self.run = [], run
        if self.stream:
            self._take_terminal(log)
            self._say(f"Snakemake's log: {run.log}")
        self._look()
        threading.Thread(target=self._keep_showing, daemon=True).start()

    def waits(self, queue: Mapping[str, str]) -> None:
        """What a cluster's queue says: number of a job -> why it waits, empty if it runs."""
        assert self.lock
        with self.lock:
            if self.run is None or self.over.is_set():
                return
            self.run.queue = dict(queue)
            for reason in sorted({one for one in queue.values() if lasts(one)} - self.warned):
                self.warned.add(reason)
                number = sum(one == reason for one in queue.values())
                self._say(f"warning: {number} in the queue will not start by waiting: {in_words(reason)} ({reason})")

    def end(self, outcome: state.Outcome) -> None:
        """The run is over: show the final state and give the terminal back."""
        if self.run is None or self.over.is_set():
            return
        self.over.set()
        assert self.lock
        with self.lock:
            self.run.end("stopped" if self.stopped else outcome)
            self._look()
            self._give_back_terminal()
        if self.printed:
            print("\n".join(self.printed), flush=True)

    def close(self) -> None:
        """Snakemake ends, possibly in the middle of a run."""
        self._release()
        self.end("failed")
        super().close()

    def _keep_showing(self) -> None:
        assert self.lock
        while not self.over.wait(INTERVAL):
            with self.lock:
                if not self.over.is_set():
                    self._look()

    def _look(self) -> None:
        """Show the progress of the run, and write it for `make status`."""
        assert self.run
        with suppress(OSError):  # the terminal is gone
            if self.display:
                self.display.show(self.run)
        if self.run.ended or time.monotonic() - self.written >= KEPT:
            self.written = time.monotonic()
            with suppress(OSError):  # the disk is full, which the next job reports
                state.write(self.run)

    def _take_terminal(self, log: str) -> None:
        """Redirect the output of jobs to Snakemake's log: on the terminal, it would break the drawn lines."""
        assert self.stream
        self.descriptors = [os.dup(1), os.dup(2)]
        terminal = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="replace")
        file = os.open(log, os.O_WRONLY | os.O_APPEND)
        for descriptor in (1, 2):
            os.dup2(file, descriptor)
        os.close(file)
        self.stream.setStream(terminal)
        self.display = Display(terminal)

    def _give_back_terminal(self) -> None:
        for descriptor, kept in zip((1, 2), self.descriptors, strict=False):
            os.dup2(kept, descriptor)
            os.close(kept)
        self.descriptors, self.display = [], None
