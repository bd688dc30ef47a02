"""The systems: descriptions, chosen recipes, selected seeds, mined negatives; notes on few and near queries."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.choosing import members_of_choices
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.system_types import system_type
from ranktrial.reports.writing.content import Block
from scripts.reports.sections import Report, tasks
from scripts.training.planning import mining_records

NAME, PLACE = "systems", 40


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of datasets, means, recipes and seeds, and the records of mined negatives."""
    tables = {
        "chosen": ("chosen-recipes", any(system.choice for system in experiment.systems.values())),
        "selected": ("selected-seeds", any(system.selection for system in experiment.systems.values())),
    }
    made = {
        name: [path("choices", experiment=experiment.name, choices=table)] if there else []
        for name, (table, there) in tables.items()
    }
    return tasks.inputs(experiment) | made | {"mined": mining_records(experiment)}


def settings(experiment: Experiment) -> JsonObject:
    """The description of each system, and the systems tuned on the dev split of each dataset."""
    choices = members_of_choices(experiment)
    described = {
        name: describe(experiment, system) for name, system in experiment.systems.items() if name not in choices
    }
    return {"systems": described, "tuned": tuned(experiment)}


def tuned(experiment: Experiment) -> dict[str, list[str]]:
    """The systems tuned on the dev split of each dataset."""
    found: dict[str, list[str]] = {}
    for name, system in experiment.systems.items():
        own_type = system_type(system)
        for dataset in dict.fromkeys(task.ranked_dataset for task in experiment.runs_of(system)):
            if own_type.tried(system) and (dataset, "dev") in own_type.learnt_from(experiment, system, dataset):
                found.setdefault(dataset, []).append(name)
    return found


def blocks(report: Report) -> list[Block]:
    """The section, and notes on the queries with which systems were tuned and trained."""
    from ranktrial.reports.contents import data
    from ranktrial.reports.contents.training import mined

    facts, own, datasets = report.facts, report.settings(NAME, data.Described), report.table("datasets")
    named = dict.fromkeys(row.system for row in report.means)
    choices = {name: report.table(name) for name in ("chosen", "selected") if report.files[name]}
    described = {name: own.systems[name] for name in named}
    trained = facts.marks.get("trained", {})
    return [
        data.systems(described, facts.labels, choices, mined(report.files["mined"])),
        *data.tuned_on_few(own.tuned, datasets, facts.labels),
        *data.learnt_near({name: trained[name] for name in named if name in trained}, datasets, facts.labels),
    ]
