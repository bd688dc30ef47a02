"""`.venv/bin/snakemake` starts the clone in which `.venv` stands, also where that is a link to another clone's."""

import shutil
import subprocess
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).parents[2] / "scripts/engine/snakemake.sh"


@pytest.fixture
def clone(tmp_path):
    """A clone whose .venv is a link; its Python prints what it is given."""
    binaries, engine = tmp_path / "another/.venv/bin", tmp_path / "a clone/scripts/engine"
    for folder in (binaries, engine, tmp_path / "another/scripts/engine"):
        folder.mkdir(parents=True)
        (folder / "launch.py").touch()
    (binaries / "python").write_text('#!/bin/sh\necho "$@"\n')
    (binaries / "python").chmod(0o755)
    shutil.copy(LAUNCHER, binaries / "snakemake")
    (binaries / "snakemake").chmod(0o755)
    (tmp_path / "a clone/.venv").symlink_to(tmp_path / "another/.venv")
    return tmp_path / "a clone"


def started(command, folder):
    return subprocess.run([command, "-n"], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_a_linked_environment_starts_the_clone_it_stands_in(clone):
    expected = f"-P {clone}/scripts/engine/launch.py -n"
    assert started(".venv/bin/snakemake", clone) == started(clone / ".venv/bin/snakemake", "/") == expected


def test_a_link_to_the_command_itself_starts_its_own_clone(clone, tmp_path):
    (tmp_path / "snakemake").symlink_to(tmp_path / "another/.venv/bin/snakemake")
    assert started(tmp_path / "snakemake", tmp_path) == f"-P {tmp_path}/another/scripts/engine/launch.py -n"
