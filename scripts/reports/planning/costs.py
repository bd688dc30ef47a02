"""What the tables and figures of costs are made of: timing files and settings. See rules/costs.smk."""

from __future__ import annotations

from functools import cache
from itertools import chain

from scripts.experiment import comparisons, job_files
from scripts.experiment.descriptions import for_times
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.results_paths import TABLE_FORMATS, path
from scripts.experiment.system_kinds import system_kind, takes
from scripts.reports.planning.labels import system_labels, task_labels


@cache
def timed_systems(experiment: Experiment) -> dict[str, System]:
    """The systems that are run here: external ones have no timing."""
    return {name: system for name, system in experiment.systems.items() if system_kind(system).timed}


def times_tables(experiment: Experiment, table_formats: tuple[str, ...] = TABLE_FORMATS) -> list[str]:
    """The tables of times, if anything is timed."""
    works = ("inference", "fine-tuning") if timed_systems(experiment) else ()
    return [
        path("times", experiment=experiment.name, work=work, table_format=table_format)
        for work in works
        for table_format in table_formats
    ]


@cache
def cost_figures(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Figure of costs -> its comparisons."""
    return comparisons.cost_figures(experiment.comparisons, set(timed_systems(experiment)))


def timings(experiment: Experiment, tasks: list[str] | None = None, systems: list[str] | None = None) -> dict:
    """Run timing -> the timing files of the checkpoint and the encoding behind the run.

    `tasks` and `systems`, all by default, say of which runs.
    """
    return {
        file: beside
        for (task, system), of_runs in _timings(experiment).items()
        if (tasks is None or task in tasks) and (systems is None or system in systems)
        for file, beside in of_runs.items()
    }


@cache
def _timings(experiment: Experiment) -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """(Task, system) -> `timings` of its runs."""
    return {
        (task.name, system.name): _timings_of(experiment, system, task)
        for system in timed_systems(experiment).values()
        for task in experiment.runs_of(system)
    }


def _timings_of(experiment: Experiment, system: System, task: Task) -> dict[str, dict[str, str]]:
    beside: dict[str, dict[str, str]] = {}
    seeds = experiment.seeds_on(system, task)
    for seed, file in zip(seeds, job_files.runs(experiment, system, task, "run_timing"), strict=True):
        beside[file] = {}
        if system.recipes:
            trained = job_files.checkpoint(experiment, system, task.ranked_dataset, seed, "checkpoint_timing")
            beside[file]["training"] = trained
        elif timing := system_kind(system).training_timing(experiment, system, task, seed):
            beside[file]["training"] = timing
        if system.model and (encoded := job_files.encoded(experiment, system, task, seed)):
            beside[file]["encoding"] = encoded[1]
    return beside


def run_timings(experiment: Experiment) -> list[str]:
    """The timing files of all runs."""
    return list(timings(experiment))


def other_timings(experiment: Experiment) -> list[str]:
    """The timing files of all checkpoints and encodings behind runs."""
    return sorted({file for files in timings(experiment).values() for file in files.values()})


def times_settings(experiment: Experiment) -> dict:
    """Where each system stands in the tables of times."""
    systems = {name: for_times(experiment, system) for name, system in timed_systems(experiment).items()}
    return {"systems": systems, "tasks": task_labels(experiment)}


def cost_systems(experiment: Experiment, figure: str) -> list[str]:
    """The systems of a figure of costs, its control first if that has timing."""
    members = [experiment.comparisons[name] for name in cost_figures(experiment)[figure]]
    names = [members[0].control, *(comparison.treatment for comparison in members)]
    return [name for name in names if name in timed_systems(experiment)]


def cost_meta(experiment: Experiment, figure: str) -> list[str]:
    """The summary effects that a figure of costs shows."""
    return job_files.of_comparisons(experiment, "meta", cost_figures(experiment)[figure])


def cost_timings(experiment: Experiment, figure: str) -> dict:
    """The part of `timings` that belongs to the systems and tasks of a figure of costs."""
    first = experiment.comparisons[cost_figures(experiment)[figure][0]]
    return timings(experiment, list(first.tasks), cost_systems(experiment, figure))


def cost_timing_files(experiment: Experiment, figure: str) -> list[str]:
    """All timing files that a figure of costs is drawn from."""
    beside = cost_timings(experiment, figure)
    return sorted({*beside, *chain.from_iterable(files.values() for files in beside.values())})


def cost_settings(experiment: Experiment, figure: str) -> dict:
    """What a figure of costs shows."""
    first = experiment.comparisons[cost_figures(experiment)[figure][0]]
    systems = cost_systems(experiment, figure)
    return {
        "control": first.control,
        "alpha": first.settings["alpha"],
        "labels": {name: label for name, label in system_labels(experiment).items() if name in systems},
        "beside": cost_timings(experiment, figure),
        **({"sizes": sizes} if (sizes := cost_sizes(experiment, figure)) else {}),
        **({"last_step": True} if any(takes(experiment.systems[name]) for name in systems) else {}),
    }


def cost_sizes(experiment: Experiment, figure: str) -> list[str]:
    """The sizes that a figure shows: of indices and weights, where a system has fewer of them than others may."""
    drawn = [experiment.systems[name] for name in cost_systems(experiment, figure)]
    smaller = {
        "index_mb": any("embeddings" in system.settings or system.truncate_dim for system in drawn),
        "weights_mb": any("backend" in system.settings for system in drawn),
    }
    return [size for size, shown in smaller.items() if shown]
