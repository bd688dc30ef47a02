"""The course of a run: what happens before its first job, what is shown while it runs, which jobs run first, how it ends.

Read after all rules. While a run goes on, a line per stage says how far it is. When it ends, what the first comparison found is
printed, or the error line of each failed job is repeated.
"""

import os
import sys
from pathlib import Path

from scripts.common import interruption
from scripts.common.errors import UserError
from scripts.engine.exclusive import time_alone
from scripts.engine.failures import errors_of_logs
from scripts.engine.priorities import prefer_first
from scripts.engine.run_progress import follow
from scripts.engine.slurm import begin_run
from scripts.experiment.resolved_file import write_resolved
from scripts.progress.ending import ending
from scripts.reports.planning import figures

PLOTS = {result("figure", figure=name, figure_format="png"): name for name in EXPERIMENT.comparisons}
PROGRESS = None
time_alone(workflow, EXPERIMENT.timing)
if not AS_MODULE:  # there, rules and output are another workflow's
    prefer_first(workflow, list(PLOTS))
    PROGRESS = follow(workflow, EXPERIMENT.name, PLOTS)


def check_fonts():
    """Where figures are about to be drawn, their fonts are installed. Raises UserError, before the first job."""
    fonts = figures.fonts(EXPERIMENT) if PROGRESS and "figure" in PROGRESS.planned else {}
    if fonts:
        from scripts.reports.figures.fonts import check_font  # it loads matplotlib, which a plan does without

    for font, key in fonts.items():
        check_font(font, f"{CONFIG_NAME}: {key}")


def begin():
    """At the start of a run that is no dry run: record its inputs, and on Slurm end the jobs that an earlier run left."""
    if not Path(PATH_TO_REPOSITORY, "scripts").is_dir():
        sys.exit(f"error: {Path.cwd()}: run snakemake in {REPOSITORY}, whose scripts the jobs start")
    OWN_DATA.begin_run(own_data())
    try:
        check_fonts()
        write_resolved(config, CONFIG_NAME, Path(RESULTS))
    except UserError as error:
        sys.exit(f"error: {error}")
    begin_run(workflow, RESULTS)
    if PROGRESS:
        PROGRESS.begin()


onstart:
    begin()


onsuccess:
    if PROGRESS:
        PROGRESS.end("finished")
    with_pages = PROGRESS and "report" in PROGRESS.planned
    for line in ending(Path(RESULTS)) if with_pages else ():
        print(line)


onerror:  # Slurm's own logs are read as well: a job may fail before its rule's log exists
    if PROGRESS:
        PROGRESS.end("failed")
        print(f"Snakemake's log: {os.path.relpath(log[0])}", file=sys.stderr)
    if PROGRESS and PROGRESS.stopped:
        print(interruption.SAID, file=sys.stderr)
    else:
        for line in errors_of_logs([Path(RESULTS, "logs"), Path(".snakemake/slurm_logs")], STARTED):
            print(line, file=sys.stderr)
