"""The configurations in a folder, grouped by their key `experiment`.

A file that cannot be read does not stop anything: it may be another experiment that is being written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import read_yaml

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
