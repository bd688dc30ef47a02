"""The first sentence: the numbers of systems, tasks and comparisons, and the measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path

if TYPE_CHECKING:
    from ranktrial.reports.writing.content import Block
    from scripts.reports.sections import Report

NAME, PLACE = "lead", 10


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The means, and the results of all comparisons."""
    return {"means": [path("means", experiment=experiment.name)], "meta": job_files.of_comparisons(experiment, "meta")}


def blocks(report: Report) -> list[Block]:
    """The sentence."""
    from ranktrial.common.tables import MEANS
    from ranktrial.reports.writing.content import Paragraph, counted

    means, compared = report.table("means", *MEANS), len(report.files["meta"])
    said = f"{counted(means['system'].nunique(), 'system')} on {counted(means['task'].nunique(), 'task')}"
    said += f", {counted(compared, 'comparison')}" if compared else ""
    return [Paragraph(f"{said}. Measures: {', '.join(report.facts.measures)}.")]
