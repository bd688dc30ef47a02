"""Programs that tests need and Python's packages lack: they come from Debian, where tests run as root on Debian."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def missing(programs: list[str]) -> list[str]:
    """Those of the programs that are not on the path."""
    return [program for program in programs if not shutil.which(program)]


def obstacle() -> str:
    """Why nothing can be installed here; empty if it can."""
    if not Path("/etc/debian_version").exists() or not shutil.which("apt-get"):
        return "not Debian, whose packages are installed for this"
    return "" if os.geteuid() == 0 else "not root, who alone may install packages"


def install(programs: list[str], packages: list[str]) -> None:
    """Install the packages with apt unless all programs are there. Raises RuntimeError with the reason."""
    lock = Path(tempfile.gettempdir(), f"ranktrial-apt-{os.geteuid()}.lock")
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two runs of the tests at once: the second waits and finds all there
        if not (lacking := missing(programs)):
            return
        if why := obstacle():
            raise RuntimeError(f"no {' and '.join(lacking)} here, and it is {why}")
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        wait = "DPkg::Lock::Timeout=300"  # for another apt of this machine
        for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
            command = ["apt-get", "-qq", "-o", wait, *words]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                lines = done.stderr.strip().splitlines() or ["no reason given"]
                raise RuntimeError(f"apt-get {words[0]}: {lines[-1]}")
        if lacking := missing(programs):
            raise RuntimeError(f"{' '.join(packages)} brought no {' and '.join(lacking)}")


def needed(programs: list[str], packages: list[str]) -> None:
    """Install what a test needs, or skip the test with the reason."""
    try:
        install(programs, packages)
    except RuntimeError as error:
        pytest.skip(str(error))
