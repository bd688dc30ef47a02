"""A real Slurm of one node on loopback: its configuration, its daemons, and what it recorded about each job.

Slurm's job steps read /etc/slurm only, so the configuration goes there; what lay there comes back at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from tests.support import debian

PACKAGES = ["slurm-wlm", "munge"]
ETC = Path("/etc/slurm")
GPUS = 1
CONFIGURATION = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
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
MinJobAge=3000
KillWait=2
GresTypes=gpu
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.log
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory={memory} Gres=gpu:a100:{gpus} State=UNKNOWN
PartitionName=cpu Nodes={host} Default=YES MaxTime=2880 DefMemPerCPU=100 State=UP
PartitionName=gpu Nodes={host} Default=NO MaxTime=2880 DefMemPerCPU=100 State=UP
"""


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


def wait(condition, seconds: float, what: str) -> None:
    """Wait until `condition()` is true; after `seconds` an AssertionError says that `what` did not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain for {what}"
        time.sleep(0.05)


class Loopback:
    """The daemons of one Slurm whose files lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        self.munge: subprocess.Popen | None = None
        self.slurmctld: subprocess.Popen | None = None
        self.slurmd: subprocess.Popen | None = None
        self.controller = ["slurmctld", "-D"]
        self.kept = folder / "etc-slurm-before"

    def start(self) -> None:
        """Write the configuration and start munged, slurmctld and slurmd; returns when the node is idle."""
        for name in ("ctld", "spool", "log"):
            (self.folder / name).mkdir(parents=True)
        shutil.copytree(ETC, self.kept) if ETC.is_dir() else self.kept.mkdir()
        ETC.mkdir(exist_ok=True)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
        values = {"host": self.host, "folder": self.folder, "gpus": GPUS, "memory": max(memory, 64000)}
        (ETC / "slurm.conf").write_text(CONFIGURATION.format(**values))
        (ETC / "gres.conf").write_text("Name=gpu Type=a100 File=/dev/null\n")
        self.munge = self.start_munge()
        self.slurmctld = self.spawn("slurmctld", "-D", "-c")
        self.slurmd = self.spawn("slurmd", "-D")
        wait(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T", "-p", "gpu"), 60, "an idle node (see slurmctld.log)")

    def start_munge(self) -> subprocess.Popen | None:
        """Start munged unless it answers already."""
        if subprocess.run(["munge", "-n"], capture_output=True).returncode == 0:
            return None
        run = Path("/run/munge")
        run.mkdir(exist_ok=True)
        shutil.chown(run, "munge", "munge")
        process = self.spawn("munged", "--foreground", user="munge")
        wait(lambda: subprocess.run(["munge", "-n"], capture_output=True).returncode == 0, 30, "munge")
        return process

    def spawn(self, *command: str, user: str | None = None) -> subprocess.Popen:
        log = open(self.folder / "log" / f"{command[0]}.out", "a")  # noqa: SIM115  the daemon keeps it
        group = {"user": user, "group": user, "extra_groups": []} if user else {}
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **group
        )

    def stop_controller(self) -> None:
        """Stop slurmctld, as an administrator would who restarts it; jobs run on."""
        end(self.slurmctld)

    def start_controller(self) -> None:
        """Start slurmctld again with the state that it saved."""
        self.slurmctld = self.spawn(*self.controller)
        wait(lambda: "UP" in self.ask("scontrol", "ping"), 30, "slurmctld")

    def stop(self) -> None:
        """End all jobs and daemons and give /etc/slurm back; does what it can, also after a failed start."""
        if self.slurmctld and self.slurmctld.poll() is None:
            subprocess.run(["scancel", "--user", "root"], capture_output=True, timeout=30)
            deadline = time.monotonic() + 20
            while self.ask("squeue", "-h").strip() and time.monotonic() < deadline:
                time.sleep(0.2)
        for process in (self.slurmd, self.slurmctld, self.munge):
            if process:
                end(process)
        if self.kept.is_dir():
            for path in (ETC / "slurm.conf", ETC / "gres.conf"):
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


def end(process: subprocess.Popen) -> None:
    """Ask a daemon to end; kill it after ten seconds."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
