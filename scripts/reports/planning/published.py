"""Inputs of the page of published numbers: files and settings. See rules/report.smk."""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.experiment import job_files
from ranktrial.experiment.charts import weights_name
from ranktrial.experiment.descriptions import for_times
from ranktrial.experiment.job_files import tasks_by_folder
from ranktrial.experiment.printed_cells import read_mapping
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.systems.learning_to_rank import NAME, settings_of, source
from scripts.reports.planning.costs import times_tables
from scripts.reports.planning.transfer import matrix_tables


def mapping(experiment: Experiment) -> str | None:
    """The user's file that maps the cells of a paper's tables to our results; None without one."""
    return experiment.published.mapping if experiment.published else None


def user_files(experiment: Experiment) -> dict[str, str]:
    """The user's own files with published numbers, by the script's options."""
    published = experiment.published
    places = {"published": published.file, "mapping": published.mapping} if published else {}
    return {option: place for option, place in places.items() if place}


def importances(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of importance of each ranker that can have printed cells of features, by its name, one per seed.

    Raises UserError for a ranker that is learnt from several sources apart: its features have several importances.
    """
    mapping_file, found = mapping(experiment), {}
    for system in _rankers(experiment):
        sources = list(dict.fromkeys(source(system, task.ranked_dataset) for task in experiment.runs_of(system)))
        if len(sources) > 1:
            raise UserError(f"{mapping_file}: features: {system.name} is learnt from {' and from '.join(sources)}")
        fields = {"experiment": experiment.name, "source": sources[0], "system": system.name}
        found[system.name] = [path("ranker_importance", **fields, seed=seed) for seed in system.seeds]
    return found


def _rankers(experiment: Experiment) -> list[System]:
    """The rankers that a mapping of features names and that learn from all their features."""
    if not (mapping_file := mapping(experiment)) or not (mapped := read_mapping(Path(mapping_file))).features:
        return []
    entries = sorted({entry for line in mapped.systems for entry in line.ours})
    meant = [experiment.systems[name] for entry in entries for name in experiment.entries.get(entry, [])]
    return [system for system in meant if system.type == NAME and settings_of(system).columns is None]


def compared_with(experiment: Experiment) -> dict[str, list[str]]:
    """The tables that are compared with: all tables of times with a mapping, comparisons and matrices without one."""
    if mapping(experiment):
        return {"times": times_tables(experiment, ("tsv",)), "effects": [], "meta": [], "matrices": []}
    effects, meta = (job_files.of_comparisons(experiment, name) for name in ("effects", "meta"))
    return {"times": [], "effects": effects, "meta": meta, "matrices": matrix_tables(experiment, ("tsv",))}


def page_as_html(experiment: Experiment) -> str | list[str]:
    """All cells of a paper's tables with verdicts, with a mapping."""
    return path("published_page", experiment=experiment.name, page_format="html") if mapping(experiment) else []


def table(experiment: Experiment) -> str | list[str]:
    """The table of published numbers, if the experiment has any."""
    any_of_them = experiment.published or experiment.references
    return path("published_table", experiment=experiment.name) if any_of_them else []


def published_settings(experiment: Experiment) -> dict:
    """The places of our numbers for the published ones. Raises UserError for an invalid mapping."""
    if not (mapping_file := mapping(experiment)):
        return {"beside": experiment.published.beside if experiment.published else {}}
    meant = {entry for line in read_mapping(Path(mapping_file)).systems for entry in line.ours}
    entries = {
        entry: [_mapped_system(experiment, name) for name in experiment.entries.get(entry, [])]
        for entry in sorted(meant)
    }
    tasks = {task.name: folder for folder, task in tasks_by_folder(experiment).items()}
    rankers = {system: len(tables) for system, tables in importances(experiment).items()}
    return {"entries": entries, "tasks": tasks} | ({"rankers": rankers} if rankers else {})


def _mapped_system(experiment: Experiment, name: str) -> dict[str, str]:
    """The values that distinguish a system from the others of its entry, and the place of its fine-tuning time."""
    system = experiment.systems[name]
    weights = weights_name(experiment.models[system.model].weights) if system.model else ""
    standing = for_times(experiment, system)
    return {"system": name, "weights": weights, "model": standing["model"], "recipe": standing.get("recipe", "")}
