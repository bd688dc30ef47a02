"""The workflow's sources: their files, their commit, and the changes since that commit.

Needs only Python, as checking the hashes of an archive does.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.version import git, is_clone

SOURCES = ["Snakefile", "Makefile", "LICENSE", "CITATION.cff", "README.md", "pyproject.toml", "requirements.*",
           "rules/**/*", "scripts/**/*", "ranktrial/**/*", "envs/*", "profiles/default/*",
           "config/schema.editor.json"]  # fmt: skip


def source_files(root: Path) -> list[str]:
    """The workflow's sources below `root`, as paths relative to it: all that a run needs, without tests."""
    files = {path for pattern in SOURCES for path in root.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(root).as_posix() for path in files if "__pycache__" not in path.parts)


def origin_of_sources(root: Path, sources: list[str]) -> tuple[dict, str]:
    """Commit, repository and whether the sources differ from the commit; and the difference as `git diff` prints it.

    `new` names sources that the commit does not have, which the difference does not show.
    """
    if not is_clone(root):
        return {"commit": None, "note": "the sources lay in no git repository"}, ""
    commit, address = git(root, "rev-parse", "HEAD"), git(root, "remote", "get-url", "origin")
    difference = git(root, "diff", "HEAD", "--no-color", "--no-ext-diff", "--", *sources) or ""
    tracked = set((git(root, "ls-files", "--", *sources) or "").splitlines())
    new = [path for path in sources if path not in tracked]
    state = {"commit": commit and commit.strip(), "repository": address and address.strip()}
    return state | {"dirty": bool(difference or new), "new": new}, difference
