"""Paths and settings of the jobs of matrices and curves, from the experiment. See rules/transfer.smk."""

from __future__ import annotations

from dataclasses import asdict

from ranktrial.common.keys import JsonObject
from ranktrial.configuration.sections.recipe import ALL
from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.synthesis_records import CurvePoint


def matrix_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of all cells of a matrix."""
    return _metrics(experiment, [(cell.system, cell.target) for cell in experiment.matrices[name].cells])


def matrix_settings(experiment: Experiment, name: str) -> JsonObject:
    """The cells of a matrix, and the level of its marks."""
    matrix = experiment.matrices[name]
    cells = [asdict(cell) | {"target": experiment.tasks[cell.target].folder} for cell in matrix.cells]
    return {"measure": matrix.measure, "alpha": matrix.alpha, "cells": cells}


def curves_metrics(experiment: Experiment, curve: str) -> list[str]:
    """The metrics files of all points of curves, and of their baseline."""
    curves = experiment.curves[curve]
    points = [(point.system, point.target) for point in curves.points]
    return _metrics(experiment, [*points, *((curves.baseline, target) for target in curves.targets)])


def curves_timings(experiment: Experiment, curve: str) -> list[str]:
    """The timings of the trainings with all queries of a target, which have the numbers of queries."""
    files: dict[str, None] = {}
    for point in experiment.curves[curve].points:
        if point.queries == ALL:
            model, recipe = _checkpoint(experiment, point)
            for seed in experiment.systems[point.system].seeds:
                fields = {"model": model, "recipe": recipe, "seed": seed}
                files[path("checkpoint_timing", experiment=experiment.name, **fields)] = None
    return list(files)


def curves_settings(experiment: Experiment, curve: str) -> JsonObject:
    """The points of curves, and their comparisons."""
    curves = experiment.curves[curve]
    points = []
    for point in curves.points:
        given = asdict(point) | {"target": experiment.tasks[point.target].folder}
        if point.queries == ALL:
            given["checkpoint"] = "/".join(_checkpoint(experiment, point))
        if point.queries != 0 and (seed := _start_seed(experiment, point)) is not None:
            given["start_seed"] = seed
        points.append(given)
    return {
        "measure": curves.measure,
        "alpha": curves.alpha,
        "baseline": curves.baseline,
        "points": points,
        "datasets": {experiment.tasks[task].folder: experiment.tasks[task].dataset for task in curves.targets},
    }


def _checkpoint(experiment: Experiment, point: CurvePoint) -> tuple[str, str]:
    """The model and recipe with which a point's system ranks its target."""
    system = experiment.systems[point.system]
    assert system.model is not None  # a point is a trained model
    return system.model, system.recipe_on(experiment.tasks[point.target].ranked_dataset)


def _start_seed(experiment: Experiment, point: CurvePoint) -> int | None:
    """The one seed of the starting point from which all seeds start; None if each starts from its own."""
    fixed = experiment.recipes[_checkpoint(experiment, point)[1]].start_seed
    return None if fixed == "same" else int(fixed)


def _metrics(experiment: Experiment, ranked: list[tuple[str, str]]) -> list[str]:
    return [
        file
        for system, task in dict.fromkeys(ranked)
        for file in job_files.metrics(experiment, experiment.systems[system], experiment.tasks[task])
    ]
