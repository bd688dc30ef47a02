"""Slurm's commands: their output, or why they failed."""

from __future__ import annotations

import subprocess

from ranktrial.common.errors import UserError


def ask(*command: str) -> str:
    """The output of a Slurm command. Raises UserError with its last line if it fails."""
    try:
        # In a session of its own, which a second Ctrl-C does not reach while jobs are cancelled after the first.
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, start_new_session=True)
    except FileNotFoundError:
        needed = "--profile slurm, and nodes of a recipe, need Slurm's"
        raise UserError(f"{command[0]}: no such command on this machine; {needed}") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise UserError(f"{command[0]}: {lines[-1].removeprefix(f'{command[0]}: ')}")
    return done.stdout
