"""What the command lines of all scripts share: paths as options and a job's settings as one JSON object."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def parser(description: str | None, *paths: str, settings: bool = True) -> argparse.ArgumentParser:
    """An argument parser whose options are `paths` (required, as Path) and `--settings` (a JSON object).

    A path name ending in `*` takes any number of values.
    """
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in paths:
        many = {"nargs": "*", "default": []} if name.endswith("*") else {"required": True}
        made.add_argument(f"--{name.rstrip('*')}", type=Path, **many)
    if settings:
        made.add_argument("--settings", type=json.loads, required=True, help="the job's settings, a JSON object")
    return made
