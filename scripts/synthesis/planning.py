"""What the jobs of synthesis are given: paths and settings, from the experiment and the wildcards of
rules/synthesis.smk and rules/multiple_comparisons.smk.
"""

from __future__ import annotations

from typing import Any

from scripts.experiment import job_files
from scripts.experiment.records import Experiment


def control_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of a comparison's control on all its tasks."""
    comparison = experiment.comparisons[name]
    return _metrics(experiment, comparison.control, comparison.tasks)


def treatment_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of a comparison's treatment on the tasks on which it is scored."""
    comparison = experiment.comparisons[name]
    tasks = [comparison.treatment_on.get(task, task) for task in comparison.tasks]
    return _metrics(experiment, comparison.treatment, tasks)


def comparison_settings(experiment: Experiment, name: str) -> dict[str, Any]:
    """Who is compared, and how. Tasks of `treatment_on` are given by their folders, as paths name them."""
    comparison = experiment.comparisons[name]
    tasks = experiment.tasks
    folders = {
        tasks[task].folder: tasks[treatment_task].folder for task, treatment_task in comparison.treatment_on.items()
    }
    measured = comparison.settings
    lower = measured.get("margin") is not None and measured["measure"] in experiment.lower_is_better
    return {
        "control": comparison.control,
        "treatment": comparison.named(comparison.treatment),
        **({"treatment_on": folders} if folders else {}),
        "seed": experiment.seed,
        **({"lower_is_better": True} if lower else {}),
        **measured,
    }


def compared_queries(experiment: Experiment, name: str) -> dict[str, Any]:
    """What is compared on single queries."""
    settings = comparison_settings(experiment, name)
    lower = settings["measure"] in experiment.lower_is_better
    told = {key: settings[key] for key in ("measure", "alpha", "treatment_on") if key in settings}
    return told | ({"lower_is_better": True} if lower else {})


def family_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of all systems of a multiple comparison on all its tasks."""
    family = experiment.families[name]
    return [file for system in family.systems for file in _metrics(experiment, system, family.tasks)]


def family_settings(experiment: Experiment, name: str) -> dict[str, Any]:
    """Which systems are compared at once, and how."""
    family = experiment.families[name]
    return {"systems": list(family.systems), "seed": experiment.seed, **family.settings}


def _metrics(experiment: Experiment, system: str, tasks: list[str] | tuple[str, ...]) -> list[str]:
    ranker = experiment.systems[system]
    return [file for task in tasks for file in job_files.metrics(experiment, ranker, experiment.tasks[task])]
