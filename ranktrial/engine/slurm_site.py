"""What a site allows, compared with what a run will ask for, before its first job.

Slurm accepts a job whose time limit is above its partition's and never starts it, so this is a warning at the start. A
limit on the number of submitted jobs that sacctmgr states becomes the run's own.
"""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.slurm import ask

LIMIT = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")  # days-hours:minutes:seconds
REPLACED = {"--set-resources": "memory, time limits and GPUs of all rules", "--default-resources": "partition, account "
            "and memory of rules without an entry"}  # fmt: skip


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
            values = ("" if one is None else one.evaluate(job.wildcards, **known).value for one in of_rule)
            found.add((job.rule.name, *values))
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
