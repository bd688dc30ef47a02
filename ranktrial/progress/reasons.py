"""Why a job waits in Slurm's queue, in words; pure functions."""

from __future__ import annotations

import re

WORDS = {
    "": "no reason given yet",
    "None": "no reason given yet",
    "Priority": "others are before it",
    "Resources": "for free resources",
    "Dependency": "for another job",
    "BeginTime": "put back into the queue for some minutes",
    "Licenses": "for a licence",
    "Cleaning": "its nodes are cleaned after a failure",
    "Reservation": "for its reservation",
    "PartitionTimeLimit": "time limit above that of the partition",
    "PartitionNodeLimit": "more nodes than the partition allows",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is inactive",
    "BadConstraints": "no node is as requested",
    "JobHeldAdmin": "held by an administrator",
    "JobHeldUser": "held by the user",
    "JobLaunchFailure": "could not be started",
    "launch failed requeued held": "could not be started, held",
    "ReqNodeNotAvail": "nodes are down, drained or reserved",
    "InvalidAccount": "the account is invalid",
    "InvalidQOS": "the QOS is invalid",
}
LASTING = re.compile(  # reasons that another job's end does not change
    r"PartitionTimeLimit|PartitionNodeLimit|BadConstraints|JobHeld|JobLaunchFailure|launch failed|Invalid"
    r"|(?:Assoc|QOS)Max\w*(?:PerJob|PerNode|WallDuration|MinutesPerJob)"
)


def in_words(reason: str) -> str:
    """Slurm's reason in words; one that is a limit, or not known, in Slurm's own."""
    name = reason.strip("()").partition(",")[0]
    if name.startswith(("QOS", "Assoc")):
        return f"limit of the {'QOS' if name.startswith('QOS') else 'account or user'}: {name}"
    return WORDS.get(name, name)


def lasts(reason: str) -> bool:
    """Whether a job with this reason waits until somebody changes something."""
    return bool(LASTING.search(reason))
