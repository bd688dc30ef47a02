"""Helpers for rules, for the experiment of start.smk: paths below results/, the code of a job, the user's data.

Provides `result`, `shown`, `code`, `code_of_model`, `source_files`, `with_source`, `systems_of_type`, `one_of`, `graph` (jobs behind the results) and `deleted`. Rule files import or define all other names.
"""

import os
import re
import sys
from functools import cache
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.plugins import source as plugin_file
from ranktrial.common.job_code import job_code
from ranktrial.engine.job_records import mark_incomplete
from ranktrial.engine.rule_graph import deleted_from, deleted_outputs, on_missing, rule_graph
from ranktrial.engine.rule_helpers import one_of
from ranktrial.experiment import results_paths
from ranktrial.experiment.records import SELECTED
from ranktrial.models.adapters import MODEL_TYPES
from scripts.explorer import planning as explorer
from scripts.selection.planning import selections


wildcard_constraints:
    dataset="[^/]+",
    task="[^/]+",
    system="[^/]+",
    model="[^/]+",
    recipe="[^/]+",
    seed="|".join(["[0-9]+", SELECTED, *(re.escape(chosen.checkpoint) for chosen in selections(EXPERIMENT).values())]),
    split="train|dev|test",
    comparison="[^/]+",
    family="[^/]+",


def result(name, **fields):
    """Return a path from ranktrial/experiment/results_paths.py; fields that are not given remain wildcards."""
    of_experiment = {} if name == "download" else {"experiment": EXPERIMENT.name}
    return results_paths.path(name, **of_experiment, **fields)


def shown(path, caption, category, **labels):
    """An output that `snakemake --report` shows, with its caption (rules/captions/) and distinguishing labels."""
    return report(path, caption=f"captions/{caption}.rst", category=category, labels=labels)


def code(script, loads=()):
    """The parameter `code` of a rule that runs scripts/{script}: its module, and a digest of it and all behind it.

    `loads` are the files of the repository that it loads or reads by name. Both may be functions of the wildcards.
    """

    def of_job(wildcards):
        named, loaded = (given(wildcards) if callable(given) else given for given in (script, loads))
        return job_code(named, *loaded)

    return of_job


def code_of_model(script, further=lambda wildcards: []):
    """The parameter `code` of a rule that runs a model: the script loads the adapter for the model's type.

    The model is the wildcard `model` or that of the system. `further` returns the other files that are loaded by name.
    """

    def loads(wildcards):
        model = wildcards.get("model") or EXPERIMENT.systems[wildcards.system].model
        adapter_file = plugin_file(MODEL_TYPES, EXPERIMENT.models[model].type)
        return [adapter_file, *further(wildcards)]

    return code(script, loads)


def with_source(of_job, place):
    """The settings of a job that reads the location that `place` returns, with its revision, for the wildcards."""

    def settings_of(wildcards):
        location, revision = place(wildcards)
        read = {} if location is None else SOURCES.settings(location, revision)  # None: a model behind an endpoint
        return {**of_job(wildcards), **read}

    return settings_of


def source_files(place):
    """The inputs of a job that reads this location; exits with a one-line error if Snakemake cannot use a file."""

    def files(wildcards):
        location, revision = place(wildcards)
        try:
            return [] if location is None else SOURCES.inputs(location, revision)
        except UserError as error:
            sys.exit(f"error: {error}")

    return files


def systems_of_type(*types):
    """The wildcard constraint of a rule that makes the runs of systems of these types."""
    return one_of(name for name, system in EXPERIMENT.systems.items() if system.type in types)


@cache
def graph():
    """The graph of the rules behind the results."""
    made = workflow.dag.job_factory.cache.values() if workflow.dag is not None else ()
    return rule_graph(workflow.rules, [*rules.all.input.shown, *explorer.folder(EXPERIMENT)], made)


@cache
def gone():
    """The deleted outputs of jobs behind the results, of the types that every archive contains: not the explorer."""
    if all(map(results_paths.may_be_deleted, deleted_from(RESULTS))):
        return []
    apart = explorer.folder(EXPERIMENT)
    lacking = [name for name in deleted_outputs(graph()) if not results_paths.may_be_deleted(name)]
    missing = [name for name in lacking if os.path.exists(name) or name not in apart]
    if missing:
        print(on_missing(missing, CONFIG_NAME), file=sys.stderr)
        mark_incomplete(Path("results"), missing)
    return missing


def deleted(wildcards):
    """The deleted files, which are made again although the files made from them still exist."""
    return gone()
