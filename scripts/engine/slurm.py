"""What Snakemake's Slurm plugin does not do: know an earlier run's jobs, wait for a silent Slurm, share out GPUs.

The plugin names the jobs of a run by a random id and forgets it, so a Snakemake that is started again would
submit a job whose twin still runs, and the two would take each other's files away. Here the experiment and its folder
become part of the name, by which a later run knows them and ends them. A training that is ended goes on from its
checkpoint. Also, where Slurm does not answer for a while the plugin loses sight of all jobs and waits for ever. And it
asks for the GPUs of a job in all, of which Slurm may give one node three and the other one.

None of this has a public way in version 2.8 of the plugin:

- `--slurm-jobname-prefix` is a word of the command line or of a profile, which do not know the experiment; two of them
  may run in one folder at the same time. A Snakefile cannot set it: the workflow gets the plugin's settings after it is
  read, and the plugin has used them before `onstart`. Snakemake's own marks of unfinished files are no way to the jobs
  of an earlier run: they lose a job's number when the job starts.
- The resource `gres` asks by node, but refuses a hyphen in a model as `gpu_model` does, and takes model and number as
  one word: the profile has the model, the recipe the number, and neither sees the other's. So with `slurm_extra`.
- After five questions that Slurm did not answer, nothing asks again.

So this module takes the executor from the scheduler and sets `run_uuid`, which the plugin makes in its constructor and
gives to each submission and query, and it wraps `check_active_jobs` and, of the plugin's module, `set_gres_string`,
which says what GPUs a submission asks for. A version in which one of these is gone is refused at the start of a run,
and tests/engine/test_snakemake_inside.py fails with one that uses them in another way.
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

PLUGIN = "slurm"
USED = ("run_uuid", "check_active_jobs", "_status_query_calls")  # of the plugin's executor
ASKS = "set_gres_string"  # of its module: the words of a submission that ask for GPUs
HYPHENS = re.compile(r"[\w.]+(-[\w.]+)+", re.ASCII)  # models of GPUs whose names have some
GONE_AFTER = 300.0  # seconds in which Slurm ends cancelled jobs at most (its KillWait is 30 by default)


def prefix(results: Path | str) -> str:
    """What the names of all jobs of the experiment with this results folder begin with."""
    path = Path(results).resolve()
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '-', path.name)[:40]}_{digest}_"


def queued(name: str) -> list[str]:
    """The ids of the user's jobs that wait, run or end, and whose name begins with `name`."""
    rows = [line.split(None, 1) for line in ask("squeue", "--me", "--noheader", "--format=%A %j").splitlines()]
    return sorted({job for job, job_name in rows if job_name.startswith(name)}, key=int)


def keep_jobs_in_sight(executor) -> None:
    """Let the plugin look again at the jobs of which Slurm has told it nothing, as while its controller restarts."""
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
    """Let the plugin ask for the GPUs of a job with several nodes by node; `gpu` is then the number of each.

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
    """The resources of a job, which the plugin asks for as keys and as attributes."""

    __getattr__ = dict.__getitem__


def executor_of(workflow):
    """The Slurm plugin's executor of a workflow that runs. Raises UserError for a version that is built otherwise."""
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
    """Before the first job of a run on Slurm: name the run's jobs after the experiment and end those of earlier runs.

    Ends the run with one line where Slurm does not answer.
    """
    if workflow.executor_plugin.name != PLUGIN:
        return
    try:
        executor = executor_of(workflow)
        executor.run_uuid = prefix(results) + executor.run_uuid
        keep_jobs_in_sight(executor)
        ask_for_gpus_of_each_node(executor)
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
