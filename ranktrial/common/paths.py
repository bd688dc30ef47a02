"""Checks of paths from outside: a path that would leave its folder is refused."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ranktrial.common.errors import REFUSED, UserError, named

OUR_CODE = ("scripts/", "ranktrial/")  # how paths of the workflow's own Python files begin
LONGEST_NAME = 255  # bytes of one part of a path: the limit of Linux file systems


def why_not_below(name: str) -> str | None:
    """Why a relative path, written with `/`, does not name a file below its folder; None if it does."""
    if not name or name.endswith("/") or PurePosixPath(name) == PurePosixPath("."):
        return "names no file"
    if any(ord(character) < 32 or ord(character) == 127 for character in name):
        return "contains a control character"
    if "\\" in name:
        return "contains a backslash"
    if PurePosixPath(name).is_absolute():
        return "is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of its folder"
    if "" in parts or "." in parts:
        return "is not in its shortest form"
    if any(len(part.encode(errors="surrogatepass")) > LONGEST_NAME for part in parts):
        return f"contains a name of more than {LONGEST_NAME} bytes"
    return None


def below(folder: Path, name: str, where: str) -> Path:
    """The path of `name` (relative, with `/`) below `folder`.

    Raises UserError, beginning with `where`, for a name that is not clearly that of a file below the folder, or that
    passes through a link.
    """
    if reason := why_not_below(name):
        raise UserError(f"{where}: refused, the path {name!r} {reason}")
    path = folder / name
    for part in [path, *path.parents]:
        if part == folder:
            return path
        if part.is_symlink():
            raise UserError(f"{where}: refused, the path {name!r} goes through a link")
    return path


def why_no_clone(folder: str) -> str | None:
    """Why this folder cannot contain a clone, as a message of one line; None if it can.

    Snakemake reads braces as wildcards, a colon separates search paths, and the other characters have a meaning in a
    shell or in make.
    """
    character = next(
        (character for character in folder if character in "$`\\\"'{}*?[]<>|:" or REFUSED.match(character)), None
    )
    if character is None:
        return None
    shown = character if character.isprintable() else named(character)
    problem = f"the folder's path contains {shown}"
    return f"{folder}: {problem}; expected letters, digits, spaces and . _ -, so move the folder"
