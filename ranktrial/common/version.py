"""The version of ranktrial and the commit of its sources.

The version of ranktrial, for the report, archives and `make help`; CITATION.cff and CHANGELOG.md say the same.

The git commit of the running sources; writes nothing.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

VERSION = "0.1.0"


ROOT = Path(__file__).resolve().parents[2]


def git(root: Path, *arguments: str) -> str | None:
    """The output of git; None without git, or if `root` is not in a clone."""
    try:
        process = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return process.stdout if process.returncode == 0 else None


def is_clone(root: Path) -> bool:
    """Whether `root` is the top folder of a clone, not a folder inside one."""
    top = git(root, "rev-parse", "--show-toplevel")
    return top is not None and Path(top.strip()).resolve() == root.resolve()


def commit_text(root: Path = ROOT) -> str:
    """The commit of the sources in `root`, and whether they differ from it."""
    if not is_clone(root) or not (commit := git(root, "rev-parse", "HEAD")):
        return "not known: the sources lie in no git repository"
    changed = git(
        root, "status", "--porcelain", "--untracked-files=no", "--", "Snakefile", "rules", "scripts", "ranktrial"
    )
    return commit.strip() + (", with changes to the sources" if changed else "")
