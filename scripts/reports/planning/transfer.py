"""Inputs of the tables, figures and answers of studies of transfer: files and settings. See rules/pages.smk."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import TABLE_FORMATS, path
from ranktrial.experiment.transfer import curve_figures

ANSWERS = ("md", "tsv")


def matrix_tables(experiment: Experiment, formats: tuple[str, ...] = TABLE_FORMATS) -> list[str]:
    """The tables of all matrices."""
    return [
        path("matrix", experiment=experiment.name, matrix=name, table_format=one)
        for name in experiment.matrices
        for one in formats
    ]


def answers(experiment: Experiment, formats: tuple[str, ...] = ANSWERS) -> list[str]:
    """The answers of all matrices and curves."""
    studies = [*experiment.matrices, *(f"curves-{name}" for name in experiment.curves)]
    return [
        path("answers", experiment=experiment.name, study=study, answers_format=one)
        for study in studies
        for one in formats
    ]


def curve_tables(experiment: Experiment) -> list[str]:
    """The tables of all curves' points."""
    return [path("curves_table", experiment=experiment.name, curve=name) for name in experiment.curves]


def curve_records(experiment: Experiment) -> list[str]:
    """The records of all curves."""
    return [path("curves", experiment=experiment.name, curve=name) for name in experiment.curves]


def tables(experiment: Experiment) -> list[str]:
    """All tables of studies of transfer."""
    return [*matrix_tables(experiment), *curve_tables(experiment), *answers(experiment)]


def drawn_curves(experiment: Experiment) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Figure -> the curves it shows and their targets."""
    return dict(curve_figures(experiment.curves, experiment.tasks))


def matrix_settings(experiment: Experiment, name: str) -> dict:
    """The labels in a matrix."""
    matrix = experiment.matrices[name]
    targets = [experiment.tasks[target] for target in matrix.targets]
    return {
        "measure": matrix.measure,
        "alpha": matrix.alpha,
        "row_labels": list(map(list, matrix.rows.items())),
        "target_labels": [[task.folder, task.label] for task in targets],
        **({"title": matrix.title} if matrix.title else {}),
    }


def curves_settings(experiment: Experiment, name: str) -> dict:
    """The labels in curves, and the type of their bars."""
    curves = experiment.curves[name]
    targets = [experiment.tasks[target] for target in curves.targets]
    return {
        "target_labels": [[task.folder, task.label] for task in targets],
        "start_labels": list(map(list, curves.starts.items())),
        "baseline": experiment.systems[curves.baseline].label,
        **({"title": curves.title} if curves.title else {}),
        **({"interval": curves.interval} if curves.interval != "range" else {}),
    }


def figure_settings(experiment: Experiment, figure: str) -> dict:
    """The targets and labels that a figure shows."""
    name, targets = drawn_curves(experiment)[figure]
    return {"names": curves_settings(experiment, name), "shown": [experiment.tasks[task].folder for task in targets]}


def on_pages(experiment: Experiment) -> dict[str, dict]:
    """The matrices, and the curves with their figures, that summary and report show."""
    drawn = drawn_curves(experiment)
    curves = {
        name: {"names": curves_settings(experiment, name), "figures": [one for one in drawn if drawn[one][0] == name]}
        for name in experiment.curves
    }
    matrices = {name: matrix_settings(experiment, name) for name in experiment.matrices}
    return {"matrices": matrices, "curves": curves}


def systems_in_curves(experiment: Experiment) -> set[str]:
    """The systems that curves show."""
    return {point.system for curves in experiment.curves.values() for point in curves.points}
