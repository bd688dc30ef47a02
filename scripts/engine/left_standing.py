"""Results that a run leaves as they are although they were made with other settings or from other inputs.

With `--rerun-triggers mtime` (or any choice that lacks `params` or `input`) Snakemake looks at dates alone: numbers of
an earlier configuration stay, and nothing is said. Its records know better, so they are asked here when a run or a dry
run ends. A run in which there is nothing to do calls no hook, hence the end of the process is taken.

None of `dag`, `persistence` and `rerun_triggers` is documented for this: tests/engine/test_snakemake_inside.py fails
where a new version has other ones.
"""

from __future__ import annotations

import atexit
import sys
from typing import Any

USED = ("params", "input")  # the triggers that tell what made a file


def left_standing(workflow: Any) -> list[str]:
    """The outputs of jobs that did not run, and whose settings or inputs are not those that their records name."""
    if workflow.dag_settings is None or workflow.dag is None or workflow.persistence is None:
        return []  # it ended before it planned
    triggers = {str(trigger) for trigger in workflow.rerun_triggers}
    if triggers.issuperset(USED):
        return []
    known = workflow.persistence
    jobs = [job for job in workflow.dag.jobs if not workflow.dag.needrun(job)]
    changed = [job for job in jobs if known.params_changed(job) or any(known.input_changed(job))]
    return sorted(str(path) for job in changed for path in job.output)


def warn_at_the_end(workflow: Any) -> None:
    """Have the process say, when it ends, which results it left as they are."""

    def warn() -> None:
        if files := left_standing(workflow):
            what = f"{len(files)} files were made with other settings or inputs than the configuration now has"
            cure = "without --rerun-triggers they are made again"
            print(f"warning: {what}, and stay as they are, such as {files[0]}; {cure}", file=sys.stderr)

    atexit.register(warn)
