"""Further nodes for the Slurm of these tests: a network namespace each, with an address and a host name of its own.

What a job on several nodes sends between them passes a bridge of this machine, from which no other machine can be
reached.
"""

import subprocess
from pathlib import Path

NETWORK = "10.213.7"
GATE = f"{NETWORK}.1"  # where the nodes reach this machine
BRIDGE = "ranktrial"
NAMES = ("first", "second")
GPUS = 2  # that each node says it has


def address(node: str) -> str:
    return f"{NETWORK}.{NAMES.index(node) + 2}"


def namespace(node: str) -> str:
    return f"{BRIDGE}-{node}"


def obstacle() -> str:
    """Why there can be no further node here; empty where there can."""
    try:
        make_networks(NAMES)
        return ""
    except subprocess.CalledProcessError as error:
        return f"no network namespaces: {error.stderr.strip()}"
    finally:
        remove_networks()


def make_networks(nodes: tuple[str, ...]) -> None:
    """Make a network of the nodes and this machine."""
    remove_networks()  # of a run of the tests that was killed
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("address", "add", f"{GATE}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    for node in nodes:
        space, link = namespace(node), f"rt-{node}"
        ip("netns", "add", space)
        ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("link", "set", link, "master", BRIDGE, "up")
        ip("-n", space, "link", "set", "lo", "up")
        ip("-n", space, "address", "add", f"{address(node)}/24", "dev", "eth0")
        ip("-n", space, "link", "set", "eth0", "up")


def remove_networks() -> None:
    """Remove what there is of it: links first, for those that end with a namespace do so some time after it."""
    links = [("link", "delete", f"rt-{node}") for node in NAMES]
    spaces = [("netns", "delete", namespace(node)) for node in NAMES]
    for words in (*links, *spaces, ("link", "delete", BRIDGE)):
        subprocess.run(["ip", *words], capture_output=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def named(hosts: Path, host: str) -> list[str]:
    """The words before a daemon that let it listen where the name of its machine leads: no other machine reaches it."""
    script = 'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"'
    return ["unshare", "--mount", "--uts", "sh", "-c", script, str(hosts), host]


def inside(node: str) -> list[str]:
    """The words before a command that runs it in the network of a node."""
    return ["nsenter", f"--net=/run/netns/{namespace(node)}"]
