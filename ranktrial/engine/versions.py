"""The version of Snakemake with which the workflow was tested; a newer one only causes a warning."""

from __future__ import annotations

import re

TESTED = (9, 27)


def newer_than_tested(version: str) -> str | None:
    """A warning if this version of Snakemake is newer than the tested one; else None."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not numbers or tuple(map(int, numbers.groups())) <= TESTED:
        return None
    tested = ".".join(map(str, TESTED))
    return f"Snakemake {version} is newer than {tested}, with which this workflow was tested"
