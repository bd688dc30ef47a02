"""Two more nodes for the Slurm of these tests: a network namespace each, with an address and a host name of its own.

They are the partition `gpu` while they are there. What a job on both sends between them passes a bridge of this machine,
from which no other machine can be reached.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.loopback import ETC, Loopback, end, wait

NETWORK = "10.213.7"
BRIDGE = "ranktrial"
NODES = {"first": f"{NETWORK}.2", "second": f"{NETWORK}.3"}
GPUS = 2  # that each node says it has
LINES = "".join(
    f"NodeName={node} NodeAddr={address} CPUs=2 RealMemory=64000 Gres=gpu:a100:{GPUS} State=UNKNOWN\n"
    for node, address in NODES.items()
)
DEVICES = f"NodeName={','.join(NODES)} Name=gpu Type=a100 File=/dev/tty[1-{GPUS}]\n"


def obstacle() -> str:
    """Why there can be no second node here; empty where there can."""
    try:
        with networks():
            return ""
    except subprocess.CalledProcessError as error:
        return f"no network namespaces: {error.stderr.strip()}"


def namespace(node: str) -> str:
    return f"{BRIDGE}-{node}"


@contextmanager
def networks() -> Iterator[None]:
    """Within the block there is a network of the nodes and this machine."""
    remove_networks()  # of a run of the tests that was killed
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("address", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for node, address in NODES.items():
            space, link = namespace(node), f"rt-{node}"
            ip("netns", "add", space)
            ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", link, "master", BRIDGE, "up")
            ip("-n", space, "link", "set", "lo", "up")
            ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
        yield
    finally:
        remove_networks()


def remove_networks() -> None:
    """Remove what there is of it: links first, for those that end with a namespace do so some time after it."""
    links = [("link", "delete", f"rt-{node}") for node in NODES]
    spaces = [("netns", "delete", namespace(node)) for node in NODES]
    for words in (*links, *spaces, ("link", "delete", BRIDGE)):
        subprocess.run(["ip", *words], capture_output=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@contextmanager
def two_nodes(slurm: Loopback) -> Iterator[None]:
    """Within the block the partition `gpu` of a running Slurm has two nodes, and its own one is in `cpu` alone."""
    before = {path: path.read_text() for path in (ETC / "slurm.conf", ETC / "gres.conf")}
    configuration, devices = before.values()
    gate = f"{NETWORK}.1"  # where the nodes reach the controller
    configuration = configuration.replace("(127.0.0.1)", f"({gate})")
    configuration = configuration.replace(
        f"PartitionName=gpu Nodes={slurm.host}", f"{LINES}PartitionName=gpu Nodes={','.join(NODES)}"
    )
    after = dict(zip(before, (configuration, f"NodeName={slurm.host} {devices}{DEVICES}"), strict=True))
    # Each daemon listens where the name of its machine leads, so that no other machine can reach it.
    hosts = slurm.folder / "hosts"
    hosts.write_text("".join(f"{address} {name}\n" for name, address in [(slurm.host, gate), *NODES.items()]))
    named = 'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"'
    reported = ["unshare", "--mount", "--uts", "sh", "-c", named, str(hosts)]
    controller = [*reported, slurm.host, "slurmctld", "-D"]
    with networks():
        daemons = []
        try:
            restart(slurm, after, controller)
            for node in NODES:
                inside = ["nsenter", f"--net=/run/netns/{namespace(node)}", *reported, node]
                daemons.append(slurm.spawn(*inside, "slurmd", "-D", "-N", node))
            there = ["idle", str(len(NODES))]
            wait(lambda: slurm.ask("sinfo", "-h", "-o", "%T %D", "-p", "gpu").split() == there, 60, "two idle nodes")
            yield
        finally:
            for daemon in daemons:
                end(daemon)
            restart(slurm, before, ["slurmctld", "-D"])


def restart(slurm: Loopback, files: dict[Path, str], controller: list[str]) -> None:
    """Let Slurm's daemons begin anew with other files, and remember what they did."""
    slurm.stop_controller()
    end(slurm.slurmd)
    for path, text in files.items():
        path.write_text(text)
    slurm.controller = controller
    slurm.start_controller()
    slurm.slurmd = slurm.spawn("slurmd", "-D")
    wait(lambda: "idle" in slurm.ask("sinfo", "-h", "-o", "%T", "-p", "cpu"), 60, "an idle node (see slurmctld.log)")
