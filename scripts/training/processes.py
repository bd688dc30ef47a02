"""One training by several processes of this machine, each with a device of its own.

The first process is the script as it was started. It starts the others with its own arguments, ends them when it ends,
and ends itself when one of them fails. All go the same way through a training: the same batches, the same loss and the
same steps. They share how a batch passes the model, and its gradients (see parallel.py). The first alone reads what an
earlier part of the training left, evaluates, and writes.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from scripts.common.errors import UserError
from scripts.common.threads import threads
from scripts.models.running import DEVICES, device

RANK, MEETING, BACKEND = "RANKTRIAL_RANK", "RANKTRIAL_MEETING", "RANKTRIAL_BACKEND"  # variables of those started here
ROOT = Path(__file__).parents[2]
LONGEST = timedelta(days=7)  # that a process waits for another; one that has ended is noticed at once
LOOK = 0.2  # seconds between two looks at the others
GRACE = 10  # seconds in which the first process may find for itself that another has ended
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl.h


def rank() -> int:
    """The number of this process among those of its training; 0 is the first, which most trainings have alone."""
    return int(os.environ.get(RANK, 0))


def first() -> bool:
    """Whether this process reads and writes for all."""
    return rank() == 0


def devices(count: int) -> list[str]:
    """CUDA_VISIBLE_DEVICES of each of `count` processes. Raises UserError where this job was given fewer."""
    given = [name.strip() for name in DEVICES.split(",")] if DEVICES else [str(number) for number in range(count)]
    if len(given) < count and device() == "cuda":
        raise UserError(f"gpus: {count}, but this job has {len(given)} of them; ask for as many, or lower it")
    return (given * count)[:count]


@contextmanager
def together(count: int, module: str) -> Iterator[None]:
    """Within the block this process is one of `count` that run the `main` of a module; alone where that is one.

    Raises UserError where another process fails.
    """
    if count == 1:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="ranktrial-") as name:
        folder = Path(name)
        others, patience = _started(module, count, folder) if first() else [], 0
        with _watched(others, folder):
            try:
                _meet(Path(os.environ.get(MEETING, folder / "meeting")), count)
                yield
                patience = GRACE
            except Exception as error:
                said = _failure(others, folder, GRACE)
                if said and not isinstance(error, UserError):
                    raise UserError(said) from None
                raise
            finally:
                _part()
                for other in others:
                    with suppress(subprocess.TimeoutExpired):
                        other.wait(patience)
                    other.kill()
                    other.wait()


def agreed(value: Callable[[], Any]) -> Any:
    """What the first process computes, in all of them."""
    from torch import distributed

    if not distributed.is_initialized():
        return value()
    held = [value() if first() else None]
    distributed.broadcast_object_list(held, src=0)
    return held[0]


def _started(module: str, count: int, folder: Path) -> list[subprocess.Popen]:
    """The other processes, which end when this one does."""
    others = []
    arguments = sys.argv[1:]
    if "--log" in arguments:  # that of the first process
        place = arguments.index("--log")
        del arguments[place : place + 2]
    backend = "nccl" if device() == "cuda" else "gloo"
    shared = {MEETING: str(folder / "meeting"), BACKEND: backend, "OMP_NUM_THREADS": str(max(1, threads() // count))}
    shared["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    prctl = getattr(ctypes.CDLL(None), "prctl", None)

    def die_with_parent() -> None:  # where Linux can; else one waits for a first process that was killed
        if prctl:
            prctl(DIES_WITH_PARENT, signal.SIGKILL)

    program = f"from scripts.common.command_line import run; from {module} import main; run(main)"
    for number, name in enumerate(devices(count)[1:], 1):
        environment = os.environ | shared | {RANK: str(number), "CUDA_VISIBLE_DEVICES": name}
        with open(folder / str(number), "wb") as said:
            command = [sys.executable, "-P", "-c", program, *arguments]
            streams = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
            others.append(subprocess.Popen(command, env=environment, preexec_fn=die_with_parent, **streams))
    return others


@contextmanager
def _watched(others: list[subprocess.Popen], folder: Path) -> Iterator[None]:
    """Within the block this process is ended when it does not notice that another has failed."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK):
            if said := _failure(others, folder):
                if not over.wait(GRACE):
                    print(f"error: {said}", file=sys.stderr, flush=True)
                    os._exit(1)
                return

    thread = threading.Thread(target=look, daemon=True, name="processes")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _failure(others: list[subprocess.Popen], folder: Path, patience: float = 0) -> str:
    """What a process said last that has failed by now, or does so soon; empty where none has."""
    end = time.monotonic() + patience
    while True:
        for number, other in enumerate(others, 1):
            if other.poll():
                lines = (folder / str(number)).read_text(errors="replace").strip().splitlines()
                last = lines[-1].removeprefix("error: ") if lines else "no word from it"
                return last if other.returncode == 1 else f"process {number} of the training has ended ({last})"
        if time.monotonic() >= end or not others:
            return ""
        time.sleep(LOOK)


def _meet(meeting: Path, count: int) -> None:
    """Wait until all processes are there."""
    from torch import distributed

    backend = os.environ.get(BACKEND) or ("nccl" if device() == "cuda" else "gloo")
    if backend == "nccl" and device() != "cuda":
        name = os.environ.get("CUDA_VISIBLE_DEVICES")
        raise UserError(f"gpus: {count}, but device {name} cannot be used here; lower it, or ask for as many")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all are on this machine, whose name may lead nowhere
    store = distributed.FileStore(str(meeting), count)
    distributed.init_process_group(backend, store=store, rank=rank(), world_size=count, timeout=LONGEST)


def _part() -> None:
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()
