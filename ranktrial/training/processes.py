"""One training by several processes with a device each, on this machine or on several nodes of a Slurm job.

The first process is the script as it was started. It starts the others with its own arguments, ends them when it ends,
and ends itself when one of them fails. All perform the same training: the same batches, the same loss and the same
steps. They share the computation of each batch, and its gradients (see parallel.py). Only the first reads the
checkpoints of an earlier part of the training, evaluates, and writes.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.home import HOME
from ranktrial.common.processes import threads
from ranktrial.models.running import DEVICES, device
from ranktrial.training import nodes as on_nodes
from ranktrial.training.nodes import RANK, Nodes
from ranktrial.training.other_processes import GRACE, Others, why_ended

MEETING, BACKEND, PEER = "RANKTRIAL_MEETING", "RANKTRIAL_BACKEND", "RANKTRIAL_PEER"  # variables of the processes
WARNINGS = "TORCH_CPP_LOG_LEVEL"
LONGEST = timedelta(days=7)  # limit for waiting for another process; one that has ended is noticed at once
REACHED = timedelta(minutes=10)  # limit for a process on another node to reach the first
TCP = "tcp://"  # prefix of a meeting on several nodes; on one node, it is a file


def rank() -> int:
    """The number of this process within its training; 0 is the first, and in most trainings the only one."""
    return int(os.environ.get(RANK, 0))


def first() -> bool:
    """Whether this process reads and writes for all."""
    return rank() == 0


def devices(count: int) -> list[str]:
    """CUDA_VISIBLE_DEVICES of each of `count` processes. Raises UserError if this job was given fewer devices."""
    given = [name.strip() for name in DEVICES.split(",")] if DEVICES else [str(number) for number in range(count)]
    if len(given) < count and device() == "cuda":
        raise UserError(f"gpus: {count}, but this job has {len(given)} of them; ask for as many, or lower it")
    return (given * count)[:count]


@contextmanager
def together(gpus: int, module: str, nodes: int = 1) -> Iterator[None]:
    """Within this context, this process is one of `gpus` on each of `nodes` that run the job of a module, by its name.

    If that is a single process, no other is started. Raises UserError if another process fails, or if there are fewer
    nodes.
    """
    count = gpus * nodes
    if count == 1:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="ranktrial-") as name:
        others, patience, store = Others(Path(name)), 0, None
        meeting, peer = os.environ.get(MEETING, f"{name}/meeting"), os.environ.get(PEER)
        with others.watched():
            try:
                if first():
                    there = on_nodes.nodes_of_job(nodes) if nodes > 1 else None
                    if there:
                        store = _listen(there.address, count)
                        meeting, peer = f"{TCP}{there.address}:{store.port}", there.peer
                    _start(others, module, gpus, meeting, there)
                _meet(meeting, count, store, peer)
                yield
                patience = GRACE
            except Exception as error:
                said = others.failure(GRACE)
                if said and not isinstance(error, UserError):
                    raise UserError(said) from None
                raise
            finally:
                _part()
                others.end(patience)


def agreed(value: Callable[[], Any]) -> Any:
    """The value that the first process computes, in all processes."""
    from torch import distributed

    if not distributed.is_initialized():
        return value()
    held = [value() if first() else None]
    distributed.broadcast_object_list(held, src=0)
    return held[0]


def _start(others: Others, module: str, gpus: int, meeting: str, there: Nodes | None) -> None:
    """Start the other processes: on this node directly, and on the other nodes by a Slurm step."""
    arguments = sys.argv[1:]
    if "--log" in arguments:  # the log belongs to the first process
        place = arguments.index("--log")
        del arguments[place : place + 2]
    backend = "nccl" if device() == "cuda" else "gloo"
    shared = {MEETING: meeting, BACKEND: backend, "OMP_NUM_THREADS": str(max(1, threads() // gpus))}
    shared["PYTHONPATH"] = os.pathsep.join([str(HOME), *filter(None, [os.environ.get("PYTHONPATH")])])
    shared[WARNINGS] = os.environ.get(WARNINGS, "ERROR")  # the last line of a process must state why it failed
    of_peer = {PEER: there.peer} if there else {}
    name = module.rpartition(".")[2]
    program = f"from ranktrial.common.command_line import job; from {module} import {name}; job({name})"
    for number, name in enumerate(devices(gpus)[1:], 1):
        environment = os.environ | shared | of_peer | {RANK: str(number), "CUDA_VISIBLE_DEVICES": name}
        others.start([sys.executable, "-P", "-c", program, *arguments], environment, partial(why_ended, number))
    if there:
        environment = on_nodes.environment_of_step() | shared
        environment |= {PEER: there.address, on_nodes.FIRST_OF_OTHERS: str(gpus)}
        placed = f"from ranktrial.training.nodes import take_place; take_place(); {program}"
        command = on_nodes.step(there, gpus, [sys.executable, "-P", "-c", placed, *arguments])
        of_step = (lambda said, code: on_nodes.why_ended(said), signal.SIGTERM, on_nodes.begins_after)
        others.start(command, environment, *of_step)


def _listen(address: str, count: int) -> Any:
    """A store for the processes of all nodes to meet: this process listens at its node's address, on a free port.

    Raises UserError if the address does not lead to this node.
    """
    from torch import distributed

    try:
        store = distributed.TCPStore(address, 0, count, is_master=True, timeout=REACHED, wait_for_workers=False)
    except RuntimeError:
        raise UserError(f"nodes: {address}, by which Slurm reaches this node, does not lead to it here") from None
    store.set_timeout(LONGEST)
    return store


def _meet(meeting: str, count: int, store: Any = None, peer: str | None = None) -> None:
    """Wait until all processes are present; `peer` is an address on another node, if there is one."""
    from torch import distributed

    backend = os.environ.get(BACKEND) or ("nccl" if device() == "cuda" else "gloo")
    if backend == "nccl" and device() != "cuda":
        name = os.environ.get("CUDA_VISIBLE_DEVICES")
        raise UserError(f"gpus: device {name} cannot be used here; lower it, or ask for as many")
    # Loopback on one machine, whose name may not resolve; otherwise the network that leads to the other nodes.
    interface = on_nodes.interface_towards(peer) if peer else "lo"
    if interface:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
    if store is None and meeting.startswith(TCP):
        store = _reach(meeting, count)
    store = store or distributed.FileStore(meeting, count)
    distributed.init_process_group(backend, store=store, rank=rank(), world_size=count, timeout=LONGEST)


def _reach(meeting: str, count: int) -> Any:
    """The store for all nodes, opened from a node other than the first. Raises UserError if that is unreachable."""
    from torch import distributed

    address, _, port = meeting.removeprefix(TCP).rpartition(":")
    try:
        store = distributed.TCPStore(address, int(port), count, is_master=False, timeout=REACHED)
    except RuntimeError:
        raise UserError(f"nodes: the first node cannot be reached from another at {address}, port {port}") from None
    store.set_timeout(LONGEST)
    return store


def _part() -> None:
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()
