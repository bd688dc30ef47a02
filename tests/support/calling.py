"""A job of the workflow, called in this process with its command line."""

import json
import sys
from pathlib import Path
from types import ModuleType

from ranktrial.common.command_line import arguments_of


def call(monkeypatch, function, settings: dict | None, **paths: Path | list[Path]) -> None:
    """Run a job's function; `paths` are its options, with underscores for hyphens. Without settings it takes none.

    A module is a script, whose `main` reads the command line.
    """
    options = []
    for name, given in paths.items():
        many = given if isinstance(given, list) else [given]
        options += [f"--{name.replace('_', '-')}", *map(str, many)]
    options += [] if settings is None else ["--settings", json.dumps(settings)]
    monkeypatch.setattr(sys, "argv", ["script", *options])
    if isinstance(function, ModuleType):
        function.main()
    else:
        function(**arguments_of(function))
