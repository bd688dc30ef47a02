"""Paths and settings of study design jobs. See rules/study_design.smk."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, stated
from ranktrial.experiment import job_files
from ranktrial.experiment.comparisons import loaded_modules
from ranktrial.experiment.exhibits import study_design
from ranktrial.experiment.records import Comparison, Experiment
from ranktrial.experiment.results_paths import FIGURE_FORMATS, TABLE_FORMATS, path
from ranktrial.experiment.system_types import seeds_matter, system_type


def compared(experiment: Experiment, plan: str) -> list[Comparison]:
    """The comparison whose variances a plan uses; None if they are assumed."""
    return [] if experiment.study.plans[plan].assumed else [experiment.comparisons[plan]]


def modules(experiment: Experiment, plan: str) -> list[str]:
    """The modules of the effect, estimator and intervals of the comparison whose variances a plan uses."""
    return loaded_modules(compared(experiment, plan))


def plan_files(experiment: Experiment) -> list[str]:
    """All plans."""
    return [path("study_design", experiment=experiment.name, plan=plan) for plan in experiment.study.plans]


def figure_files(experiment: Experiment) -> list[str]:
    """The figures of all plans."""
    return [
        path("figure", experiment=experiment.name, figure=name, figure_format=figure_format)
        for name in study_design.names(experiment)
        for figure_format in FIGURE_FORMATS
    ]


def tables(experiment: Experiment) -> list[str]:
    """The tables of all plans together."""
    return [path("study_designs", experiment=experiment.name, table_format=one) for one in TABLE_FORMATS]


def asked(experiment: Experiment) -> list[str]:
    """The outputs that are made with the other results, if the configuration plans a study."""
    return tables(experiment) if experiment.study.configured else []


def plan_inputs(experiment: Experiment, plan: str) -> dict[str, list[str]]:
    """The effects, metrics files and costs behind a plan; none if its variances are assumed."""
    if experiment.study.plans[plan].assumed:
        return {name: [] for name in ("effects", "meta", "control", "treatment", "costs")}
    return {
        **{name: [path(name, experiment=experiment.name, comparison=plan)] for name in ("effects", "meta")},
        **job_files.compared_metrics(experiment, plan),
        "costs": [path("costs", experiment=experiment.name)],
    }


def plan_settings(experiment: Experiment, plan: str) -> JsonObject:
    """The settings of a plan, including properties of its systems that are in no file."""
    settings: dict[str, object] = {"plan": plan, **stated(experiment.study.plans[plan])}
    for comparison in compared(experiment, plan):
        systems = list(dict.fromkeys([comparison.control, comparison.treatment]))
        types = {name: system_type(experiment.systems[name]) for name in systems}
        folders = {
            experiment.tasks[task].folder: experiment.tasks[other].folder
            for task, other in comparison.treatment_on.items()
        }
        settings["compared"] = {
            "control": comparison.control,
            "treatment": comparison.treatment,
            "trained": [name for name in systems if seeds_vary(experiment, name)],
            "given": [name for name in systems if not types[name].computed],
            **({"treatment_on": folders} if folders else {}),
        }
    return settings


def seeds_vary(experiment: Experiment, name: str) -> bool:
    """Whether a system's runs depend on a training, its own or that of an input system."""
    system = experiment.systems[name]
    if system.recipes or seeds_matter(system):
        return True
    return any(seeds_vary(experiment, taken) for taken in system_type(system).takes(system))
