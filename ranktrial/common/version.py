"""The version of ranktrial, for the report, archives and `make help`, and the commit of the running sources.

CITATION.cff and CHANGELOG.md say the same version. Reads git's repositories, or what the installer recorded; writes
nothing.
"""

from __future__ import annotations

import json
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ranktrial.common.home import HOME

VERSION = "0.1.0"


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


def installed_from() -> tuple[str | None, str | None]:
    """The commit and the address from which ranktrial was installed, as pip records them; None where it did not."""
    try:
        recorded = json.loads(distribution("ranktrial").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None, None
    return recorded.get("vcs_info", {}).get("commit_id"), recorded.get("url")


def commit_of(root: Path, *sources: str) -> str | None:
    """The commit of the clone `root`, and whether its sources (by default all files) differ from it."""
    if not is_clone(root) or not (commit := git(root, "rev-parse", "HEAD")):
        return None
    changed = git(root, "status", "--porcelain", "--untracked-files=no", "--", *sources)
    return commit.strip() + (", with changes to the sources" if changed else "")


def commit_text(root: Path = HOME, here: Path | None = None) -> str:
    """The commit of our sources, in `root` or as installed; and of the experiment's repository, if `here` is one."""
    ours = commit_of(root, "Snakefile", "rules", "scripts", "ranktrial") or (root == HOME and installed_from()[0])
    found = ours or "not known: the sources lie in no git repository"
    of_experiment = commit_of(here) if here and here.resolve() != root else None
    return f"{found}; the experiment's repository: {of_experiment}" if of_experiment else found
