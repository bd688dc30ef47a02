"""The workflow's own Python files: those of ranktrial/ and of scripts/."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ranktrial", "scripts")


def our_sources(root: Path = ROOT) -> list[Path]:
    """All of them below `root`."""
    return sorted(path for name in PACKAGES for path in (root / name).rglob("*.py"))


def copy_sources(target: Path) -> None:
    """Copy both packages below `target`, without compiled files."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
