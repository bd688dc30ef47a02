"""How a job of Slurm runs its command: without a job step of its own, and with Slurm's warning of the time limit.

The plugin lets each job start a second Snakemake by srun, which needs Slurm's controller: while that is away, the job
fails. A job of one task gains nothing by a step, so its command is run by the job's script. Slurm's warning goes to the
process that the script becomes, which is Snakemake (`--signal=B:`), and which passes it on.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

WARNING = signal.SIGURG  # ignored by each process that does not ask for it
STEP = " --executor slurm-jobstep --jobs 1"  # by which the plugin lets a job start a step
SCRIPTS = (' --wrap="', "#!/bin/sh\n")  # what is before the command of a job's script
ARRAY = " --array="  # whose tasks need the plugin to find their commands, and start no step either


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
