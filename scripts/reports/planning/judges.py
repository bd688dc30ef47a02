"""Inputs of the tables of judges: files and settings. See rules/pages.smk."""

from __future__ import annotations

from collections.abc import Iterable

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import job_files
from ranktrial.experiment.judged import judges_of, ranked_by
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path

PAGES = ("md", "tsv")


def tables(experiment: Experiment, formats: Iterable[str] = PAGES) -> list[str]:
    """The tables of all judges."""
    return [
        path("judge_table", experiment=experiment.name, dataset=dataset, page_format=page_format)
        for dataset in judges_of(experiment)
        for page_format in formats
    ]


def inputs(experiment: Experiment, dataset: str) -> dict[str, list[str]]:
    """The judgements of humans and of the model, its timing, and the metrics of all systems by both."""
    human = ranked_by(experiment, dataset)
    model = next(task for task in experiment.tasks.values() if task.dataset == dataset)
    systems = [system for system in experiment.systems.values() if system.ranks(human.name)]
    of_both = [[job_files.metrics(experiment, system, task) for system in systems] for task in (human, model)]
    human_metrics, model_metrics = ([file for files in of_systems for file in files] for of_systems in of_both)
    return {
        "human": [job_files.qrels(experiment, human)],
        "model": [job_files.qrels(experiment, model)],
        "timing": [path("judge_timing", experiment=experiment.name, dataset=dataset)],
        "human_metrics": human_metrics,
        "model_metrics": model_metrics,
    }


def settings(experiment: Experiment, dataset: str) -> JsonObject:
    """The measures by which systems are compared."""
    holes = {"holes": True} if judges_of(experiment)[dataset].fill == "holes" else {}
    compared = [measure for measure in experiment.measures if not measure.startswith("Judged@")]
    return {"measures": compared, **holes}
