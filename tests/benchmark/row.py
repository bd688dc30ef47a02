"""What a row of the benchmark is: one task, done the plain way of a library's documentation and ours, on the same inputs.

A row is one module in rows/. `prepare` writes the inputs into a folder once; `SIDES` say, by name, how each way is
readied there: loading, and a warm-up, are not timed. What it returns does the work, which is, and gives the result as
arrays; `agree` compares two of these.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol, cast

import numpy as np

from tests.benchmark.limits import on_gpu

Result = dict[str, np.ndarray]
Work = Callable[[], Result]


class Row(Protocol):
    """A module of rows/."""

    TITLE: str  # what is done, and by what the plain way does it
    UNIT: str  # of what is counted
    SIDES: dict[str, Callable[[Path], Work]]  # "plain" first, then "ours", and maybe "ours, int8" or "ours, bf16"
    ONCE: bool  # each side runs once, whatever the repeats, since it repeats its work itself
    NEEDS: str  # a package that is none of the project's; rows without it need none
    BY_COMMANDS: bool  # whether commands do the work, whose memory counts; without it, the process does

    def prepare(self, folder: Path, small: bool) -> int:
        """Write the inputs, few of them if `small`; returns how many units the work has."""

    def operations(self, folder: Path) -> float:
        """How many floating-point operations the work needs at least; rows without it have no limit to compare with."""

    def agree(self, side: str, plain: Result, ours: Result) -> str:
        """How far a side's result is from the plain one, in words. Raises AssertionError where that is too far."""


def sides(of: Row) -> list[str]:
    """The sides that run on this machine: other precisions are for processors."""
    return [side for side in of.SIDES if not (on_gpu() and side.startswith("ours, "))]


def lacking(of: Row) -> str | None:
    """What to do before a row can run here; None where it can."""
    package = getattr(of, "NEEDS", None)
    if package is None or find_spec(package):
        return None
    return f"{package} is not installed: .venv/bin/python -m pip install {package}"


def names() -> list[str]:
    """The names of all rows."""
    return sorted(module.name for module in iter_modules([str(Path(__file__).parent / "rows")]))


def row(name: str) -> Row:
    """The row of a name."""
    return cast(Row, import_module(f"tests.benchmark.rows.{name}"))
