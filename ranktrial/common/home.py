"""Where our own files lie: in a clone, or where the package is installed.

In a clone, all of them lie in its top folder. The wheel has ranktrial/ and, beside it, ranktrial_workflow/ with the
Snakefile, rules/, scripts/, envs/ and profiles/ (setup.py). Reads and writes nothing.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # the folder in which ranktrial/ lies
INSTALLED = ROOT / "ranktrial_workflow"
HOME = INSTALLED if INSTALLED.is_dir() else ROOT  # that in which Snakefile, rules/ and scripts/ lie


def home_of(path: str) -> Path:
    """The folder in which one of our files lies, whose path is that in the repository."""
    return ROOT if path.startswith("ranktrial/") else HOME


def command(name: str) -> str:
    """How a user starts one of our commands here: in a clone by make."""
    return f"{'make' if HOME == ROOT else 'ranktrial'} {name}"


def own_file(path: str) -> Path:
    """The place of one of our files, whose path is that in the repository."""
    return home_of(path) / path
