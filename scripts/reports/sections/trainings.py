"""Learning curves: the loss over the steps, and a measure over the number of training queries. On the page only."""

from __future__ import annotations

import itertools
from dataclasses import replace

from ranktrial.common.keys import JsonObject
from ranktrial.configuration.sections.recipe import Recipe
from ranktrial.experiment import job_files
from ranktrial.experiment.choosing import members_of_choices
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.timings import timed_systems
from ranktrial.reports.writing.content import Block
from scripts.reports.planning import systems_in_curves
from scripts.reports.sections import Report

NAME, PLACE = "trainings", 130


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The logs of all trainings, and the metrics of systems that differ in their number of training queries."""
    datasets = [path("datasets_table", experiment=experiment.name)]
    return {"training_logs": training_logs(experiment), "metrics": sizes_metrics(experiment), "datasets": datasets}


def settings(experiment: Experiment) -> JsonObject:
    """The systems that differ in their number of training queries."""
    return {"sizes": sizes(experiment)}


def blocks(report: Report) -> list[Block]:
    """The section, if anything was trained."""
    from ranktrial.reports.contents.training import Sizes, losses_of, size_curves, trainings

    facts, groups = report.facts, report.settings(NAME, Sizes).sizes
    datasets = report.table("datasets")
    sizes = size_curves(groups, report.files["metrics"], datasets, facts.measures[0], facts.labels)
    lines = losses_of(report.files["training_logs"])
    return [trainings(sizes, lines)] if sizes.panels or lines else []


def in_summary(report: Report) -> list[Block]:
    """Nothing."""
    return []


def training_logs(experiment: Experiment) -> list[str]:
    """The logs of every training behind a system, and of those that it starts from."""
    logs: dict[str, None] = {}  # in the order of the configuration
    for system in timed_systems(experiment).values():
        for recipe, seed in itertools.product(system.recipes, system.seeds):
            for trained in experiment.chain(recipe):
                fields = {"experiment": experiment.name, "model": system.model, "recipe": trained, "seed": seed}
                logs[path("training_log", **fields)] = None
                seed = experiment.starting_seed(trained, seed)
    return list(logs)


def sizes(experiment: Experiment) -> list[dict]:
    """The systems that differ in their number of training queries alone, in groups, each with its untrained system.

    Those that are shown by `curves` of the configuration are left out.
    """
    groups: dict[tuple, dict[str, Recipe]] = {}
    untrained: dict[tuple, str] = {}
    drawn = systems_in_curves(experiment)
    for name, system in timed_systems(experiment).items():
        ranks = (system.type, system.model, system.first_stage, system.depth)
        if not system.recipes:
            untrained[ranks] = name
        if system.recipe not in experiment.recipes or name in drawn or name in members_of_choices(experiment):
            continue
        recipe = experiment.recipes[system.recipe]
        if recipe.chosen:
            continue
        alike = replace(recipe, queries="all", epochs=1, checkpoint_steps=1)  # these may go with the number of queries
        groups.setdefault((ranks, alike), {})[name] = recipe
    described = []
    for (ranks, _), members in groups.items():
        if len({recipe.queries for recipe in members.values()}) > 1:
            first, recipe = next(iter(members.items()))
            described.append(
                {
                    "name": f"{ranks[1]} trained on {' + '.join(recipe.datasets)}, from {first}",
                    "systems": {name: recipe.queries for name, recipe in members.items()},
                    "train_on": recipe.train_on,
                    "untrained": untrained.get(ranks),
                }
            )
    return described


def sizes_metrics(experiment: Experiment) -> list[str]:
    """The metrics of the systems in `sizes`."""
    names = {name for group in sizes(experiment) for name in [*group["systems"], group["untrained"]] if name}
    systems = [system for name, system in experiment.systems.items() if name in names]
    return [
        metrics
        for system in systems
        for task in experiment.runs_of(system)
        for metrics in job_files.metrics(experiment, system, task)
    ]
