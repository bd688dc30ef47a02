"""Paths and settings of the fusion jobs, derived from the experiment (for rules/systems/fusion.smk)."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, given
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.records import Experiment, Task
from ranktrial.experiment.results_paths import SELECTED, path
from ranktrial.experiment.systems import fusion, out_of_fold


def dev_runs(experiment: Experiment, system: str, dataset: str, seed: str) -> list[str]:
    """The runs of the fused systems on the dev split on which their weights are tuned."""
    return _runs(experiment, system, experiment.task_of_split(dataset, "dev"), seed)


def runs(experiment: Experiment, system: str, task: str, seed: str) -> list[str]:
    """The runs of the fused systems on a task, in their order."""
    return _runs(experiment, system, task_in(experiment, task), seed)


def weights(experiment: Experiment, system: str, task: str, seed: str) -> str | list[str]:
    """The tuned weights, for a system that tunes them."""
    if not fusion.tunes(experiment.systems[system]):
        return []
    fields = {"dataset": task_in(experiment, task).dataset, "system": system, "seed": seed}
    return path("fusion_weights", experiment=experiment.name, **fields)


def tuning_settings(experiment: Experiment, system: str) -> JsonObject:
    """The settings for tuning the weights of a system."""
    return given(experiment.systems[system].own(fusion.Settings), "method")


def fusing_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """The settings for fusing the runs; tuned weights are an input file."""
    how = given(experiment.systems[system].own(fusion.Settings), "measure", "step", "depth")
    return {**how, "depth": experiment.depth, "tag": f"{system}-{seed}"}


def runs_of_folds(experiment: Experiment, system: str, task: str) -> list[str]:
    """The runs of the re-rankers on a task, in the order of the folds that they were trained without."""
    ranked = task_in(experiment, task)
    members = out_of_fold.TYPE.takes(experiment.systems[system])
    fields = {"experiment": experiment.name, "task": ranked.folder}
    return [path("run", **fields, system=name, seed=experiment.seed_taken(name, 0, ranked)) for name in members]


def joining_settings(experiment: Experiment, system: str, task: str) -> JsonObject:
    """The settings for joining the runs of folds."""
    ranked = task_in(experiment, task)
    learnt = out_of_fold.recipe_of(experiment, experiment.systems[system]).datasets
    trained = ranked.split == "train" and ranked.ranked_dataset in learnt
    how = {"seed": experiment.seed, "depth": experiment.depth, "tag": f"{system}-0"}
    return {**how, "are_training_queries": trained}


def _runs(experiment: Experiment, system: str, task: Task, seed: str) -> list[str]:
    """One run of each fused system: that of the same seed; a system that is not trained joins each seed."""
    own_seed = seed if seed == SELECTED else int(seed)
    members = fusion.TYPE.takes(experiment.systems[system])
    seeds = {name: experiment.seed_taken(name, own_seed, task) for name in members}
    fields = {"experiment": experiment.name, "task": task.folder}
    return [path("run", **fields, system=name, seed=taken) for name, taken in seeds.items()]
