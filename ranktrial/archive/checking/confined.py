"""Isolation for recomputing an archive's numbers: fresh folders, and a Python that reads nothing from outside.

Scripts do not see this process's environment (tokens), its home folder or modules in their working folder. A stranger's
scripts run without network and with write access to one folder only, if the system offers that: through bubblewrap, or
through Linux namespaces and `unshare`.
"""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NONE = "nothing"
WORDS = {
    "bwrap": "bubblewrap: no network, and it can write to one temporary folder only",
    "unshare": "namespaces: no network, and it can write to one temporary folder only",
    NONE: "NOT protected: it can do whatever you can (bubblewrap or unshare would help)",
}
# First the whole disk except the folder becomes read-only and the sockets of services disappear. Then all capabilities
# are dropped, so that nothing of this can be undone.
_UNSHARE = """set -e
mount --make-rprivate /
mount --bind "$1" "$1"
for place in /run /var/run; do if [ -d $place ] && [ ! -L $place ]; then mount -t tmpfs none $place; fi; done
mount -t proc proc /proc 2>/dev/null || true
cut -d ' ' -f 5 /proc/self/mountinfo | sort -u | while read -r place; do
  place=$(printf '%b' "$place")
  if [ "$place" != "$1" ]; then
    mount -o remount,bind,ro "$place" 2>/dev/null \\
      || mount -o remount,bind,ro,nosuid,nodev,noexec "$place" 2>/dev/null \\
      || mount -o remount,bind,ro,nosuid,nodev "$place" 2>/dev/null || { [ ! -w "$place" ] || exit 97; }
  fi
done
cd "$1"
shift
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"
"""
_PROBE = """import os, socket, sys
open(os.path.join(sys.argv[1], "inside"), "w").close()
try:
    open(os.path.join(sys.argv[2], "outside"), "w").close()
except OSError:
    interfaces = [name for _, name in socket.if_nameindex() if name != "lo"]
    sys.exit(1 if interfaces else 0)
sys.exit(1)
"""


@dataclass(frozen=True)
class Confinement:
    """How scripts are confined: `by` is "bwrap", "unshare" or NONE."""

    by: str = NONE

    @contextmanager
    def folder(self, name: str) -> Iterator[Path]:
        """A fresh folder, removed afterwards."""
        with tempfile.TemporaryDirectory(prefix=f"ranktrial-{name}-") as temporary:
            yield Path(temporary).resolve()

    def command(self, script: list[str], folder: Path) -> list[str]:
        """The command that runs a Python script with its arguments; if confined, it can write only to `folder`."""
        # `-I` ignores PYTHON… variables and modules of the folder and the user; `-B` writes nothing beside the sources
        return _around(self.by, [sys.executable, "-I", "-B", *script], folder)

    def environment(self, folder: Path) -> dict[str, str]:
        """The environment of a script: from this process, only the search path and OpenBLAS's choice of kernels."""
        home = folder / "home"
        home.mkdir(exist_ok=True)
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
        # Another kernel gives sums other last digits, and so results of this machine would be reported as different.
        kernels = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
        return {"PATH": path, "HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home), "MPLBACKEND": "agg",
                "MPLCONFIGDIR": str(home), "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", **kernels}  # fmt: skip


def own_site() -> str:
    """The user's folder of packages if this process uses it, else "". The option `-I` would leave it out."""
    site_packages = site.getusersitepackages()
    return site_packages if site_packages in sys.path else ""


def _around(by: str, command: list[str], folder: Path) -> list[str]:
    if by == "bwrap":
        read = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
        write = ["--bind", str(folder), str(folder), "--chdir", str(folder)]
        return ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", *read, *write, "--", *command]
    if by == "unshare":
        spaces = ["--user", "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child"]
        return ["unshare", *spaces, "sh", "-c", _UNSHARE, "sh", str(folder), *command]
    return command


def own_script(name: str, sources: Path) -> str:
    """The path of a script of archive/checking; inside a zip, the path of the same script in the sources."""
    script = f"scripts/archive/checking/{name}"
    path = Path(__file__).resolve().parents[3] / script
    return str(path if path.is_file() else sources / script)


@cache
def strongest() -> Confinement:
    """The strongest confinement that works on this system; each is tried."""
    needed = {"bwrap": ["bwrap"], "unshare": ["unshare", "setpriv", "mount"]}
    for by, programs in needed.items():
        if all(map(shutil.which, programs)) and _holds(by):
            return Confinement(by)
    return Confinement(NONE)


def _holds(by: str) -> bool:
    """Whether a confined script can write to its folder, cannot write to another, and sees no network."""
    with tempfile.TemporaryDirectory(prefix="ranktrial-probe-") as temporary:
        inside, outside = Path(temporary, "in").resolve(), Path(temporary, "out").resolve()
        inside.mkdir()
        outside.mkdir()
        probe = [sys.executable, "-I", "-S", "-c", _PROBE, str(inside), str(outside)]
        try:
            command = _around(by, probe, inside)
            process = subprocess.run(command, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return process.returncode == 0 and (inside / "inside").exists() and not list(outside.iterdir())
