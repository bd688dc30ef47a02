"""What Snakemake's Slurm plugin lacks: knowing the jobs of an earlier run, waiting for Slurm, GPUs per node.

The plugin names the jobs of a run by a random id and forgets it, so that a restarted Snakemake would submit a job that
is still running, and the two would delete each other's files. Here the experiment and its folder become part of the
name, by which a later run recognises the jobs and ends them. A training that is ended continues from its checkpoint.
Also, if Slurm does not answer for a while, the plugin loses track of all jobs and waits for ever. And it requests the
total number of GPUs of a job, of which Slurm may give three to one node and one to the other.

Version 2.8 of the plugin has no public interface for any of this:

- `--slurm-jobname-prefix` is an option of the command line or of a profile, without the experiment's name; two of them
  may run in one folder at the same time. A Snakefile cannot set it: the workflow gets the plugin's settings after it is
  read, and the plugin uses them before `onstart`. Snakemake's own marks of unfinished files do not identify the jobs
  of an earlier run: they lose a job's number when the job starts.
- The resource `gres` is per node, but refuses a hyphen in a model as `gpu_model` does, and takes model and number as
  one word: the profile has the model, the recipe the number, and neither sees the other's. So has `slurm_extra`.
- After five unanswered queries, nothing queries Slurm again.

So this module takes the executor from the scheduler and sets `run_uuid`, which the plugin makes in its constructor and
uses in each submission and query, and it wraps `check_active_jobs` and, in the plugin's module, `set_gres_string`,
which writes the GPUs that a submission requests. A version without one of these is refused at the start of a run, and
tests/engine/test_snakemake_inside.py fails with a version that uses them differently.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

from scripts.common.errors import UserError
from scripts.common.slurm import ask
from scripts.engine.slurm_requests import add_options

PLUGIN = "slurm"
USED = ("run_uuid", "check_active_jobs", "_status_query_calls")  # of the plugin's executor
ASKS = "set_gres_string"  # of its module: the options of a submission that request GPUs
HYPHENS = re.compile(r"[\w.]+(-[\w.]+)+", re.ASCII)  # models of GPUs with hyphens in their names
GONE_AFTER = 300.0  # seconds within which Slurm ends cancelled jobs (its KillWait is 30 by default)


def prefix(results: Path | str) -> str:
    """The prefix of the names of all jobs of the experiment with this results folder."""
    path = Path(results).resolve()
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '-', path.name)[:40]}_{digest}_"


def queued(name: str) -> list[str]:
    """The ids of the user's jobs that are pending, running or completing and whose name begins with `name`."""
    rows = [line.split(None, 1) for line in ask("squeue", "--me", "--noheader", "--format=%A %j").splitlines()]
    return sorted({job for job, job_name in rows if job_name.startswith(name)}, key=int)


def keep_jobs_in_sight(executor) -> None:
    """Let the plugin query jobs again after Slurm did not answer, for example while its controller restarts."""
    look = executor.check_active_jobs

    async def look_again(jobs: list) -> AsyncIterator:
        answers = executor._status_query_calls  # the queries that Slurm answered
        async for job in look(jobs):
            yield job
        if executor._status_query_calls == answers:
            for job in jobs:
                yield job

    executor.check_active_jobs = look_again


def ask_for_gpus_of_each_node(executor) -> None:
    """Let the plugin request the GPUs of a job with several nodes per node; `gpu` is then the number per node.

    Models of GPUs may have a hyphen, as in a100-sxm4-80gb, which the plugin refuses.
    """
    plugin = sys.modules[type(executor).__module__]
    in_all = getattr(plugin, ASKS)

    def of_each(job) -> str:
        model = str(job.resources.get("gpu_model") or "")
        if HYPHENS.fullmatch(model):
            plain = model.replace("-", "_")
            job = SimpleNamespace(resources=_Resources([*job.resources.items(), ("gpu_model", plain)]))
            words = in_all(job).replace(f"--gpus={plain}:", f"--gpus={model}:")
        else:
            words = in_all(job)
        return words.replace("--gpus=", "--gpus-per-node=") if (job.resources.get("nodes") or 1) > 1 else words

    setattr(plugin, ASKS, of_each)


class _Resources(dict):
    """The resources of a job, which the plugin reads as keys and as attributes."""

    __getattr__ = dict.__getitem__


def executor_of(workflow):
    """The Slurm plugin's executor of a running workflow. Raises UserError for a version with another structure."""
    executor = getattr(workflow.scheduler, "_executor", None)
    lacking = [name for name in USED if not hasattr(executor, name)]
    if lacking := lacking or [name for name in (ASKS,) if not hasattr(sys.modules[type(executor).__module__], name)]:
        raise UserError(
            f"snakemake-executor-plugin-slurm {_version('snakemake-executor-plugin-slurm')} with Snakemake "
            f"{_version('snakemake')}: no {lacking[0]} in it; install the versions of requirements.lock"
        )
    return executor


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def begin_run(workflow, results: str) -> None:
    """Name the jobs of a run on Slurm after the experiment and end those of earlier runs, before the first job.

    Ends the run with one line if Slurm does not answer.
    """
    if workflow.executor_plugin.name != PLUGIN:
        return
    try:
        executor = executor_of(workflow)
        executor.run_uuid = prefix(results) + executor.run_uuid
        keep_jobs_in_sight(executor)
        ask_for_gpus_of_each_node(executor)
        add_options(executor, ASKS)
        end_earlier_jobs(prefix(results))
    except UserError as error:
        sys.exit(f"error: {error}")


def end_earlier_jobs(name: str) -> None:
    """Cancel the user's jobs whose name begins with `name`, and wait until they have ended. Raises UserError."""
    if jobs := queued(name):
        many = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
        print(f"ending {many} that an earlier run left in the queue: {' '.join(jobs)}", file=sys.stderr, flush=True)
        ask("scancel", *jobs)
    deadline = time.monotonic() + GONE_AFTER
    while left := queued(name):
        if time.monotonic() > deadline:
            raise UserError(f"jobs of an earlier run do not end: {' '.join(left)}; try again later")
        time.sleep(1)
