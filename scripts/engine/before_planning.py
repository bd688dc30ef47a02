"""What has to be in order before Snakemake plans: its records, the dates of the results, marks of unfinished files.

All of it is done while the Snakefile is read, also for a dry run. Snakemake offers no later moment before it plans, and
a plan without it is wrong: without records every job is planned, with the dates of a copy finished ones are, and a
damaged record ends in a traceback. Where everything is in order, nothing is written. Jobs that Snakemake starts read
the Snakefile as well and leave this to the process that started them.
"""

from __future__ import annotations

from pathlib import Path

from scripts.engine.code_lists import fold_modules
from scripts.engine.downloads import forget_how
from scripts.engine.job_records import adopt
from scripts.engine.repair import repair


def make_ready(results: Path, experiment: str, snakemake: Path) -> list[str]:
    """Put the records and dates of an experiment in order; returns a warning for each kind of thing that was mended.

    Raises UserError where something cannot be written or read.
    """
    adopt(results, snakemake)
    warnings = repair(results, experiment, snakemake)
    forget_how(snakemake / "metadata")
    fold_modules(snakemake / "metadata")
    return warnings
