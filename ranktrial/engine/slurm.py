"""What Snakemake's Slurm plugin lacks: knowing the jobs of an earlier run, GPUs per node, and the limits of a site.

The plugin names the jobs of a run by a random id and forgets it, so that a restarted Snakemake would submit a job that
is still running, and the two would delete each other's files. Here the experiment and its folder become part of the
name, by which a later run recognises the jobs and ends them. A training that is ended continues from its checkpoint.
And the plugin requests the total number of GPUs of a job, of which Slurm may give three to one node and one to the
other. How jobs are submitted and what becomes of them is in slurm_submission.py and slurm_states.py.

Version 2.8 of the plugin has no public interface for any of this:

- `--slurm-jobname-prefix` is an option of the command line or of a profile, without the experiment's name; two of them
  may run in one folder at the same time. A Snakefile cannot set it: the workflow gets the plugin's settings after it is
  read, and the plugin uses them before `onstart`. Snakemake's own marks of unfinished files do not identify the jobs
  of an earlier run: they lose a job's number when the job starts.
- The resource `gres` is per node, but refuses a hyphen in a model as `gpu_model` does, and takes model and number as
  one word: the profile has the model, the recipe the number, and neither sees the other's. So has `slurm_extra`.

So this module takes the executor from the scheduler and sets `run_uuid`, which the plugin makes in its constructor and
uses in each submission, and it wraps, in the plugin's module, `set_gres_string`, which writes the GPUs that a
submission requests. A version without what is used here is refused at the start of a run, and
tests/engine/test_snakemake_inside.py fails with a version that uses them differently.

What a site allows is compared with what a run will ask for, before its first job. Slurm accepts a job whose time limit
is above its partition's and never starts it, so this is a warning at the start. A limit on the number of submitted jobs
that sacctmgr states becomes the run's own.
"""

from __future__ import annotations

import getpass
import hashlib
import importlib.metadata
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.processes import ask
from ranktrial.engine.slurm_states import LONGEST, watch
from ranktrial.engine.slurm_submission import add_options, end_jobs, guard, queued

LIMIT = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")  # days-hours:minutes:seconds
REPLACED = {"--set-resources": "memory, time limits and GPUs of all rules", "--default-resources": "partition, account "
            "and memory of rules without an entry"}  # fmt: skip
PLUGIN = "slurm"
USED = (  # of the plugin's executor
    "run_uuid", "run_job", "run_array_jobs", "check_active_jobs", "cancel_jobs", "get_account_arg", "slurm_logdir",
    "array_jobs", "sleep", "wait", "_report_job_error_threadsafe", "_job_submission_executor", "_main_event_loop",
)  # fmt: skip
RESUMES = "fine_tune"  # the rule that gets a signal before its time limit
ASKS = "set_gres_string"  # of its module: the options of a submission that request GPUs
HYPHENS = re.compile(r"[\w.]+(-[\w.]+)+", re.ASCII)  # models of GPUs with hyphens in their names


def minutes(limit: str) -> float | None:
    """A time limit of sinfo in minutes; None if there is none."""
    found = LIMIT.fullmatch(limit)
    if found is None:
        return None
    days, hours, of_hour, seconds = (int(part or 0) for part in found.groups())
    return (24 * days + hours) * 60 + of_hour + seconds / 60


def limits_of_partitions(answer: str) -> dict[str, float]:
    """The time limit of each partition that has one, in minutes; `answer` has a name and a limit per line."""
    rows = (line.strip().split("|") for line in answer.splitlines())
    found = {row[0].removesuffix("*"): minutes(row[1]) for row in rows if len(row) == 2}
    return {name: limit for name, limit in found.items() if limit is not None}


def too_long(asked: Iterable[tuple[Any, ...]], limits: Mapping[str, float]) -> list[str]:
    """A warning per partition of which jobs, each with rule, partition and minutes, ask for more time than it has."""
    worst: dict[str, tuple[int, str]] = {}
    for rule, partition, wanted in asked:
        names = str(partition).split(",")  # Slurm takes the one that allows it
        if isinstance(wanted, int) and all(wanted > limits.get(name, wanted) for name in names):
            worst[partition] = max(worst.get(partition, (0, "")), (wanted, rule))
    return [
        f"{rule} asks for up to {wanted} minutes on partition {partition}, whose limit is "
        f"{limits[partition.split(',')[0]]:g} (sinfo): its jobs may never start; lower `longest` or `longest_gpu` in "
        "profiles/slurm/config.yaml"
        for partition, (wanted, rule) in worst.items()
    ]


def asked_for(workflow: Any, *names: str) -> set[tuple[Any, ...]]:
    """The rule of each job that goes to Slurm, and resources of its last attempt; "" where it has none."""
    found = set()
    for job in workflow.dag.needrun_jobs():
        if not job.is_local:
            known = {"input": job.input, "attempt": job.restart_times + 1, "threads": 1, "rulename": job.rule.name}
            known["async_run"] = workflow.async_run
            of_rule = (job.rule.resources.get(name) for name in names)
            values = (one and one.evaluate(job.wildcards, **known).value for one in of_rule)
            found.add((job.rule.name, *("" if value is None else value for value in values)))
    return found


def replaced(words: Sequence[str]) -> list[str]:
    """A warning for each option of the command line that replaces entries of the profile."""
    given = {word.partition("=")[0] for word in words}
    return [
        f"{option} on the command line replaces the profile's entry: {lost} are lost; edit the profile instead"
        for option, lost in REPLACED.items()
        if option in given
    ]


def rows(*words: str) -> list[list[str]]:
    """What sacctmgr lists; nothing without accounting."""
    with suppress(UserError):
        return [line.split("|") for line in ask("sacctmgr", "-nP", "show", *words).splitlines()]
    return []


def most_jobs(account: str, qos: str) -> tuple[int, str] | None:
    """The lowest limit on the user's submitted jobs, and whose it is; None without one. "" is the site's default."""
    user = getpass.getuser()
    if not account:
        account = next((row[0] for row in rows("user", user, "format=DefaultAccount")), "")
    words = ("assoc", f"user={user}", f"account={account}", "format=DefaultQOS,MaxSubmitJobs,GrpSubmitJobs")
    own = rows(*words)
    qos = qos or next((row[0] for row in own if row[0]), "normal")
    by_qos = rows("qos", qos, "format=Name,MaxSubmitJobsPerUser,GrpSubmitJobs")
    found = [(int(cell), f"account {account}") for row in own for cell in row[1:] if cell.isdecimal()]
    found += [(int(cell), f"QOS {qos}") for row in by_qos for cell in row[1:] if cell.isdecimal()]
    return min(found, default=None)


def follow_limit(workflow: Any) -> str | None:
    """Let a run have no more jobs in the queue than the site allows its user; the line that says so."""
    of_jobs = {(str(account), str(qos)) for _, account, qos in asked_for(workflow, "slurm_account", "qos")}
    limits = [most_jobs(*one) for one in sorted(of_jobs)]
    limit = max((one for one in limits if one), default=None) if all(limits) else None  # others go to those without one
    scheduler = workflow.scheduler
    if limit is None or limit[0] < 1 or limit[0] >= scheduler.global_resources["_nodes"]:
        return None
    scheduler.global_resources["_nodes"] = scheduler.resources["_nodes"] = limit[0]
    return f"at most {limit[0]} jobs in the queue at a time: the limit of {limit[1]}"


def prefix(results: Path | str) -> str:
    """The prefix of the names of all jobs of the experiment with this results folder."""
    path = Path(results).resolve()
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '-', path.name)[:40]}_{digest}_"


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


def begin_run(workflow, results: str, tell: Callable[[Mapping[str, str]], None]) -> None:
    """Name the jobs of a run on Slurm after the experiment and end those of earlier runs, before the first job.

    `tell` gets, for each of Snakemake's jobs in the queue, why it waits. Ends the run with one line if Slurm does not
    answer.
    """
    if workflow.executor_plugin.name != PLUGIN:
        return
    try:
        refuse_spaces(sys.executable)
        executor = executor_of(workflow)
        executor.run_uuid = prefix(results) + executor.run_uuid
        ask_for_gpus_of_each_node(executor)
        add_options(executor, ASKS)
        executor.array_jobs = arrays(executor.array_jobs, [rule.name for rule in workflow.rules])
        submissions = guard(executor, sys.modules[type(executor).__module__])
        watch(executor, submissions, tell)
        refuse_jobs_of_others(prefix(results))
        end_earlier_jobs(prefix(results))
        for line in (*warnings(workflow), follow_limit(workflow)):
            if line:
                print(line, file=sys.stderr, flush=True)
    except UserError as error:
        sys.exit(f"error: {error}")


def warnings(workflow) -> list[str]:
    """What of the site and the command line will not go as the profile expects. Raises UserError without Slurm."""
    limits = limits_of_partitions(ask("sinfo", "--noheader", "--format=%P|%l"))
    asked = sorted(asked_for(workflow, "slurm_partition", "runtime"), key=str)
    found = [short_memory(ask("scontrol", "show", "config")), *too_long(asked, limits)]
    return [f"warning: {warning}" for warning in (*replaced(sys.argv), *found) if warning]


def arrays(chosen: Set[str], rules: Iterable[str]) -> set[str]:
    """The rules that are submitted as arrays, of those chosen (`all`: every rule).

    No training is: the shell that starts a task of an array does not pass Slurm's warning of the limit on.
    """
    return (set(rules) if "all" in chosen else set(chosen)) - {RESUMES}


def refuse_spaces(python: str) -> None:
    """Raises UserError if the plugin, which does not quote the path of Python in its jobs, could start none."""
    if len(python.split()) > 1:
        raise UserError(f"{python}: a path with a space, from which Slurm jobs cannot start; move this folder")


def short_memory(config: str) -> str | None:
    """A warning if Slurm, with this configuration, may forget a job that ended before it is asked again."""
    found = re.search(r"^MinJobAge\s*=\s*(\d+)", config, re.MULTILINE)
    if found is None or int(found[1]) >= LONGEST:
        return None
    return (
        f"Slurm forgets ended jobs after {found[1]} s (MinJobAge), and may be asked only every {LONGEST} s: the end of "
        "some jobs is noticed minutes later"
    )


def refuse_jobs_of_others(name: str) -> None:
    """Raises UserError if jobs whose name begins with `name` are another user's, who alone can end them."""
    rows = [line.split() for line in ask("squeue", "--noheader", "--format=%F %u %U %j").splitlines()]
    others = [row for row in rows if len(row) == 4 and row[2] != str(os.getuid())]
    found = [(job, user) for job, user, _, of in others if of.startswith(name)]
    if found:
        jobs, users = (sorted(set(column)) for column in zip(*found, strict=True))
        raise UserError(
            f"jobs of {' and '.join(users)} on these results are in the queue: {' '.join(jobs)}; only their owner can "
            "cancel them"
        )


def end_earlier_jobs(name: str) -> None:
    """Cancel the user's jobs whose name begins with `name`, and wait until they have ended. Raises UserError."""
    if jobs := queued(name):
        many = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
        print(f"ending {many} that an earlier run left in the queue: {' '.join(jobs)}", file=sys.stderr, flush=True)
    end_jobs(lambda: queued(name))
