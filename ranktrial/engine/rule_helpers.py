"""Helpers for rules: constraints of wildcards, and a job's inputs as options of its script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that allows these names and no other (nothing at all if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def options(inputs: Any) -> list[str]:
    """The named inputs of a job as options of its script, without inputs that this job does not have."""
    words = []
    for name, files in inputs.items():
        words += [f"--{name.replace('_', '-')}", *([files] if isinstance(files, str) else files)]
    return words
