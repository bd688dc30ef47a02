"""A ranker of the user's: a program in any language, or a Python class, that may be trained or may re-rank a run.

A program is a list of words, of which no shell is asked. A word in braces, {queries}, stands for a file or a number of
the job. A class is loaded by scripts/command/runner.py in the user's own environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os.path import isfile
from pathlib import Path
from typing import Annotated

from ranktrial.common.digests import files_below
from ranktrial.common.keys import FilePath, JsonObject, Label, NameOrNames, Needs, Not, Rule, given
from ranktrial.common.paths import OUR_CODE, why_not_below
from ranktrial.common.programs import PLACEHOLDER, Value, is_among
from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.datasets import check_split
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.system_types import Made, SystemType, limited_to
from ranktrial.experiment.systems import _neural
from ranktrial.experiment.systems.rerank import Candidates

NAME = "command"
Words = tuple[str, ...]
OF_BOTH = ("queries", "corpus", "queries_tsv", "corpus_tsv", "work", "threads", "gpus")
OF_RUN = (*OF_BOTH, "run", "depth")
OF_TRAINING = (*OF_BOTH, "qrels", "dev_queries", "dev_qrels", "model")
OWN = "each task's own"
MOST_FILES = 500  # of code: each is an option and a digest of the job


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Where the program runs; without any key, in the environment that runs the workflow."""

    python: Annotated[
        FilePath | None,
        "command: the Python of its environment, such as envs/mine/bin/python",
        Not("conda or container"),
    ] = None
    conda: Annotated[
        Label | None, "command: name or folder of a conda environment", Not("container", "one environment is used")
    ] = None
    container: Annotated[Label | None, "command: an image for Apptainer: docker://NAME@sha256:… or a .sif file"] = None


@dataclass(frozen=True, kw_only=True)
class Keys(Environment, Made):
    command: Annotated[
        Words | None,
        "the program and its arguments, in which {queries}, {corpus}, {run} … stand for files (docs/ranking.md)",
        Not("ranker", "the program that is run"),
    ] = None
    ranker: Annotated[
        str | None,
        "command: a Python class instead of a program",
        Rule(title="package.module:Class", pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$", max_length=200),
    ] = None
    code: Annotated[
        FilePath | tuple[FilePath, ...] | None,
        "command: its files and folders, below the working folder; it runs again when one is edited",
    ] = None
    parameters: Annotated[
        dict[str, Value] | None,
        "command: further {words} of a program, or arguments of a class; a list makes one system per value",
    ] = None
    train: Annotated[
        Words | bool | None,
        "command: the program that learns {model} from training queries, once per seed; true: a class's `train`",
    ] = None
    train_on: Annotated[
        NameOrNames | None,
        "command: the dataset that it learns from; default each task's",
        Needs("train"),
    ] = None
    seeds: Annotated[_neural.Seeds | None, "command: number of runs with different seeds, as {seed}"] = None
    rerank: Annotated[Candidates | None, "the documents that are re-ranked"] = None
    threads: Annotated[int | None, "command: number of threads; default 1", Rule(minimum=1, maximum=1024)] = None
    gpu: Annotated[bool | None, "command: it uses a GPU, hidden otherwise"] = None


@dataclass(frozen=True, kw_only=True)
class Settings(Environment):
    """The settings of a ranker; `command` and `train` are words, `ranker` is a class. `code` are files and folders."""

    command: Words = ()
    ranker: str | None = None
    train: Words | bool = False
    parameters: Mapping[str, Value] = field(default_factory=dict)
    code: Words = ()
    train_on: str | None = None
    threads: int = 1
    gpu: bool = False
    seeded: bool = False  # whether it has seeds of its own

    @property
    def takes_dev(self) -> bool:
        """Whether its training reads the dev split."""
        return isinstance(self.train, tuple) and any("{dev_" in word for word in self.train)

    @property
    def learns_from_run(self) -> bool:
        """Whether its training reads the first stage's run of the training queries."""
        return isinstance(self.train, tuple) and any("{first_stage}" in word for word in self.train)


REFERENCES: dict[tuple[str, ...], str] = {("rerank", "first_stage"): "systems"}
PLAIN_LISTS: list[tuple[str, ...]] = [(key,) for key in ("tasks", "command", "code", "train", "train_on", "seeds")]


class Command(SystemType):
    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        first = entry.rerank
        if first:
            check.known(f"systems.{name}.rerank.first_stage", first.first_stage, "systems")
        return System(
            name,
            NAME,
            entry.label or name,
            seeds=_neural.seeds(entry.seeds or 1) if _is_seeded(entry) else (0,),
            first_stage=first.first_stage if first else None,
            depth=first.depth if first else None,
            settings=_settings(check, f"systems.{name}", entry),
            tasks=limited_to(check, name, entry),
        )

    def takes(self, system: System) -> tuple[str, ...]:
        return (system.first_stage,) if system.first_stage else ()

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        """Return the system with its own seeds, or else with those of its first stage."""
        if system.first_stage is None:
            return system
        first = systems[system.first_stage]
        if not settings_of(system).seeded:
            return replace(system, seeds=first.seeds, selection=first.selection)
        if first.seeds != (0,) and not set(system.seeds) <= set(first.seeds):
            message = f"its seeds {system.seeds} are not those of {first.name} {first.seeds}"
            raise check.fail(f"systems.{system.name}", message)
        return system

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        for dataset in _learnt(system, tasks.values()):
            key = f"systems.{system.name}.{'train_on' if settings_of(system).train_on else 'train'}"
            if not format_of(check.config.datasets[dataset]).has_documents:
                raise check.fail(key, f"{dataset} has no documents to learn from")
            for split in ("train", "dev") if settings_of(system).takes_dev else ("train",):
                check_split(check, key, dataset, split)

    def tuned_on(self, check: Checker, system: System, tasks: dict[str, Task]) -> list[str]:
        """Return the training tasks for which its training reads the first stage's runs."""
        learnt = _learnt(system, tasks.values()) if settings_of(system).learns_from_run else []
        return [f"{dataset}/train" for dataset in learnt]

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        settings = settings_of(system)
        splits = ("train", "dev") if settings.takes_dev else ("train",)
        return {(source(system, dataset), split) for split in splits} if settings.train else set()

    def training_timing(self, experiment: Experiment, system: System, task: Task, seed: int | str) -> str | None:
        if not settings_of(system).train:
            return None
        fields = {"source": source(system, task.ranked_dataset), "system": system.name, "seed": seed}
        return path("ranker_timing", experiment=experiment.name, **fields)

    def training_column(self, system: System) -> str:
        settings = settings_of(system)
        return f"{system.name} ({settings.train_on or OWN})" if settings.train else ""

    def files(self, system: System) -> list[str]:
        return code_files(settings_of(system).code)

    def identity(self, config: Configuration, system: System) -> JsonObject:
        own = system.seeds if settings_of(system).seeded else None
        return {**super().identity(config, system), "seeds": own, "depth": system.depth}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min([depth, system.depth or depth, *taken])

    def describe(self, experiment: Experiment, system: System) -> str:
        settings = settings_of(system)
        words = f"Python class {settings.ranker}" if settings.ranker else f"program {' '.join(settings.command)}"
        if settings.parameters:
            words += f" ({', '.join(f'{name} = {value}' for name, value in settings.parameters.items())})"
        if settings.train:
            words += f", trained on {settings.train_on or 'the dataset of each task'}"
        if system.first_stage:
            words += f", re-ranks the top {system.depth} of {system.first_stage}"
        return words + (f", {len(system.seeds)} seeds" if len(system.seeds) > 1 else "")

    def candidates(self, system: System) -> str:
        return f"top {system.depth} of {system.first_stage}" if system.first_stage else "all documents"

    def note_on_times(self, system: System) -> str:
        if settings_of(system).ranker:
            return "The time of a Python class is that of its searches, without loading and indexing."
        return "The time of a program is that of all it does: it starts, reads, indexes and searches."

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        settings = settings_of(system)
        reranks = {"reranks": system.first_stage, "depth": system.depth} if system.first_stage else {}
        learnt = {"trained_on": settings.train_on or "each task's dataset"} if settings.train else {}
        return {"method": NAME, **given(settings, "train_on", "seeded"), **learnt, **reranks}


TYPE = Command()


def settings_of(system: System) -> Settings:
    """Return the settings of a ranker of the user's."""
    return system.own(Settings)


def source(system: System, dataset: str) -> str:
    """Return the dataset whose training queries the ranker of a dataset's tasks has learnt from."""
    return settings_of(system).train_on or dataset


def code_files(code: Iterable[str]) -> list[str]:
    """Return the files of code: those named, and those of folders, without hidden files and compiled Python."""
    found = {
        f"{place}/{inside}" if inside else place: None
        for place in code
        for inside in files_below(Path(place))
        if not any(part.startswith(".") or part == "__pycache__" for part in inside.split("/"))
    }
    return list(found)


def _is_seeded(entry: Keys) -> bool:
    return bool(entry.seeds or entry.train)


def _learnt(system: System, tasks: Iterable[Task]) -> list[str]:
    """Return the datasets that it learns from to rank these tasks; none if it is not trained."""
    ranked = [task.ranked_dataset for task in tasks if system.ranks(task.name)]
    named = dict.fromkeys(source(system, dataset) for dataset in ranked)
    return list(named) if settings_of(system).train else []


def _settings(check: Checker, key: str, entry: Keys) -> Settings:
    """Return the settings. Raises UserError for keys that do not go together, unknown placeholders or missing code."""
    if not entry.command and not entry.ranker:
        raise check.fail(key, "a system of type command needs command, a list of words, or ranker, a Python class")
    if entry.train is not None and isinstance(entry.train, bool) == bool(entry.command):
        expected = "a list of words, as command is" if entry.command else "true: the method `train` of the class learns"
        raise check.fail(f"{key}.train", f"expected {expected}")
    train_on = entry.train_on
    if isinstance(train_on, tuple):
        raise check.fail(f"{key}.train_on", f"{', '.join(train_on)} are several; expected one dataset")
    if train_on:
        check.known(f"{key}.train_on", train_on, "datasets")
    settings = Settings(
        python=entry.python,
        conda=entry.conda,
        container=entry.container,
        command=entry.command or (),
        ranker=entry.ranker,
        train=entry.train or False,
        parameters=entry.parameters or {},
        code=_code(check, f"{key}.code", entry.code),
        train_on=train_on,
        threads=entry.threads or 1,
        gpu=bool(entry.gpu),
        seeded=_is_seeded(entry),
    )
    _check_words(check, key, entry, settings)
    _check_named(check, f"{key}.code", settings)
    return settings


def _code(check: Checker, key: str, code: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the places of code in their shortest form. Raises UserError for one outside, missing or too large."""
    named = (code,) if isinstance(code, str) else code or ()
    places = tuple(place.removeprefix("./").rstrip("/") for place in named)
    for place in places:
        if reason := why_not_below(place):
            raise check.fail(key, f"{place!r} {reason}; expected a path below this folder, such as rankers/mine.py")
        if not Path(place).exists():
            raise check.fail(key, f"no file or folder {place!r}")
        if not Path(place).resolve().is_relative_to(Path.cwd().resolve()):
            raise check.fail(key, f"{place!r} leads out of this folder by a link; copy the code")
        if f"{place}/".startswith(("results/", *OUR_CODE)):
            raise check.fail(key, f"{place!r} is the workflow's own; expected a folder of yours, such as rankers/")
    files = code_files(places)
    if len(files) > MOST_FILES:
        raise check.fail(key, f"has {len(files):,} files; expected at most {MOST_FILES}, those of the ranker alone")
    if odd := next((file for file in files if re.search("[{}<>]", file)), None):
        raise check.fail(key, f"{odd!r}: Snakemake would take {{ }} < > for wildcards; give the file another name")
    return places


def _check_words(check: Checker, key: str, entry: Keys, settings: Settings) -> None:
    """Raise UserError for unknown placeholders, and for a program without those that it needs."""
    further = [*settings.parameters, *(["seed"] if settings.seeded else [])]
    further += ["first_stage"] if entry.rerank else []
    if taken := next((name for name in settings.parameters if name in {*OF_RUN, *OF_TRAINING, "seed"}), None):
        raise check.fail(f"{key}.parameters", f"{taken!r} has a meaning already; choose another name")
    if settings.ranker:
        return
    trains = isinstance(settings.train, tuple)
    used = set()
    for name, words, known, needed in (
        ("command", settings.command, [*OF_RUN, *(["model"] if trains else []), *further], ["run"]),
        ("train", settings.train if isinstance(settings.train, tuple) else (), [*OF_TRAINING, *further], ["model"]),
    ):
        found = [placeholder for word in words for placeholder in PLACEHOLDER.findall(word)]
        used.update(found)
        if unknown := next((one for one in found if one not in known), None):
            listed = ", ".join(f"{{{one}}}" for one in known)
            problem = f"unknown placeholder {{{unknown}}}{hint(unknown, known)}; it may have {listed}"
            raise check.fail(f"{key}.{name}", problem)
        if words and not set(needed) <= set(found):
            raise check.fail(f"{key}.{name}", f"has no {{{needed[0]}}}, the place where it is to write")
    if trains and "{model}" not in " ".join(settings.command):
        raise check.fail(f"{key}.command", "has no {model}, what train has written")
    if entry.seeds and "seed" not in used:
        raise check.fail(f"{key}.seeds", "no word has {seed}, so that all runs would be the same")


def _check_named(check: Checker, key: str, settings: Settings) -> None:
    """Raise UserError for files that words, parameters or the class name, and that are not among the code."""
    values, train = settings.parameters, settings.train if isinstance(settings.train, tuple) else ()
    programs = [
        [PLACEHOLDER.sub(lambda one: str(values.get(one[1], one[0])), word) for word in words]
        for words in (settings.command, train)
    ]
    arguments = [word for words in programs for word in words[1:]]
    arguments += [value for value in values.values() if isinstance(value, str)]
    arguments += [word.partition("=")[2] for word in arguments]
    module = (settings.ranker or "").partition(":")[0].replace(".", "/")
    named = [*arguments, *(word for words in programs for word in words[:1])]
    named += [f"{module}.py", f"{module}/__init__.py"] if module else []
    for file in (word.removeprefix("./") for word in named):
        if not why_not_below(file) and Path(file).is_file() and not is_among(file, settings.code):
            raise check.fail(key, f"{file} is part of it, and an edit would not be noticed: name it here")
    for word in arguments if not settings.container else ():
        if why_not_below(word) and isfile(word):
            problem = "lies outside this folder, where an edit would not be noticed"
            raise check.fail(key, f"{word!r} {problem}: copy it and name it here")
