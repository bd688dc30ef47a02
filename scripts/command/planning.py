"""Paths and settings of the jobs of the user's rankers, from the experiment (for rules/systems/command.smk)."""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.keys import JsonObject, given
from ranktrial.common.programs import packages_of
from ranktrial.engine.rule_helpers import one_of
from ranktrial.experiment import job_files
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.results_paths import SELECTED, path
from ranktrial.experiment.system_types import system_type
from ranktrial.experiment.systems.command import NAME, Words, settings_of, source

Inputs = dict[str, str | list[str]]


def systems(experiment: Experiment, gpu: bool) -> str:
    """The wildcard constraint of rankers that use a GPU, or of the others."""
    rankers = {name: system for name, system in experiment.systems.items() if system.type == NAME}
    return one_of(name for name, system in rankers.items() if _on_gpu(experiment, system) == gpu)


def threads(experiment: Experiment, system: str) -> int:
    """The number of threads of a ranker."""
    return settings_of(experiment.systems[system]).threads


def loads(experiment: Experiment, system: str) -> list[str]:
    """The file that the job of a class loads by name."""
    return ["scripts/command/runner.py"] if settings_of(experiment.systems[system]).ranker else []


def running_inputs(experiment: Experiment, system: str, task: str, seed: str) -> Inputs:
    """The inputs of ranking a task."""
    own, ranked = experiment.systems[system], task_in(experiment, task)
    found: Inputs = {
        "corpus": job_files.corpus(experiment, ranked.dataset),
        "queries": job_files.queries(experiment, ranked),
        "code": system_type(own).files(own),
    }
    if own.first_stage:
        found["first_stage"] = _first_stage(experiment, own, task, seed)
    if settings_of(own).train:
        fields = {"source": source(own, ranked.ranked_dataset), "system": system, "seed": seed}
        found["model"] = path("command_model", experiment=experiment.name, **fields)
    return found


def training_inputs(experiment: Experiment, system: str, source: str, seed: str) -> Inputs:
    """The inputs of a training: texts and judgements of training queries, and of dev if it reads them."""
    own = experiment.systems[system]
    fields = {"experiment": experiment.name, "dataset": source}
    found: Inputs = {
        "corpus": job_files.corpus(experiment, source),
        "queries": path("queries", **fields, split="train"),
        "qrels": path("qrels", **fields, split="train"),
        "code": system_type(own).files(own),
    }
    if settings_of(own).takes_dev:
        found |= {f"dev_{name}": path(name, **fields, split="dev") for name in ("queries", "qrels")}
    if settings_of(own).learns_from_run:
        found["first_stage"] = _first_stage(experiment, own, experiment.task_of_split(source, "train").folder, seed)
    return found


def running_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """The settings of ranking a task."""
    own = experiment.systems[system]
    program = _program(experiment, own, settings_of(own).command, seed)
    return {**program, "depth": experiment.depth, "tag": f"{system}-{seed}"}


def training_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """The settings of a training."""
    own = experiment.systems[system]
    words = settings_of(own).train
    return _program(experiment, own, words if isinstance(words, tuple) else (), seed)


def _program(experiment: Experiment, own: System, words: Words, seed: str) -> JsonObject:
    """The settings of the program or class; of threads only if a word has them, since others change no result."""
    settings = settings_of(own)
    command = {"command": list(words)} if words else {}
    threads = {"threads": settings.threads} if any("{threads}" in word for word in words) else {}
    number = {"seed": int(seed)} if settings.seeded else {}
    candidates = {"candidates": own.depth} if own.first_stage else {}
    versions = {"versions": packages_of(Path(settings.python))} if settings.python else {}
    how = given(settings, "command", "train", "train_on", "code", "threads", "gpu", "seeded")
    gpu = {"gpu": True} if _on_gpu(experiment, own) else {}
    return {"system": own.name, **how, **command, **threads, **candidates, **number, **versions, **gpu}


def _on_gpu(experiment: Experiment, system: System) -> bool:
    return settings_of(system).gpu and experiment.device != "cpu"


def _first_stage(experiment: Experiment, own: System, task: str, seed: str) -> str:
    """The first stage's run of a task with the seed of the re-ranker."""
    ranked = task_in(experiment, task)
    taken = experiment.first_stage_seed(own, seed if seed == SELECTED else int(seed), ranked)
    return path("run", experiment=experiment.name, task=ranked.folder, system=own.first_stage, seed=taken)
