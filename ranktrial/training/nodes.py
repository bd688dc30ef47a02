"""The other nodes of a training: Slurm states which they are, and `srun` starts the training's processes there.

The script runs on the first node of its Slurm job. A job step (--overlap: beside any other) has `gpus` processes on
each of the other nodes. They reach the first process at the address by which Slurm reaches its node. While Slurm's
controller is away, its commands are tried again, for ten minutes in all. Reads and writes no files.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import struct
import sys
from dataclasses import dataclass

from ranktrial.common.errors import UserError
from ranktrial.common.processes import Patience, ask, pauses
from ranktrial.common.wording import integer

RANK, FIRST_OF_OTHERS = "RANKTRIAL_RANK", "RANKTRIAL_FIRST_OF_OTHERS"
PATIENCE = 600  # seconds within which Slurm must answer and start the step; the nodes are already allocated
FIRST, LONGEST = 2.0, 60.0  # seconds between two tries while the controller is away
KEPT = ("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_CLUSTER_NAME", "SLURM_CONF", "SLURM_CONF_SERVER")  # for the step's srun
ADDRESS_OF_INTERFACE = 0x8915  # SIOCGIFADDR of linux/sockios.h
OF_SLURM = re.compile(r"(?:srun|slurmstepd\S*?): (?:error: )?(.*)")
NOT_BEGUN = re.compile(r"srun: (?:error: )?(Unable to (?:create step|confirm allocation).*)")
ENDED = re.compile(r".*\btasks? [\d,-]+: (.*)")


def _say(reason: str) -> None:
    print(
        f"warning: Slurm does not answer ({reason}); it is asked again, for {PATIENCE / 60:.0f} minutes at most",
        file=sys.stderr,
        flush=True,
    )


_patience = Patience(pauses(FIRST, LONGEST, PATIENCE), _say)


@dataclass(frozen=True)
class Nodes:
    """The nodes of a training: the address of this node, the names of the others, and the address of one of them."""

    address: str
    others: tuple[str, ...]
    peer: str


def nodes_of_job(count: int) -> Nodes:
    """The first `count` nodes of this Slurm job. Raises UserError if it is not a Slurm job, or has fewer nodes."""
    job, own = os.environ.get("SLURM_JOB_ID"), os.environ.get("SLURMD_NODENAME")
    if not job or not own:
        raise UserError(f"nodes: {count}, but this is no job of Slurm; run with --profile slurm, or leave nodes out")
    given = ask("squeue", "--noheader", f"--jobs={job}", "--format=%N", patience=_patience).strip()
    names = ask("scontrol", "show", "hostnames", given, patience=_patience).split() if given else []
    if len(names) < count:
        raise UserError(f"nodes: {count}, but this job has {len(names)} of them; ask for as many, or lower it")
    others = tuple(name for name in names if name != own)[: count - 1]
    return Nodes(_address(own), others, _address(others[0]))


def step(nodes: Nodes, gpus: int, program: list[str]) -> list[str]:
    """The command that runs a program on all other nodes, in `gpus` processes on each."""
    many = len(nodes.others)
    return [
        *("srun", "--overlap", "--overcommit", "--quiet", "--mpi=none", "--cpu-bind=none", "--input=none"),
        *("--export=ALL", "--kill-on-bad-exit=1", f"--immediate={PATIENCE}", f"--nodelist={','.join(nodes.others)}"),
        *(f"--nodes={many}", f"--ntasks={many * gpus}", f"--ntasks-per-node={gpus}", "--", *program),
    ]


def environment_of_step() -> dict[str, str]:
    """The environment for `srun` to start a step of the whole job, without the variables of the step that runs here.

    The devices of this process are removed too; Slurm sets those of each node.
    """
    of_step = ("SLURM_", "SRUN_", "SBATCH_")
    left = {name: value for name, value in os.environ.items() if name in KEPT or not name.startswith(of_step)}
    left.pop("CUDA_VISIBLE_DEVICES", None)
    return left


def take_place() -> None:
    """Assign rank and device to this process, which was started by a step.

    This must run before any other import: ranktrial.models.running reads both. A process that was restarted already has
    them.
    """
    if RANK in os.environ:
        return
    local = integer(os.environ["SLURM_LOCALID"]) or 0
    rank = (integer(os.environ[FIRST_OF_OTHERS]) or 0) + (integer(os.environ["SLURM_PROCID"]) or 0)
    given = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    missing = "none" if given else str(local)  # of the devices that Slurm gave; without names, all are visible
    os.environ |= {RANK: str(rank), "CUDA_VISIBLE_DEVICES": given[local] if local < len(given) else missing}


def begins_after(said: str) -> float | None:
    """Seconds until a step that said so is started again; None if it had begun, or does not begin later either."""
    found = NOT_BEGUN.search(said)
    return _patience.after(f"srun: {found[1]}") if found else None


def why_ended(said: str) -> tuple[str, bool]:
    """The reason why a step failed, from the output of its processes and srun, and whether it can be the cause.

    A process that ended with a traceback may only have lost contact with another that failed first.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    if errors:
        return errors[0], True
    of_slurm = [found[1] for line in lines if (found := OF_SLURM.fullmatch(line))]
    ends = [found[1] for line in of_slurm if (found := ENDED.fullmatch(line))]
    words = [line for line in lines if not OF_SLURM.fullmatch(line)]
    killed = [end for end in ends if not end.startswith("Exited")]
    if killed:
        return f"a process on another node of the training has ended ({killed[0]})", True
    if ends and words:
        return words[-1], False
    return f"srun: {(of_slurm or ['no word from it'])[0]}", True


def interface_towards(address: str) -> str | None:
    """The network interface by which this node reaches an address; None if it is unknown."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # sends nothing
            own = socket.inet_aton(probe.getsockname()[0])
            for _, name in socket.if_nameindex():
                try:
                    asked = struct.pack("256s", name.encode()[:15])
                    if fcntl.ioctl(probe, ADDRESS_OF_INTERFACE, asked)[20:24] == own:
                        return name
                except OSError:  # the interface has no address
                    continue
    except OSError:
        pass
    return None


def _address(node: str) -> str:
    """The address by which Slurm itself reaches a node."""
    found = re.search(r"\bNodeAddr=(\S+)", ask("scontrol", "--oneliner", "show", "node", node, patience=_patience))
    return found[1] if found else node
