"""The timings behind each run: of the run, and of all trainings, encodings and runs that it needs."""

from collections.abc import Callable
from functools import cache
from typing import Literal, TypedDict

from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.system_types import system_type, takes


class Beside(TypedDict, total=False):
    """The timing files behind a run: of its checkpoint's training and its encoding; of the runs of all `parts`, and of
    all `trainings` and `encodings`, if there are others. `untimed` names the parts that have no timing.
    """

    training: str
    encoding: str
    parts: list[str]
    trainings: list[str]
    encodings: list[str]
    untimed: list[str]


Member = tuple[System, int | str]  # a system behind a run, and the seed of its run
Files = Callable[[Experiment, System, Task, int | str], list[str]]
OF_ALL: tuple[Literal["parts", "trainings", "encodings"], ...] = ("parts", "trainings", "encodings")


@cache
def timed_systems(experiment: Experiment) -> dict[str, System]:
    """The systems that are run here: external ones have no timing."""
    return {name: system for name, system in experiment.systems.items() if system_type(system).timed}


def timings(
    experiment: Experiment, tasks: list[str] | None = None, systems: list[str] | None = None
) -> dict[str, Beside]:
    """Run timing -> the timing files of the steps before the run.

    `tasks` and `systems`, all by default, say of which runs.
    """
    return {
        file: beside
        for (task, system), of_runs in _timings(experiment).items()
        if (tasks is None or task in tasks) and (systems is None or system in systems)
        for file, beside in of_runs.items()
    }


@cache
def _timings(experiment: Experiment) -> dict[tuple[str, str], dict[str, Beside]]:
    """(Task, system) -> `timings` of its runs."""
    return {
        (task.name, system.name): _timings_of(experiment, system, task)
        for system in timed_systems(experiment).values()
        for task in experiment.runs_of(system)
    }


def _timings_of(experiment: Experiment, system: System, task: Task) -> dict[str, Beside]:
    seeds = experiment.seeds_on(system, task)
    files = job_files.runs(experiment, system, task, "run_timing")
    return {file: _beside(experiment, system, task, seed) for seed, file in zip(seeds, files, strict=True)}


def _beside(experiment: Experiment, system: System, task: Task, seed: int | str) -> Beside:
    """The steps before one run; those of all parts only if they are more than its own step needs."""
    members = [(experiment.systems[name], its) for name, its in _taken(experiment, system, task, seed).items()]
    beside: Beside = {}
    trainings, encodings = _each(_trainings, experiment, task, members), _each(_encoding, experiment, task, members)
    if own := _trainings(experiment, system, task, seed):
        beside["training"] = own[0]
    if encoded := _encoding(experiment, system, task, seed):
        beside["encoding"] = encoded[0]
    if trainings != own[:1]:
        beside["trainings"] = trainings
    if encodings != encoded:
        beside["encodings"] = encodings
    if parts := _parts(experiment, system, task, members):
        beside["parts"] = parts
    if untimed := [member.name for member, _ in members if member.name not in timed_systems(experiment)]:
        beside["untimed"] = untimed
    return beside


def _each(files: Files, experiment: Experiment, task: Task, members: list[Member]) -> list[str]:
    """The files of all systems behind a run, each file once."""
    return list(dict.fromkeys(file for member, seed in members for file in files(experiment, member, task, seed)))


def _taken(experiment: Experiment, system: System, task: Task, seed: int | str) -> dict[str, int | str]:
    """The systems behind a run, each once, with the seeds of their runs; the system itself is the first."""
    found: dict[str, int | str] = {system.name: seed}
    for name in takes(system):
        member = experiment.systems[name]
        found |= _taken(experiment, member, task, experiment.seed_taken(name, seed, task))
    return found


def _parts(experiment: Experiment, system: System, task: Task, members: list[Member]) -> list[str]:
    """The timings of the runs that a run is made of, its own not among them, and of further steps for any of them."""
    fields = {"experiment": experiment.name, "task": experiment.ranked_task(task).folder}
    runs = [
        path("run_timing", **fields, system=member.name, seed=seed)
        for member, seed in members
        if member.name != system.name and member.name in timed_systems(experiment)
    ]
    further = [file for member, _ in members for file in system_type(member).further_timings(experiment, member, task)]
    return [*runs, *dict.fromkeys(further)]


def _encoding(experiment: Experiment, system: System, task: Task, seed: int | str) -> list[str]:
    """The timing of the encoding with which a system ranks, if it has one."""
    encoded = job_files.encoded(experiment, system, task, seed)
    return [encoded[1]] if encoded else []


def _trainings(experiment: Experiment, system: System, task: Task, seed: int | str) -> list[str]:
    """The timings of the trainings of a system's own checkpoint, the last first: it may start from another."""
    if not system.recipes:
        timing = system_type(system).training_timing(experiment, system, task, seed)
        return [timing] if timing else []
    files = [job_files.checkpoint(experiment, system, task.ranked_dataset, seed, "checkpoint_timing")]
    recipe = system.recipe_on(task.ranked_dataset)
    number = seed if isinstance(seed, int) else system.seeds[0]  # of a selected one another stands for its start
    for earlier in list(experiment.chain(recipe))[1:]:
        number = experiment.starting_seed(recipe, number)
        fields = {"experiment": experiment.name, "model": system.model, "recipe": earlier, "seed": number}
        files.append(path("checkpoint_timing", **fields))
        recipe = earlier
    return files


def files_of(beside: Beside) -> list[str]:
    """All timing files behind a run."""
    own = [beside[key] for key in ("training", "encoding") if key in beside]
    return [*own, *(file for key in OF_ALL for file in beside.get(key, ()))]


def run_timings(experiment: Experiment) -> list[str]:
    """The timing files of all runs."""
    return list(timings(experiment))


def other_timings(experiment: Experiment) -> list[str]:
    """The timing files of all steps before runs."""
    return sorted({file for beside in timings(experiment).values() for file in files_of(beside)})


def exclusive(experiment: Experiment) -> dict[str, bool]:
    """The setting for searches and rankings that ran one at a time; none if they did not."""
    return {"exclusive": True} if experiment.timing == "exclusive" else {}
