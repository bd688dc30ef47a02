"""The workflow's sources: their files, their commit, and the changes since that commit.

Needs only Python, as checking the hashes of an archive does.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.home import HOME, home_of
from ranktrial.common.version import git, installed_from, is_clone

SOURCES = ["Snakefile", "Makefile", "LICENSE", "CITATION.cff", "README.md", "pyproject.toml", "setup.py",
           "requirements.*", "rules/**/*", "scripts/**/*", "ranktrial/**/*", "envs/*", "profiles/default/*",
           "config/schema.editor.json"]  # fmt: skip


def source_files(root: Path | None = None) -> list[str]:
    """The workflow's sources, our own or those below `root`, as paths in the repository: what a run needs."""
    places = [(root or home_of(pattern), pattern) for pattern in SOURCES]
    files = {path.relative_to(place) for place, pattern in places for path in place.glob(pattern) if path.is_file()}
    return sorted(path.as_posix() for path in files if "__pycache__" not in path.parts)


def our_origin() -> tuple[dict, str]:
    """The origin of our own sources, as `origin_of_sources`, and `experiment_repository`: that of the working folder.

    Installed sources have the commit that the installer recorded.
    """
    found, difference = origin_of_sources(HOME, source_files())
    commit, address = installed_from()
    if found["commit"] is None and commit:
        found = {"commit": commit, "repository": address, "dirty": False, "new": []}
    here = Path.cwd()
    if here.resolve() != HOME and is_clone(here):
        of_experiment, _ = origin_of_sources(here, ["."])
        found["experiment_repository"] = {key: of_experiment[key] for key in ("commit", "repository", "dirty")}
    return found, difference


def origin_of_sources(root: Path, sources: list[str]) -> tuple[dict, str]:
    """Commit, repository and whether the sources differ from the commit; and the difference as `git diff` prints it.

    `new` names sources that the commit does not have, which the difference does not show.
    """
    if not is_clone(root):
        return {"commit": None, "note": "the sources lay in no git repository"}, ""
    commit, address = git(root, "rev-parse", "HEAD"), git(root, "remote", "get-url", "origin")
    difference = git(root, "diff", "HEAD", "--no-color", "--no-ext-diff", "--", *sources) or ""
    tracked = set((git(root, "ls-files", "--", *sources) or "").splitlines())
    new = [path for path in sources if path not in tracked and path != "."]
    state = {"commit": commit and commit.strip(), "repository": address and address.strip()}
    return state | {"dirty": bool(difference or new), "new": new}, difference
