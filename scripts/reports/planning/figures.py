"""The tables and records of comparisons, families, matrices and curves, and what pages and figures share of them."""

from __future__ import annotations

from ranktrial.experiment import job_files
from ranktrial.experiment.exhibits import bubble, curves, forest
from ranktrial.experiment.labels import labels, labels_of
from ranktrial.experiment.moderators import asked
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import CAPTION_FORMATS, TABLE_FORMATS, path

ANSWERS = ("md", "tsv")
# Of a figure, and of no table
LOOKS = ("title", "width", "height", "x_label", "notes", "rows", "fixed", "bayesian", "limits", "ticks", "columns")
PAGES = ("md", "tex")  # the formats of the table that are not written by the comparison itself


def moderated(experiment: Experiment) -> list[str]:
    """The comparisons that have moderators or subgroups."""
    return [name for name, comparison in experiment.comparisons.items() if asked(comparison)]


def moderators_tables(experiment: Experiment) -> list[str]:
    """The tables of moderators of all comparisons."""
    return [
        path("moderators_table", experiment=experiment.name, comparison=name, table_format=table_format)
        for name in moderated(experiment)
        for table_format in TABLE_FORMATS
    ]


def moderators(experiment: Experiment) -> list[str]:
    """The records of the moderators of all comparisons that have any."""
    return job_files.of_comparisons(experiment, "moderators", moderated(experiment))


def moderator_table_settings(experiment: Experiment, name: str) -> dict:
    """The labels in the tables of a comparison's moderators."""
    comparison, shown = experiment.comparisons[name], labels_of(experiment, experiment.comparisons[name].tasks)
    every = labels(experiment)["systems"]
    treatment, control = comparison.named(comparison.treatment), comparison.control
    title = f"{every.get(treatment, treatment)} against {every.get(control, control)}"
    return {"title": f"{name}, {title}", "labels": shown}


def shown_on_pages(experiment: Experiment) -> dict[str, list[str]]:
    """Comparison with moderators or subgroups -> its bubble plots."""
    figures = bubble.names(experiment).items()
    return {name: [figure for figure, of in figures if of[0] == name] for name in moderated(experiment)}


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


def on_pages(experiment: Experiment) -> dict[str, dict]:
    """The matrices, and the curves with their figures, that summary and report show."""
    drawn = curves.names(experiment)
    of_curves = {
        name: {"names": curves.labels(experiment, name), "figures": [one for one in drawn if drawn[one][0] == name]}
        for name in experiment.curves
    }
    matrices = {name: matrix_settings(experiment, name) for name in experiment.matrices}
    return {"matrices": matrices, "curves": of_curves}


def systems_in_curves(experiment: Experiment) -> set[str]:
    """The systems that curves show."""
    return {point.system for one in experiment.curves.values() for point in one.points}


def caption_files(experiment: Experiment) -> list[str]:
    """The files of all captions."""
    return [
        path("caption", experiment=experiment.name, figure=name, caption_format=caption_format)
        for name in forest.captioned(experiment)
        for caption_format in CAPTION_FORMATS
    ]


def fonts(experiment: Experiment) -> dict[str, str]:
    """The fonts of figures, each with the first key that names it."""
    named = {"font": experiment.font} | {
        f"comparisons.{name}.figure.font": comparison.figure.font for name, comparison in experiment.comparisons.items()
    }
    first: dict[str, str] = {}
    for key, font in named.items():
        if font:
            first.setdefault(font, key)
    return first


def table_settings(experiment: Experiment) -> dict[str, dict]:
    """The number format of comparisons in tables, with the tasks whose training queries systems learnt from."""
    tables = {}
    for name, comparison in experiment.comparisons.items():
        shown = {key: value for key, value in forest.figure_settings(experiment, name).items() if key not in LOOKS}
        learnt, unstated = forest.tasks_learnt(experiment, comparison), forest.weights_unstated(experiment, comparison)
        tables[name] = shown | forest.training(learnt, unstated)
    return tables


def family_files(experiment: Experiment, name: str, **fields: str) -> list[str]:
    """A path of the table for each multiple comparison."""
    return [path(name, experiment=experiment.name, family=family, **fields) for family in experiment.families]


def family_pages(experiment: Experiment) -> list[str]:
    """The tables of all multiple comparisons to read."""
    return [
        file for table_format in PAGES for file in family_files(experiment, "family_table", table_format=table_format)
    ]
