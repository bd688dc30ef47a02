"""Places and configurations that a user names.

For output (OUT, REPORT), nothing is written over the workflow or the files of the user.

Configurations in a folder are grouped by their key `experiment`. A file that cannot be read does not stop anything: it
may be another experiment that is being written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import read_yaml

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


FOLDER = Path("config")


class Configurations(NamedTuple):
    """The configurations of each experiment, and the error message of each file that cannot be read."""

    of: dict[str, list[Path]]
    broken: list[str]


def configurations(folder: Path = FOLDER) -> Configurations:
    """The configurations in a folder."""
    found = Configurations({}, [])
    for file in sorted(folder.glob("*.yaml")):
        try:
            name = read_yaml(file).get("experiment")
        except UserError as error:
            found.broken.append(str(error))
            continue
        if name:
            found.of.setdefault(str(name), []).append(file)
    return found


def shared(experiment: str, files: Sequence[Path]) -> str:
    """The message that several configurations name the same experiment."""
    return f"{' and '.join(map(str, files))} have the same name, experiment: {experiment}, so they share its results"


def of_same_name(experiment: str, config: Path, folder: Path = FOLDER) -> list[str]:
    """A message if further configurations in the folder of `config` name its experiment; else empty."""
    files = configurations(folder).of.get(experiment, []) if config.parent == folder else []
    return [f"{shared(experiment, files)}; give one of them another name"] if len(files) > 1 else []
