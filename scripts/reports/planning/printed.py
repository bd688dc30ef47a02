"""The tables to print and the answers of studies, by name: script, inputs and settings of each.

See rules/pages.smk.
"""

from __future__ import annotations

from functools import partial

from ranktrial.experiment.drawing import Drawing, Drawings
from ranktrial.experiment.judged import judges_of
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from scripts.reports.planning import costs, families, judges, moderation, pages, transfer

TABLES = "Tables"


def pages_to_print(experiment: Experiment) -> Drawings:
    """The tables whose numbers are already in a file."""
    of_families = {f"multiple-comparisons/{name}": partial(family, experiment, name) for name in experiment.families}
    of_matrices = {name: partial(matrix, experiment, name, "reports/matrix_tables.py") for name in experiment.matrices}
    return {"means": partial(means, experiment), **of_families, **of_matrices}


def full_tables(experiment: Experiment) -> Drawings:
    """The tables that hold numbers of their own, which are written at full precision too."""
    of_comparisons = {
        f"moderators/{name}": partial(moderators, experiment, name) for name in moderation.moderated(experiment)
    }
    return {f"{work}-times": partial(times, experiment, work) for work in costs.WORKS} | of_comparisons


def answers(experiment: Experiment) -> Drawings:
    """The answers of studies of transfer, and the agreement of judges with humans."""
    transferred = {name: partial(matrix, experiment, name, "reports/matrix_answers.py") for name in experiment.matrices}
    transferred |= {f"curves-{name}": partial(curves, experiment, name) for name in experiment.curves}
    of_judges = {f"judges/{dataset}": partial(judge, experiment, dataset) for dataset in judges_of(experiment)}
    return {f"{study}-answers": how for study, how in transferred.items()} | of_judges


def means(experiment: Experiment) -> Drawing:
    """Systems by tasks, with the letters of multiple comparisons."""
    inputs = {
        "means": [path("means", experiment=experiment.name)],
        "families": families.family_files(experiment, "family_table", table_format="tsv"),
        "family_records": families.family_files(experiment, "family"),
    }
    return Drawing("reports/means_tables.py", TABLES, inputs, pages.means_settings(experiment))


def family(experiment: Experiment, name: str) -> Drawing:
    """A multiple comparison: means, letters and differences."""
    fields = {"experiment": experiment.name, "family": name}
    inputs = {"table": [path("family_table", **fields, table_format="tsv")], "record": [path("family", **fields)]}
    return Drawing("reports/family_table.py", TABLES, inputs, families.family_settings(experiment, name))


def matrix(experiment: Experiment, name: str, script: str) -> Drawing:
    """A matrix of sources and targets, or its answers."""
    inputs = {"matrix": [path("matrix", experiment=experiment.name, matrix=name, table_format="tsv")]}
    return Drawing(script, TABLES, inputs, transfer.matrix_settings(experiment, name))


def curves(experiment: Experiment, name: str) -> Drawing:
    """The answers from curves over the number of training queries."""
    inputs = {"record": [path("curves", experiment=experiment.name, curve=name)]}
    return Drawing("reports/curve_answers.py", TABLES, inputs, transfer.curves_settings(experiment, name))


def moderators(experiment: Experiment, name: str) -> Drawing:
    """The coefficients of a comparison's moderators, and its subgroups."""
    inputs = {"moderators": [path("moderators", experiment=experiment.name, comparison=name)]}
    return Drawing("reports/moderator_tables.py", TABLES, inputs, moderation.table_settings(experiment, name))


def times(experiment: Experiment, work: str) -> Drawing:
    """Times of inference or of fine-tuning."""
    inputs = {"costs": [path("costs", experiment=experiment.name)]}
    return Drawing("reports/times.py", TABLES, inputs, {"work": work, **costs.times_settings(experiment)})


def judge(experiment: Experiment, dataset: str) -> Drawing:
    """A language model's judgements of a dataset beside those of humans."""
    inputs = judges.inputs(experiment, dataset)
    return Drawing("reports/judge_tables.py", TABLES, inputs, judges.settings(experiment, dataset))
