"""The course of a run: messages, preparation before the first job, progress, priorities of jobs, and the end.

Read after all rules. During a run, one line per stage shows its progress. At the end, the finding of the first
comparison or the error line of each failed job is printed.
"""

import os
import sys
from pathlib import Path

from ranktrial.common import processes as interruption
from ranktrial.common.errors import UserError
from ranktrial.common.extras import provide
from ranktrial.engine.deployment import take_handlers
from ranktrial.engine.display import ending
from ranktrial.engine.identity import identify, OwnPlaces
from ranktrial.engine.job_records import refuse_false_records
from ranktrial.engine.rule_helpers import complete
from ranktrial.engine.run_lock import note_code
from ranktrial.engine.run_progress import errors_of_logs, follow
from ranktrial.engine.rule_graph import prefer_first, time_alone
from ranktrial.engine.slurm import begin_run
from ranktrial.configuration.reading import write_resolved
from ranktrial.experiment.exhibits import forest
from scripts.datasets.planning import reads_with_libraries

PLOTS = {result("figure", figure=name, figure_format="png"): name for name in EXPERIMENT.comparisons}
PROGRESS = None
complete(workflow, RESULTS, MEASURED)
identify(workflow.modifier.rules, OwnPlaces(own_data(), OWN_DATA.sha256, RESULTS))
time_alone(workflow, EXPERIMENT.timing)
if not AS_MODULE:  # in a module, rules and output belong to another workflow
    prefer_first(workflow, list(PLOTS))
    PROGRESS = follow(workflow, EXPERIMENT.name, PLOTS)


def check_fonts():
    """Check that the fonts of planned figures are installed. Raises UserError before the first job."""
    fonts = forest.fonts(EXPERIMENT) if PROGRESS and "figure" in PROGRESS.planned else {}
    if fonts:
        from ranktrial.reports.figures.fonts import check_font

    for font, key in fonts.items():
        check_font(font, f"{CONFIG_NAME}: {key}")


def extras_needed():
    """The extras of the jobs that will run: those of the whole experiment, if its data are fetched for a later run."""
    if workflow.deployment_settings.deployment_method:
        return set()  # conda or a container has them
    of_run = [job.rule for job in workflow.dag.needrun_jobs()]
    of_run += [rule for rule, _ in graph().jobs.values()] if "prepare" in {rule.name for rule in of_run} else []
    extras = {Path(str(rule.conda_env)).stem for rule in of_run if rule.conda_env}
    return extras | ({"datasets"} if extras - {"workflow"} or reads_with_libraries(EXPERIMENT) else set())


def begin():
    """Start a run (not a dry run): record its inputs and, on Slurm, cancel the jobs that an earlier run left."""
    OWN_DATA.begin_run(own_data())
    try:
        refuse_false_records(workflow)
        check_fonts()
        provide(extras_needed(), CONFIG_NAME)
        write_resolved(config, CONFIG_NAME, Path(RESULTS))
    except UserError as error:
        sys.exit(f"error: {error}")
    note_code(workflow)
    begin_run(workflow, RESULTS, PROGRESS.waits if PROGRESS else lambda queue: None)
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


if DEPLOYED:
    take_handlers(workflow)
