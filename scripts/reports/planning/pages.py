"""Inputs of the summary and the report: files and settings. See rules/tables.smk, rules/report.smk."""

from __future__ import annotations

import itertools
from dataclasses import replace

from ranktrial.common.keys import stated
from ranktrial.experiment import job_files
from ranktrial.experiment.charts import CHART
from ranktrial.experiment.choosing import members_of_choices
from ranktrial.experiment.comparisons import COST_FIGURE
from ranktrial.experiment.dataset_keys import format_of
from ranktrial.experiment.descriptions import datasets_learnt, describe, is_unstated, tried
from ranktrial.experiment.job_files import tasks_by_folder
from ranktrial.experiment.judged import origin
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import TABLE_FORMATS, fields_of, parse, path
from ranktrial.experiment.sections.dataset import Dataset
from ranktrial.experiment.sections.recipe import Recipe
from ranktrial.experiment.system_types import system_type
from scripts.reports.planning import judges, transfer
from scripts.reports.planning.costs import cost_figures, exclusive, timed_systems, times_tables, timings
from scripts.reports.planning.families import PAGES, family_figures, family_pages
from scripts.reports.planning.figures import (
    caption_files,
    figure_files,
    forest_looks,
    forest_plots,
    further_figures,
    table_settings,
)
from scripts.reports.planning.labels import labels
from scripts.reports.planning.moderation import moderators_tables, shown_on_pages


def _source(dataset: Dataset) -> str:
    """The source of a dataset."""
    if format_of(dataset).generated:
        said = stated(dataset)
        return f"queries that {said['generator']} wrote for documents of {dataset.corpus}"
    return origin(dataset)


def effects_tables(experiment: Experiment) -> list[str]:
    """The tables of all comparisons."""
    return [
        table
        for comparison in experiment.comparisons
        for table_format in TABLE_FORMATS
        for table in job_files.of_comparisons(experiment, "effects_table", [comparison], table_format=table_format)
    ]


def named_in_summary(experiment: Experiment) -> list[str]:
    """The files that the summary names but does not include: it does not change when one of them does."""
    families = [*family_figures(experiment), *family_pages(experiment)]
    tables = [
        path("all_queries", experiment=experiment.name),
        *means_tables(experiment),
        *effects_tables(experiment),
        *moderators_tables(experiment),
        *times_tables(experiment),
    ]
    tables += [*transfer.tables(experiment), *judges.tables(experiment)]
    return [*figure_files(experiment), *caption_files(experiment), *tables, *families]


def selected_seeds(experiment: Experiment) -> str | list[str]:
    """The table of selected seeds, if any system selects."""
    selecting = any(system.selection for system in experiment.systems.values())
    return path("choices", experiment=experiment.name, choices="selected-seeds") if selecting else []


def chosen_recipes(experiment: Experiment) -> str | list[str]:
    """The table of recipes that systems chose from, if any did."""
    choosing = any(system.choice for system in experiment.systems.values())
    return path("choices", experiment=experiment.name, choices="chosen-recipes") if choosing else []


def means_tables(experiment: Experiment) -> list[str]:
    """The tables of means to print."""
    return [path("means_page", experiment=experiment.name, page_format=page_format) for page_format in PAGES]


def means_settings(experiment: Experiment) -> dict:
    """The settings of the tables of means: what no table contains."""
    counts = {name: tried(experiment, name) for name in experiment.systems}
    return {
        "measures": _measures(experiment),
        "trained": _trained_on(experiment),
        **_unstated(experiment),
        "tried": {name: count for name, count in counts.items() if count > 1},
        "labels": labels(experiment),
        "lower_is_better": list(experiment.lower_is_better),
    }


def _measures(experiment: Experiment) -> list[str]:
    """The measures of all tasks, each once."""
    tasks = tasks_by_folder(experiment).values()
    return list(dict.fromkeys(measure for task in tasks for measure in task.measures))


def page_settings(experiment: Experiment, cautions: list[str]) -> dict:
    """The settings of the pages: what no table contains."""
    seeds = {name: list(system.seeds) for name, system in timed_systems(experiment).items() if system.recipes}
    return {
        "experiment": experiment.name,
        "measures": _measures(experiment),
        "sources": {
            name: {"location": _source(dataset), "licence": dataset.licence}
            for name, dataset in experiment.datasets.items()
            if not format_of(dataset).values_given
        },
        "systems": {
            name: describe(experiment, system)
            for name, system in experiment.systems.items()
            if name not in members_of_choices(experiment)
        },
        "trained": _trained_on(experiment),
        **_unstated(experiment),
        "together": experiment.figures,
        "charts": [CHART + name for name in experiment.charts],
        "cost_controls": {
            COST_FIGURE + name: experiment.comparisons[members[0]].control
            for name, members in cost_figures(experiment).items()
        },
        "labels": labels(experiment),
        "comparisons": table_settings(experiment),
        "forest_plots": {name: forest_looks(experiment, name) for name in forest_plots(experiment)},
        "further": further_figures(experiment),
        "cautions": cautions,
        "moderated": shown_on_pages(experiment),
        "transfer": transfer.on_pages(experiment),
        "sizes": sizes(experiment),
        **tuned(experiment),
        **({"lower_is_better": list(experiment.lower_is_better)} if experiment.lower_is_better else {}),
        **exclusive(experiment),
        "seeds": {"data": experiment.seed, "training": seeds},
    }


def tuned(experiment: Experiment) -> dict[str, dict[str, list[str]]]:
    """The systems tuned on the dev split of each dataset, as a setting; none if nothing is tuned."""
    found: dict[str, list[str]] = {}
    for name, system in experiment.systems.items():
        own_type = system_type(system)
        for dataset in dict.fromkeys(task.ranked_dataset for task in experiment.runs_of(system)):
            if own_type.tried(system) and (dataset, "dev") in own_type.learnt_from(experiment, system, dataset):
                found.setdefault(dataset, []).append(name)
    return {"tuned": found} if found else {}


def _trained_on(experiment: Experiment) -> dict[str, list[str]]:
    """The trained systems, each with the tasks (by folder) on whose training queries it learnt."""
    trained = {}
    for name, system in experiment.systems.items():
        tasks = experiment.runs_of(system)
        learnt = {task: datasets_learnt(experiment, system, task.ranked_dataset) for task in tasks}
        if any(learnt.values()):
            trained[name] = [task.folder for task in tasks if task.ranked_dataset in learnt[task]]
    return trained


def _unstated(experiment: Experiment) -> dict[str, list[str]]:
    """The systems whose published weights have no stated training data, as a setting."""
    found = [name for name, system in experiment.systems.items() if is_unstated(experiment, system)]
    return {"unstated": found} if found else {}


def training_logs(experiment: Experiment) -> list[str]:
    """The logs of every training behind a system, and of those that it starts from."""
    logs = set()
    for system in timed_systems(experiment).values():
        for recipe, seed in itertools.product(system.recipes, system.seeds):
            for trained in experiment.chain(recipe):
                fields = {"experiment": experiment.name, "model": system.model, "recipe": trained, "seed": seed}
                logs.add(path("training_log", **fields))
                seed = experiment.starting_seed(trained, seed)
    return sorted(logs)


def timing_files(experiment: Experiment) -> list[str]:
    """The timings of all runs, of their encodings, and of every training once, also of seeds that were not selected."""
    files = set()
    for run, beside in timings(experiment).items():
        own = {beside[key] for key in ("training", "encoding") if key in beside}
        files |= {run, *(file for file in own if parse(file)[0] != "checkpoint_timing")}
    for log in training_logs(experiment):
        files.add(path("checkpoint_timing", experiment=experiment.name, **fields_of("training_log", log)))
    return sorted(files)


def sizes(experiment: Experiment) -> list[dict]:
    """The systems that differ in their number of training queries alone, in groups, each with its untrained system.

    Those that are shown by `curves` of the configuration are left out.
    """
    groups: dict[tuple, dict[str, Recipe]] = {}
    untrained: dict[tuple, str] = {}
    drawn = transfer.systems_in_curves(experiment)
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
    systems = [experiment.systems[name] for name in sorted(names)]
    return [
        metrics
        for system in systems
        for task in experiment.runs_of(system)
        for metrics in job_files.metrics(experiment, system, task)
    ]
