"""The version of Snakemake that the workflow was tested with; a newer one is worth a warning, and no more."""

from __future__ import annotations

import re

TESTED = (9, 27)


def newer_than_tested(version: str) -> str | None:
    """A warning where this version of Snakemake is newer than the tested one; None where it is not."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not numbers or tuple(map(int, numbers.groups())) <= TESTED:
        return None
    tested = ".".join(map(str, TESTED))
    return f"Snakemake {version} is newer than {tested}, with which this workflow was tested"
