"""The number of threads of a job."""

from __future__ import annotations

import os

from ranktrial.common.wording import integer


def threads() -> int:
    """The number of threads that this job may use: OMP_NUM_THREADS, which Snakemake sets, or all cores."""
    given = integer(os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip())  # OpenMP allows 4,2
    return given if given and given > 0 else os.cpu_count() or 1
