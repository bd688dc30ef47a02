"""Places for output that a user names (OUT, REPORT): nothing is written over the workflow or the files of the user."""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.errors import UserError

OF_WORKFLOW = (
    "results",
    "ranktrial",
    "scripts",
    "rules",
    "workflow",
    "profiles",
    "envs",
    "tests",
    ".snakemake",
    ".git",
    ".venv",
)


def check_new(out: Path, option: str = "OUT") -> None:
    """Raise UserError if `out` exists or is inside a folder of the workflow."""
    _check_place(out, option)
    if out.exists():
        raise UserError(f"{out}: exists already; give another {option}")


def check_folder(out: Path, marker: str, what: str, option: str = "OUT") -> None:
    """Raise UserError unless `out` is new, or a folder with only files that its file `marker` lists."""
    _check_place(out, option)
    if not out.exists():
        return
    if not out.is_dir():
        raise UserError(f"{out}: exists and is not a folder; give another {option}")
    listed = out / marker
    if listed.is_symlink() or not listed.is_file():
        raise UserError(f"{out}: exists and is not an earlier {what}; give another {option}")
    made = set(listed.read_text(errors="replace").splitlines())
    for path in sorted(out.iterdir()):
        if path.name not in made or path.is_symlink() or not path.is_file():
            raise UserError(f"{path}: was not written by an earlier {what}; move it away, or give another {option}")


def check_file(out: Path, first: str, what: str, option: str) -> None:
    """Raise UserError unless `out` is new, or a file whose first line is `first`, as an earlier one has."""
    _check_place(out, option)
    if out.exists() and not (out.is_file() and _begins_with(out, first)):
        raise UserError(f"{out}: exists and is not an earlier {what}; give another {option}")


def _check_place(out: Path, option: str) -> None:
    """Raise UserError for a link, a folder that holds the workflow, and a place inside one of its folders."""
    if not str(out).isprintable():
        raise UserError(f"{str(out)!r}: contains a character that cannot be printed; give another {option}")
    if out.is_symlink():
        raise UserError(f"{out}: is a link; give another {option}")
    here, place = Path.cwd().resolve(), out.resolve()
    own = [(here / name).resolve() for name in OF_WORKFLOW]
    if place in (here, *here.parents) or any(place.is_relative_to(folder) for folder in own):
        raise UserError(f"{out}: is a folder of the workflow; give another {option}")


def _begins_with(path: Path, first: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(first.encode()) + 1) == f"{first}\n".encode()
