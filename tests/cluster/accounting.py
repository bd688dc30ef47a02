"""Accounting for the Slurm of these tests, as sites have it: a database, slurmdbd before it, limits."""

import subprocess
from pathlib import Path

from tests.cluster.daemons import ETC, Daemons, wait

PROGRAMS, PACKAGES = ["slurmdbd", "mariadbd"], ["slurmdbd", "mariadb-server"]
FILE = ETC / "slurmdbd.conf"
PORT = 33061  # of the database, on loopback
CONFIGURATION = """\
AuthType=auth/munge
DbdHost=localhost
DbdAddr={address}
SlurmUser=root
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={port}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
"""
LINES = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={address}
AccountingStorageEnforce=associations,limits,qos
"""
USER = """\
CREATE DATABASE IF NOT EXISTS slurm;
CREATE USER IF NOT EXISTS slurm@'127.0.0.1' IDENTIFIED BY 'slurm';
GRANT ALL ON slurm.* TO slurm@'127.0.0.1';
"""


def start(daemons: Daemons, folder: Path, address: str) -> None:
    """Start the database and slurmdbd; `address` is the one at which slurmctld finds it."""
    data, user = folder / "database", folder / "database.sql"
    if not data.is_dir():
        words = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db"]
        subprocess.run(words, check=True, capture_output=True)
        user.write_text(USER)
    daemons.start(
        "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={folder}/database.socket",
        f"--port={PORT}", "--bind-address=127.0.0.1", "--skip-name-resolve", f"--init-file={user}",
    )  # fmt: skip
    FILE.touch(mode=0o600)
    FILE.write_text(CONFIGURATION.format(folder=folder, address=address, port=PORT))
    wait(
        lambda: answers(("mariadb-admin", "--no-defaults", f"--socket={folder}/database.socket", "ping")), 60, "mariadb"
    )
    daemons.start("slurmdbd", "-D")
    wait(lambda: answers(("sacctmgr", "-n", "show", "cluster")), 60, "slurmdbd")


def answers(words: tuple[str, ...]) -> bool:
    return subprocess.run(words, capture_output=True).returncode == 0


def sacctmgr(*words: str) -> None:
    """Change the records; what is as it should be already is no failure."""
    done = subprocess.run(["sacctmgr", "-i", *words], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0 or "already exists" in said or "Nothing new added" in said, said
