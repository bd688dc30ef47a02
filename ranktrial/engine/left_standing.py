"""Results that a run leaves unchanged although they were made with other settings or from other inputs.

With `--rerun-triggers mtime` (or any choice without `params` or `input`), Snakemake compares only dates: numbers of an
earlier configuration stay, without a warning. Its records show this, so they are checked here when a run or a dry run
ends. A run with nothing to do calls no hook, so this runs at the end of the process. `--touch`, which would replace
such records by false ones, is refused.

`dag`, `persistence` and `rerun_triggers` are not documented for this use: tests/engine/test_snakemake_inside.py fails
if a new version changes them.
"""

from __future__ import annotations

import atexit
import sys
from typing import Any

from ranktrial.common.errors import UserError

USED = ("params", "input")  # the triggers that depend on how a file was made


def left_standing(workflow: Any) -> list[str]:
    """The outputs of jobs that did not run and whose settings or inputs differ from their records."""
    if workflow.dag_settings is None or workflow.dag is None or workflow.persistence is None:
        return []  # it ended before planning
    triggers = {str(trigger) for trigger in workflow.rerun_triggers}
    if triggers.issuperset(USED):
        return []
    return _otherwise(workflow, [job for job in workflow.dag.jobs if not workflow.dag.needrun(job)])


def refuse_false_records(workflow: Any) -> None:
    """Raise UserError if `--touch` would record settings or inputs with which no job made the files."""
    if not workflow.touch:
        return
    dag = workflow.dag
    planned = [job for job in dag.jobs if dag.needrun(job) and workflow.persistence.has_metadata(job)]
    newer = [job for job in planned if dag.reason(job).updated_input]
    if files := sorted({*_otherwise(workflow, planned), *(str(path) for job in newer for path in job.output)}):
        what = f"{len(files)} files were made with other settings, code or inputs than now, such as {files[0]}"
        raise UserError(
            f"--touch: {what}; run them again (--touch is for files without a record of how they were made)"
        )


def _otherwise(workflow: Any, jobs: list[Any]) -> list[str]:
    """The outputs of the jobs whose records differ from their settings, code or inputs."""
    known = workflow.persistence
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
