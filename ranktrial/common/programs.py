"""Runs a program of the user's and measures it; says which packages its environment has.

What it prints is shown line by line behind a bar, so that no line of its is taken for one of the workflow, and without
the secrets of the environment. Memory is the sum of the peaks of its processes that run at the same time, looked at ten
times a second. It ends when this process ends.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.timing import Seconds, clock
from ranktrial.common.urls import HIDDEN, SECRET_NAMES

DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl.h
FIRST_LOOK, LOOK = 0.005, 0.1  # seconds between two looks at its memory
LAST_LINES = 5.0  # seconds for them to be read, where a process that it left behind keeps the pipe open
SHORTEST_SECRET = 8  # characters, as for archives: a shorter value would be found in ordinary text
LONGEST = 300  # characters of its last line in a message
OF_CONDA = "conda.cli.main_run"  # in the line that `conda run` adds to those of a program that failed
DISTRIBUTION = re.compile(r"(.+)-([^-]+)\.dist-info")
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")  # in the words of a program
Value = str | int | float | bool  # of a parameter
PROC = Path("/proc")
PEAK = re.compile(r"VmHWM:\s*(\d+) kB")
PRCTL = getattr(ctypes.CDLL(None), "prctl", None)  # of Linux alone


class Measured(NamedTuple):
    """What a program took from its start to its end."""

    seconds: Seconds
    peak_rss_bytes: int


def run_program(words: list[str], environment: Mapping[str, str], who: str) -> Measured:
    """Run a program until it ends. Raises UserError, which begins with `who`, if it cannot start or fails.

    The message has the last line that it wrote to standard error.
    """
    hide = _hider(environment)
    said = [""]
    start = clock()
    try:
        process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            encoding="utf-8", errors="replace", start_new_session=True, preexec_fn=_die_with_parent,
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"{who}: {words[0]} cannot be started: {error.strerror}") from None
    readers = [
        threading.Thread(target=_copy, args=(source, target, hide, kept), daemon=True)
        for source, target, kept in ((process.stdout, sys.stdout, []), (process.stderr, sys.stderr, said))
    ]
    for reader in readers:
        reader.start()
    try:
        peak = _wait(process)
    finally:
        with suppress(ProcessLookupError, PermissionError):  # with what it left behind
            os.killpg(process.pid, signal.SIGKILL)
    seconds = clock() - start
    for reader in readers:
        reader.join(LAST_LINES)
    if code := process.returncode:
        raise UserError(f"{who}: its program {_why(code)}: {said[-1][:LONGEST] or 'it wrote nothing to stderr'}")
    return Measured(seconds, peak or resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)


def _die_with_parent() -> None:
    if PRCTL:
        PRCTL(DIES_WITH_PARENT, signal.SIGKILL)


def _hider(environment: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces the values of variables that are named like secrets."""
    named = [value for name, value in environment.items() if SECRET_NAMES.search(name)]
    secrets = [value for value in named if len(value) >= SHORTEST_SECRET and not value.startswith("/")]

    def hide(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, HIDDEN)
        return text

    return hide


def _copy(source: IO[str], target: IO[str], hide: Callable[[str], str], kept: list[str]) -> None:
    """Show each line of the program, and keep the last one that says something."""
    for line in source:
        text = hide(line.rstrip("\n"))
        print(f"| {text}", file=target, flush=True)
        if text.strip() and OF_CONDA not in text:
            kept[:] = [text.strip()]


def _wait(process: subprocess.Popen[str]) -> int:
    """Wait for the end of a process; returns the peak memory of it and its descendants, 0 where /proc has none."""
    peak, pause = 0, FIRST_LOOK
    while True:
        peak = max(peak, _memory(str(process.pid)))
        try:
            process.wait(pause)
            return peak
        except subprocess.TimeoutExpired:
            pause = min(2 * pause, LOOK)


def _memory(process: str) -> int:
    """The sum of the peak resident memory of a process and of its living descendants, in bytes."""
    folder = PROC / process
    try:
        children = [child for task in folder.glob("task/*/children") for child in task.read_text().split()]
        peak = PEAK.search((folder / "status").read_text())
    except OSError:  # it has ended
        return 0
    return (int(peak[1]) * 1024 if peak else 0) + sum(map(_memory, children))


def _why(code: int) -> str:
    if code > 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name
    return f"was ended by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")


def is_among(file: str, code: Iterable[str]) -> bool:
    """Whether a file is one of the files and folders of code."""
    return any(file == place or file.startswith(f"{place}/") for place in code)


def packages_of(python: Path) -> dict[str, str]:
    """The packages beside the Python of a virtual or conda environment, with their versions, without running it."""
    found = python.absolute().parents[1].glob("lib/python*/site-packages/*.dist-info")
    named = filter(None, (DISTRIBUTION.fullmatch(folder.name) for folder in found))
    return dict(sorted((match[1], match[2]) for match in named))
