"""A script of the workflow, called in this process with its command line."""

import json
import sys
from pathlib import Path


def call(monkeypatch, script, settings: dict | None, **paths: Path | list[Path]) -> None:
    """Run a script's `main`; `paths` are its options, with underscores for hyphens. Without settings it takes none."""
    options = []
    for name, given in paths.items():
        many = given if isinstance(given, list) else [given]
        options += [f"--{name.replace('_', '-')}", *map(str, many)]
    options += [] if settings is None else ["--settings", json.dumps(settings)]
    monkeypatch.setattr(sys, "argv", ["script", *options])
    script.main()
