"""How many threads a job may use."""

from __future__ import annotations

import os

from scripts.common.numerals import integer


def threads() -> int:
    """How many threads this job may use: OMP_NUM_THREADS, which Snakemake sets, or all cores there are."""
    given = integer(os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip())  # OpenMP takes one a level: 4,2
    return given if given and given > 0 else os.cpu_count() or 1
