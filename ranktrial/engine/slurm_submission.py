"""Submissions to Slurm: exactly one job for each, or a reason why there is none.

Version 2.8 of the plugin takes the only integer in what sbatch prints for the job's id, and a submission that failed
for a failed job, which it submits again at once. But sites print lines of their own, with numbers in them; sbatch may
report a timeout although the controller has accepted the job; and limits on the number of jobs, or a controller that is
away, pass. So each call of sbatch is made here, one at a time:

- the id is the line of `--parsable`'s form, and no other;
- if there is none, all jobs of this run's name that are not known are cancelled before anything else is submitted;
- refusals that pass are waited for, until a job of the run ends or a pause is over, which grows; any other ends the
  job at once, without another attempt, and is written to `refused.log` beside Slurm's logs, of which the terminal and
  the last lines of the run show errors.

A job runs its command without a job step of its own, and with Slurm's warning of the time limit. The plugin lets each
job start a second Snakemake by srun, which needs Slurm's controller: while that is away, the job fails. A job of one
task gains nothing by a step, so its command is run by the job's script. Slurm's warning goes to the process that the
script becomes, which is Snakemake (`--signal=B:`), and which passes it on.

Jobs may request GPUs as generic resources, and a node of their own. The plugin's resource for further options of
sbatch, `slurm_extra`, is one text, which the site's profile sets: a rule that needs an option of its own would replace
it. Such rules state a resource instead, and the option is added here.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.processes import ask, passes, pauses

WARNING = signal.SIGURG  # ignored by each process that does not ask for it
STEP = " --executor slurm-jobstep --jobs 1"  # by which the plugin lets a job start a step
SCRIPTS = (' --wrap="', "#!/bin/sh\n")  # what is before the command of a job's script
ARRAY = " --array="  # whose tasks need the plugin to find their commands, and start no step either
PARSABLE = re.compile(r"\d+(;\S+)?", re.ASCII)  # how sbatch --parsable prints a job's id and perhaps its cluster
FIRST, LONGEST = 30.0, 600.0  # seconds between two tries of a refused submission, doubled each time
AGAIN = 5.0  # seconds until Slurm is asked again which jobs there are
GONE_AFTER = 300.0  # seconds within which Slurm ends cancelled jobs (its KillWait is 30 by default)
ASKED = ("-A", "-p", "-C", "-t", "--qos", "--mem", "--gpus", "--gpus-per-node", "--gres", "--nodes", "--reservation")
GPUS = re.compile(r"--gpus(?:-per-node)?=(\S+)")
BY, GRES = "gpus_by", "gres"  # the resource that states how GPUs are requested, and its value for --gres
OWN_NODE = "own_node"  # the resource of a job that no other may share a node with
UNSHARED = "--exclusive"


def without_step(call: str, text: str | None) -> tuple[str, str | None]:
    """A call of sbatch and its input, with a command that is run by the job's script and takes its place."""
    if ARRAY in call.partition(SCRIPTS[0])[0]:
        return call, text
    return _direct(call), text and _direct(text)


def _direct(text: str) -> str:
    for start in SCRIPTS:
        text = text.replace(start, f"{start}exec ", 1)
    return text.replace(STEP, "", 1)


def pass_on_warnings() -> None:
    """Let this process pass Slurm's warning on to the other processes of its job's script."""
    signal.signal(WARNING, _pass_on)


def _pass_on(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    os.killpg(os.getpgrp(), number)
    signal.signal(number, _pass_on)


def job_line(printed: str) -> str | None:
    """The line of sbatch's output with the job's id; the last one of that form, or None."""
    lines = [line.strip() for line in printed.splitlines() if PARSABLE.fullmatch(line.strip())]
    return lines[-1] if lines else None


def reason_of(returned: int, printed: str, errors: str) -> str:
    """Why there is no job, in sbatch's own words on one line."""
    lines = [line.strip().removeprefix("sbatch: ").removeprefix("error: ") for line in errors.splitlines()]
    said = "; ".join(dict.fromkeys(line.removeprefix("Batch job submission failed: ") for line in lines if line))
    if returned:
        return said or f"exit code {returned} without a reason"
    return f"no job id in what it printed: {' '.join(printed.split())[:200] or 'nothing'}"


def request(call: str) -> str:
    """The options of a submission on which a refusal may depend."""
    words = shlex.split(call.partition(" --wrap=")[0])
    said = [word for word in words if word.split("=")[0] in ASKED and "=" in word]
    said += [f"{word} {after}" for word, after in pairwise(words) if word in ASKED]
    return " ".join(sorted(said, key=lambda one: call.find(one)))


def queued(name: str, *, whole: bool = False) -> list[str]:
    """The ids of the user's jobs that are pending, running or completing and whose name begins with `name`.

    If `whole`, they have exactly this name. A line of another form than an id and a name is none of them.
    """
    rows = [line.strip().partition(" ") for line in ask("squeue", "--me", "--noheader", "--format=%F %j").splitlines()]
    named = {job for job, _, of in rows if job.isdecimal() and (of == name if whole else of.startswith(name))}
    return sorted(named, key=int)


def end_jobs(find: Callable[[], list[str]]) -> None:
    """Cancel jobs and wait until none is found. Raises UserError if Slurm does not answer, or they do not end."""
    if found := find():
        ask("scancel", *found)
    deadline = time.monotonic() + GONE_AFTER
    while left := find():
        if time.monotonic() > deadline:
            raise UserError(f"jobs of an earlier run do not end: {' '.join(left)}; try again later")
        time.sleep(1)


class Submissions:
    """The submissions of one run through the plugin's executor, in its two threads."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor
        self.known: dict[str, float] = {}  # id of each job that Snakemake knows -> when it was submitted
        self.stopped, self.told = threading.Event(), False
        self.turn = threading.Condition()  # of refused submissions, to be tried again
        self.lock = threading.Lock()  # from a call of sbatch until its id is known
        self.refused: dict[int, str] = {}  # thread -> why its submission was refused

    def submit(self, call: str, text: str | None) -> tuple[int, str, str]:
        """The exit code, the line with the id and the errors of a submission that was accepted or finally refused."""
        for pause in pauses(FIRST, LONGEST):
            with self.lock:
                if not self._end_unknown():
                    break
                done = subprocess.run(
                    call, shell=True, text=True, input=text or "", capture_output=True, start_new_session=True
                )
                if (line := job_line(done.stdout)) and not done.returncode:
                    self.known[line.split(";")[0]] = time.monotonic()
                    return 0, line, ""
                if not self._end_unknown():
                    break
            reason = reason_of(done.returncode, done.stdout, done.stderr)
            if not done.returncode or not passes(done.stderr):
                self.refused[threading.get_ident()] = f"sbatch: {reason} ({request(call)})"
                return done.returncode or 1, "", reason
            self._tell(reason)
            with self.turn:
                if not self.stopped.is_set():
                    self.turn.wait(pause)
        return 1, "", "the run ends"

    def wake(self) -> None:
        """Try refused submissions again: a job has ended, so Slurm answers and has room for another."""
        with self.turn:
            self.turn.notify_all()

    def end(self) -> None:
        """Submit nothing more, and cancel all jobs of the run."""
        self.executor.logger.warning("the Slurm jobs of this run are cancelled; this takes 15 seconds at most")
        self.stopped.set()
        self.wake()
        self.executor._job_submission_executor.shutdown(wait=True, cancel_futures=True)
        try:
            if jobs := queued(self.executor.run_uuid, whole=True):
                ask("scancel", *jobs)
        except UserError as error:
            self.executor.logger.warning(f"warning: jobs stay in the queue, and the next run ends them: {error}")

    def report(self, info: Any, msg: str) -> None:
        """Report a job that could not be submitted: it gets no further attempt, and its reason a log."""
        if self.stopped.is_set():
            return
        reason = self.refused.pop(threading.get_ident(), " ".join(msg.split()))
        job = info.job
        job.attempt = job.restart_times + 1
        folder = Path(self.executor.slurm_logdir) / f"rule_{job.name}" / "_".join(job.wildcards or ()).replace("/", "_")
        with suppress(OSError):  # the disk is full, which the next job reports
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "refused.log").write_text(f"error: {reason}\n", encoding="utf-8")
        told = partial(self.executor.report_job_error, info, msg=msg, aux_logs=[str(folder / "refused.log")])
        if (loop := self.executor._main_event_loop) is not None:
            loop.call_soon_threadsafe(told)
        else:
            told()

    def _unknown(self) -> list[str]:
        return [job for job in queued(self.executor.run_uuid, whole=True) if job not in self.known]

    def _end_unknown(self) -> bool:
        """Cancel jobs that a submission without an id has left, however long Slurm is away; False if the run ends."""
        while not self.stopped.is_set():
            try:
                end_jobs(self._unknown)
                return True
            except UserError as error:
                self._tell(str(error))
                self.stopped.wait(AGAIN)
        return False

    def _tell(self, reason: str) -> None:
        if not self.told:
            self.told = True
            self.executor.logger.warning(
                f"warning: Slurm takes no more jobs for now ({reason}); they wait and are submitted again later, with "
                f"pauses of {FIRST:.0f} s to {LONGEST / 60:.0f} min"
            )


class _Sbatch:
    """What the plugin reads of a call of sbatch, as of a `subprocess.Popen`."""

    def __init__(self, submissions: Submissions, call: str, **options: Any) -> None:
        self.submissions, self.call, self.returncode = submissions, call, 1

    def communicate(self, input: str | None = None) -> tuple[str, str]:
        self.returncode, out, err = self.submissions.submit(*without_step(self.call, input))
        return out, err


class _Subprocess:
    """The module `subprocess` for the plugin's module, whose only Popen is a submission."""

    def __init__(self, submissions: Submissions) -> None:
        self.Popen = partial(_Sbatch, submissions)

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)


def guard(executor: Any, plugin: Any) -> Submissions:
    """Let the submissions of the plugin's executor be made here, and its end cancel whatever has this run's name."""
    submissions = Submissions(executor)
    plugin.subprocess = _Subprocess(submissions)
    executor._report_job_error_threadsafe = submissions.report
    executor.cancel_jobs = lambda active: submissions.end()
    executor.get_account_arg = _account
    return submissions


def _account(job: Any) -> Iterator[str]:
    """The account of a job, as the profile has it; whether it is valid, sbatch says."""
    account = str(job.resources.get("slurm_account") or "")
    yield f" -A {shlex.quote(account)}" if account else ""


def options(words: str, resources: Any) -> str:
    """The options of a submission that request GPUs, as the site wants them, and a node if the job needs it alone."""
    if resources.get(BY) == GRES:
        words = GPUS.sub(r"--gres=gpu:\1", words)  # per node, as both of the others are for one node
    return f"{words} {UNSHARED}" if resources.get(OWN_NODE) else words


def add_options(executor: Any, name: str) -> None:
    """Let the plugin add these options to each submission; `name` is its function for the options of GPUs."""
    plugin = sys.modules[type(executor).__module__]
    before = getattr(plugin, name)
    setattr(plugin, name, lambda job: options(before(job), job.resources))
