"""A job of the workflow, called in this process with what its command line would give it."""

import inspect
import json
from pathlib import Path
from typing import get_type_hints

from ranktrial.common.command_line import FURTHER, settings_of
from ranktrial.common.settings import read_settings


def call(function, settings: dict | None = None, **files) -> None:
    """Run a job's function: `settings` as they stand in the command, as JSON; files left out are none or no list."""
    hints, record = get_type_hints(function, include_extras=True), settings_of(function)
    read = read_settings(record, json.loads(json.dumps(settings or {})))
    paths = {name: [*map(Path, given)] if isinstance(given, list) else Path(given) for name, given in files.items()}
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] == list[Path] and parameter.kind != FURTHER:
            given = paths.get(name, [])
            paths[name] = given if isinstance(given, list) else [given]
        elif hints[name] == Path | None:
            paths.setdefault(name, None)
    function(**paths, **({"settings": read} if hints.get("settings") is record else vars(read)))
