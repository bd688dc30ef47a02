"""What becomes of the jobs in Slurm's queue: each ends as what it was, and each that waits says why.

Version 2.8 of the plugin waits for ever for a job that squeue no longer lists, which happens when Slurm forgets ended
jobs sooner than it is asked, when this process or its network was suspended, and when jobs were preempted by
cancelling. So Slurm is asked here, once for all jobs of the run. A job that two answers lack is looked up (scontrol,
then sacct); where neither knows it, it succeeded if all its outputs are there and are others than at its submission:
jobs write each output whole, under its name only when it is finished.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.processes import ask
from ranktrial.engine.slurm_submission import Submissions

ENDED_BADLY = (
    "BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "ERROR", "REVOKED",
)  # fmt: skip
REQUEUED = ("NODE_FAIL", "PREEMPTED")  # states that Slurm replaces by PENDING if it puts the job back into the queue
LONGEST = 180  # seconds between two queries at most; the pause grows by its first length while no job ends
SETTLED = 60.0  # seconds within which a job appears in the queue, or goes back into it
SURE = 2  # answers that lack a job before it is looked up
UNANSWERED = "squeue does not answer; it is asked again later"
SLICE = 1.0  # seconds between two looks whether the run ends


@dataclass(frozen=True)
class Listed:
    """What squeue says of a job."""

    state: str
    reason: str


def listed(answer: str) -> dict[str, Listed]:
    """Each job that squeue lists, by its id or that of its array and its number; other lines are none."""
    found = {}
    for line in answer.splitlines():
        fields = line.strip().split("|")
        if len(fields) == 3 and fields[0][:1].isdigit():
            found[fields[0]] = Listed(fields[1].split(" ")[0], fields[2])
    return found


def stamps(outputs: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """What tells a file or folder from one that replaces it; None where there is none."""
    found: dict[str, tuple[int, int] | None] = {}
    for output in map(str, outputs):
        found[output] = None
        with suppress(OSError):
            stat = os.stat(output)
            found[output] = (stat.st_ino, stat.st_mtime_ns)
    return found


class States:
    """The states of a run's jobs; `tell` gets, for each of Snakemake's jobs in the queue, why it waits, or ""."""

    def __init__(self, executor: Any, submissions: Submissions, tell: Callable[[Mapping[str, str]], None]) -> None:
        self.executor, self.submissions, self.tell = executor, submissions, tell
        self.before: dict[int, dict[str, tuple[int, int] | None]] = {}  # Snakemake's number -> outputs at submission
        self.lacking: dict[str, int] = {}  # id -> answers in a row that lack the job
        self.requeued: dict[str, float] = {}  # id -> since when it is in a state of REQUEUED
        self.first: float = executor.workflow.executor_settings.init_seconds_before_status_checks
        self.pause = self.first

    def remember(self, jobs: Iterable[Any]) -> None:
        """Remember the outputs of jobs as they are before their submission."""
        self.before |= {job.jobid: stamps(job.output) for job in jobs}

    async def check(self, active: list[Any]) -> AsyncIterator[Any]:
        """Report the jobs that ended; yields those that did not."""
        answer = await asyncio.to_thread(self._ask) if active else {}
        if answer is None:
            self.executor.logger.info(UNANSWERED)
            self.pause = min(self.pause + self.first, LONGEST)
            for info in active:
                yield info
            return
        found = {str(info.job.jobid): answer.get(info.external_jobid) for info in active}
        self.tell({job: one.reason if one.state == "PENDING" else "" for job, one in found.items() if one})
        ended = False
        for info in active:
            state = self._state(info, answer.get(info.external_jobid))
            if state == "COMPLETED":
                self.executor.report_job_success(info)
                if not self.executor.workflow.executor_settings.keep_successful_logs:
                    with suppress(OSError):
                        info.aux["slurm_logfile"].unlink(missing_ok=True)
            elif state:
                message = f"SLURM-job '{info.external_jobid}' failed, SLURM status is: '{state}'. "
                self.executor.report_job_error(info, msg=message, aux_logs=[str(info.aux["slurm_logfile"])])
            else:
                yield info
            ended = ended or bool(state)
        if ended:
            self.submissions.wake()
        self.pause = self.first if ended or not active else min(self.pause + self.first, LONGEST)

    async def sleep(self) -> None:
        """Wait until the next query, or the end of the run."""
        until = time.monotonic() + self.pause
        while self.executor.wait and time.monotonic() < until:
            await asyncio.sleep(SLICE)

    def _ask(self) -> dict[str, Listed] | None:
        """What squeue says of the run's jobs; None without an answer."""
        words = ("squeue", "--noheader", "--states=all", "--format=%i|%T|%r", "--name", self.executor.run_uuid)
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
            return listed(done.stdout) if done.returncode == 0 else None
        return None

    def _state(self, info: Any, found: Listed | None) -> str | None:
        """How a job ended; None if it did not."""
        job = info.external_jobid
        if found is None:
            found = self._looked_up(info)
        else:
            self.lacking.pop(job, None)
        if found and found.state in REQUEUED:
            since = self.requeued.setdefault(job, time.monotonic())
            return found.state if time.monotonic() - since > SETTLED else None
        self.requeued.pop(job, None)
        return found.state if found and found.state in ("COMPLETED", *ENDED_BADLY) else None

    def _looked_up(self, info: Any) -> Listed | None:
        """How a job ended that squeue does not list; None while it may still appear."""
        job = info.external_jobid
        self.lacking[job] = self.lacking.get(job, 0) + 1
        since = self.submissions.known.get(job.split("_")[0], 0.0)
        if self.lacking[job] < SURE or time.monotonic() - since < SETTLED:
            return None
        with suppress(UserError):
            fields = dict(word.partition("=")[::2] for word in ask("scontrol", "-o", "show", "job", job).split())
            return Listed(fields.get("JobState", ""), "")
        with suppress(UserError):
            words = ask("sacct", "-X", "-n", "-P", "-o", "State", "-j", job).split()
            if words and words[0] in ("COMPLETED", *REQUEUED, *ENDED_BADLY):
                return Listed(words[0], "")
        now, before = stamps(info.job.output), self.before[info.job.jobid]
        whole = all(stamp and stamp != before[output] for output, stamp in now.items())
        return Listed("COMPLETED" if whole else "FAILED", "")


def watch(executor: Any, submissions: Submissions, tell: Callable[[Mapping[str, str]], None]) -> None:
    """Let the plugin's executor learn from here what became of its jobs."""
    states = States(executor, submissions, tell)
    run_job, run_array_jobs = executor.run_job, executor.run_array_jobs

    def run_one(job: Any) -> None:
        states.remember([job])
        run_job(job)

    def run_several(jobs: list[Any]) -> None:
        states.remember(jobs)
        run_array_jobs(jobs)

    executor.run_job, executor.run_array_jobs = run_one, run_several
    executor.check_active_jobs, executor.sleep = states.check, states.sleep
