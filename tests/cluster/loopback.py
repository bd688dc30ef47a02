"""A real Slurm on this machine, of one, two or three nodes: its configuration, its daemons, what it recorded of jobs.

Slurm's job steps read /etc/slurm only, so the configuration goes there; what lay there comes back at the end.
"""

import os
import re
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import accounting, nodes
from tests.cluster.daemons import ETC, Daemons, wait
from tests.support import debian

PACKAGES = ["slurm-wlm", "munge"]
CLUSTER = "loopback"
FILES = (ETC / "slurm.conf", ETC / "gres.conf", accounting.FILE)
CONFIGURATION = """\
ClusterName={cluster}
SlurmctldHost={host}({address})
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation={folder}/ctld
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
MinJobAge={remembers}
KillWait=2
GresTypes=gpu
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.log
NodeName={host} NodeAddr={address} CPUs=2 RealMemory={memory} Gres=gpu:a100:1 State=UNKNOWN
PartitionName=cpu Nodes=ALL Default=YES MaxTime=2880 DefMemPerCPU=100 State=UP
"""
FURTHER = "NodeName={node} NodeAddr={address} CPUs=2 RealMemory=64000 Gres=gpu:a100:{gpus} State=UNKNOWN\n"
GPU = "PartitionName=gpu Nodes={nodes} Default=NO MaxTime=2880 DefMemPerCPU=100 State=UP\n"


@dataclass(frozen=True)
class Shape:
    """What a Slurm of these tests consists of. Further nodes have the GPUs, if there are any."""

    further: int = 0  # nodes besides this machine, two at most
    accounting: bool = False  # with slurmdbd, so that limits hold
    remembers: int = 3000  # seconds for which ended jobs are known (MinJobAge)

    @property
    def nodes(self) -> tuple[str, ...]:
        return nodes.NAMES[: self.further]

    def obstacle(self) -> str:
        """Why there can be none here; empty where there can. Installs what is missing."""
        programs = [("ip", "iproute2")] if self.further else []
        programs += zip(accounting.PROGRAMS, accounting.PACKAGES, strict=True) if self.accounting else []
        try:
            debian.install([name for name, _ in programs], [package for _, package in programs])
        except RuntimeError as error:
            return str(error)
        return nodes.obstacle() if self.further else ""


def obstacle() -> str:
    """Why no Slurm can be started here; empty if one can."""
    if why := debian.obstacle():
        return f"it is {why}"
    if shutil.which("scontrol") and subprocess.run(["scontrol", "ping"], capture_output=True).returncode == 0:
        return "a Slurm runs here already, and is left alone"
    try:
        socket.getaddrinfo(socket.gethostname().split(".")[0], None, flags=socket.AI_ADDRCONFIG)
    except OSError as error:
        return f"this machine's name does not resolve: {error}"
    return ""


def install() -> None:
    """Install what is missing with apt; raises RuntimeError with the reason."""
    debian.install(["slurmctld", "slurmd", "munged"], PACKAGES)


class Loopback:
    """The daemons of one Slurm whose files lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        self.shape = Shape()
        self.daemons = Daemons(folder / "log")  # of the shape that it has
        self.munge = Daemons(folder / "log")
        self.slurmctld: subprocess.Popen | None = None
        self.kept = folder / "etc-slurm-before"

    def start(self) -> None:
        """Write the configuration and start munged, slurmctld and slurmd; returns when the node is idle."""
        for name in ("ctld", "spool", "log"):
            (self.folder / name).mkdir(parents=True)
        shutil.copytree(ETC, self.kept) if ETC.is_dir() else self.kept.mkdir()
        ETC.mkdir(exist_ok=True)
        self.start_munge()
        self.begin(Shape())

    def start_munge(self) -> None:
        """Start munged unless it answers already."""
        if not munge_answers():
            run = Path("/run/munge")
            run.mkdir(exist_ok=True)
            shutil.chown(run, "munge", "munge")
            self.munge.start("munged", "--foreground", user="munge")
            wait(munge_answers, 30, "munge")

    def begin(self, shape: Shape) -> None:
        """Write the configuration of a shape and start its daemons; returns when all nodes are idle."""
        self.shape = shape
        address = nodes.GATE if shape.nodes else "127.0.0.1"
        if shape.nodes:
            nodes.make_networks(shape.nodes)
            hosts = [
                ("localhost", "127.0.0.1"),
                (self.host, address),
                *((node, nodes.address(node)) for node in shape.nodes),
            ]
            (self.folder / "hosts").write_text("".join(f"{there} {name}\n" for name, there in hosts))
        self.write(shape, address)
        if shape.accounting:
            accounting.start(self.daemons, self.folder, address)
            accounting.sacctmgr("add", "cluster", CLUSTER)  # with an association for root
        self.start_controller()
        self.daemons.start(*self.named(self.host), "slurmd", "-D", name="slurmd")
        for node in shape.nodes:
            words = [*nodes.inside(node), *self.named(node), "slurmd", "-D", "-N", node]
            self.daemons.start(*words, name=f"slurmd-{node}")
        there = ["idle", str(1 + len(shape.nodes))]
        wait(
            lambda: self.ask("sinfo", "-h", "-o", "%T %D", "-p", "cpu").split() == there, 60, "idle nodes (see the log)"
        )

    def write(self, shape: Shape, address: str) -> None:
        """Write the files of /etc/slurm."""
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
        text = CONFIGURATION.format(
            cluster=CLUSTER, host=self.host, folder=self.folder, memory=max(memory, 64000), address=address,
            remembers=shape.remembers,
        )  # fmt: skip
        text += "".join(FURTHER.format(node=node, address=nodes.address(node), gpus=nodes.GPUS) for node in shape.nodes)
        text += GPU.format(nodes=",".join(shape.nodes) or self.host)
        none = "AccountingStorageType=accounting_storage/none\n"
        text += accounting.LINES.format(address=address) if shape.accounting else none
        devices = f"NodeName={self.host} Name=gpu Type=a100 File=/dev/null\n"
        if shape.nodes:
            devices += f"NodeName={','.join(shape.nodes)} Name=gpu Type=a100 File=/dev/tty[1-{nodes.GPUS}]\n"
        for path, content in zip(FILES, (text, devices), strict=False):
            path.write_text(content)

    def stop_controller(self) -> None:
        """Stop slurmctld, as an administrator would who restarts it; jobs run on."""
        self.daemons.end(self.slurmctld)

    def start_controller(self) -> None:
        """Start slurmctld, with the state that it saved."""
        self.slurmctld = self.daemons.start(*self.named(self.host), "slurmctld", "-D", name="slurmctld")
        wait(lambda: "UP" in self.ask("scontrol", "ping"), 30, "slurmctld")

    def named(self, node: str) -> list[str]:
        """The words before a daemon of a node: addresses are other ones where there are several nodes."""
        return nodes.named(self.folder / "hosts", node) if self.shape.nodes else []

    def end(self) -> None:
        """End the daemons of a shape."""
        self.daemons.end_all()
        if self.shape.nodes:
            nodes.remove_networks()

    def stop(self) -> None:
        """End all jobs and daemons and give /etc/slurm back; does what it can, also after a failed start."""
        if self.slurmctld and self.slurmctld.poll() is None:
            subprocess.run(["scancel", "--user", "root"], capture_output=True, timeout=30)
            deadline = time.monotonic() + 20
            while self.ask("squeue", "-h").strip() and time.monotonic() < deadline:
                time.sleep(0.2)
        self.end()
        self.munge.end_all()
        if self.kept.is_dir():
            for path in FILES:
                path.unlink(missing_ok=True)
            shutil.copytree(self.kept, ETC, dirs_exist_ok=True)

    def ask(self, *command: str) -> str:
        """What a Slurm command prints, or nothing where it fails."""
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout

    def jobs(self, folder: Path) -> list[dict[str, str]]:
        """Slurm's own record of each job submitted from `folder`, by job id: what `scontrol show job` says."""
        records = []
        for block in self.ask("scontrol", "show", "job", "-d").split("\n\n"):
            record = dict(re.findall(r"(\S+?)=(.*?)(?=\s+[A-Z][\w/:]*=|\s*$)", block, re.MULTILINE))
            if record.get("WorkDir") == str(folder):
                record["Comment"] = record.get("Comment", "").rstrip("_")  # left by wildcards that are empty
                records.append(record)
        return sorted(records, key=lambda record: int(record["JobId"]))

    def of_rule(self, folder: Path, rule: str) -> list[dict[str, str]]:
        """The records of one rule's jobs, whose name the plugin writes into the comment."""
        return [one for one in self.jobs(folder) if re.fullmatch(rf"rule_{rule}(_wildcards_.*)?", one["Comment"])]


def munge_answers() -> bool:
    return subprocess.run(["munge", "-n"], capture_output=True).returncode == 0
