"""Results that a run leaves unchanged although they were made with other settings or from other inputs.

With `--rerun-triggers mtime` (or any choice without `params` or `input`), Snakemake compares only dates: numbers of an
earlier configuration stay, without a warning. Its records show this, so they are checked here when a run or a dry run
ends. A run with nothing to do calls no hook, so this runs at the end of the process.

`dag`, `persistence` and `rerun_triggers` are not documented for this use: tests/engine/test_snakemake_inside.py fails
if a new version changes them.
"""

from __future__ import annotations

import atexit
import sys
from typing import Any

USED = ("params", "input")  # the triggers that depend on how a file was made


def left_standing(workflow: Any) -> list[str]:
    """The outputs of jobs that did not run and whose settings or inputs differ from their records."""
    if workflow.dag_settings is None or workflow.dag is None or workflow.persistence is None:
        return []  # it ended before planning
    triggers = {str(trigger) for trigger in workflow.rerun_triggers}
    if triggers.issuperset(USED):
        return []
    known = workflow.persistence
    jobs = [job for job in workflow.dag.jobs if not workflow.dag.needrun(job)]
    changed = [job for job in jobs if known.params_changed(job) or any(known.input_changed(job))]
    return sorted(str(path) for job in changed for path in job.output)


def warn_at_the_end(workflow: Any) -> None:
    """Warn at the end of the process about the results that it left unchanged."""

    def warn() -> None:
        if files := left_standing(workflow):
            what = f"{len(files)} files were made with other settings or inputs than the configuration now has"
            cure = "without --rerun-triggers they are made again"
            print(f"warning: {what}, and stay as they are, such as {files[0]}; {cure}", file=sys.stderr)

    atexit.register(warn)
