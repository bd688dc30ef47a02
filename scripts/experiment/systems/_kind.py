"""What a kind of system says of itself, with the answers that fit most kinds.

Each module of this folder is one kind. It states what `KindModule` lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from scripts.common.keys import JsonObject, plain
from scripts.experiment.checker import Checker
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.sections.configuration import Configuration
from scripts.experiment.sections.system import Labelled as Labelled
from scripts.experiment.sections.system import Made as Made
from scripts.models.model_keys import Model


class SystemKind:
    """A kind of system; the methods that are not overridden are right for one that stands alone and has no model."""

    typed = True  # an entry names it under `type`; otherwise `implied` says whether it is meant
    computed = True  # its runs are made here, so there can be one for any task; otherwise they are files of the user's
    timed = True  # its runs have a timing.json beside them
    searches = False  # it ranks all documents by its scores: one that a full run lacks has no higher score
    needs_documents = True
    takes_seed_by_seed = True  # its run with a seed takes others' runs with that seed
    model_settings: tuple[str, ...] = ()  # keys of its model in the settings of the job that ranks
    by_tokens = False  # whether that job has batches of so many tokens, where its model is one of torch and says so

    def implied(self, models: Mapping[str, Model], entry: Mapping[str, Any]) -> bool:
        """Whether an entry without a type is of this kind."""
        return False

    def resolve(self, check: Checker, name: str, entry: Any, tasks: dict[str, Task]) -> System:
        """The system of a configuration's entry. Raises UserError for keys that do not go together."""
        raise NotImplementedError

    def takes(self, system: System) -> tuple[str, ...]:
        """The systems whose runs it takes."""
        return ()

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        """The system with the seeds that it has from those it takes, which are resolved before it."""
        return system

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        """Raise UserError for what does not fit its model, or the tasks that it ranks."""

    def check_experiment(self, check: Checker, system: System, experiment: Experiment) -> None:
        """Raise UserError for what does not fit the other systems of the resolved experiment."""

    def tuned_on(self, check: Checker, system: System, tasks: dict[str, Task]) -> list[str]:
        """The names of further tasks for which the systems that it takes need runs."""
        return []

    def tried(self, system: System) -> int:
        """The configurations that its own tuning compares on dev, for one dataset and seed; 0: it is not tuned."""
        return 0

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        """The datasets and splits on which what ranks a dataset was trained or tuned, but for what it takes."""
        return set()

    def unseen(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        """Splits on which what it takes was trained, though no query of them is ranked by what has learnt it."""
        return set()

    def learnt_on(self, experiment: Experiment, system: System, dataset: str) -> list[str]:
        """Those of these datasets on whose training queries it was trained."""
        return sorted(name for name, split in self.learnt_from(experiment, system, dataset) if split == "train")

    def training_timing(self, experiment: Experiment, system: System, task: Task, seed: int | str) -> str | None:
        """The timing file of the training behind a run, where that is not of its model's recipe."""
        return None

    def further_timings(self, experiment: Experiment, system: System, task: Task) -> list[str]:
        """The timing files of what it needs beside the runs that it takes, once for all its seeds."""
        return []

    def training_column(self, system: System) -> str:
        """Its column in the table of training times, where it has no recipe; empty where nothing is trained."""
        return ""

    def files(self, system: System) -> list[str]:
        """The user's own files that it reads."""
        return []

    def scored_again(self, system: System, again: dict[str, str]) -> System:
        """The system with the runs of tasks on which those of others are scored: task -> the other."""
        return system

    def encodes_corpus(self, system: System, model: Model) -> bool:
        """Whether it ranks with a corpus that was encoded once a checkpoint."""
        return False

    def identity(self, config: Configuration, system: System) -> JsonObject:
        """All that makes its runs, beside the systems that it takes."""
        return {"settings": plain(system.settings)}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        """The most documents that its runs hold for a query; `taken` says it of the systems that it takes."""
        return depth

    def describe(self, experiment: Experiment, system: System) -> str:
        """What it is, as text."""
        raise NotImplementedError

    def candidates(self, system: System) -> str:
        """The documents that it ranks, as text."""
        return "all documents"

    def note_on_times(self, system: System) -> str:
        """What the table of inference times has to say of its times."""
        return ""

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        """What the archive says of its method, beside its name."""
        raise NotImplementedError


class KindModule(Protocol):
    """What the module of a kind states."""

    NAME: str
    Keys: type[Labelled]  # the record of an entry
    REFERENCES: dict[tuple[str, ...], str]  # key paths that name entries, with the section where these stand
    PLAIN_LISTS: list[tuple[str, ...]]  # key paths at which a list is a value of its own, and does not fan out
    KIND: SystemKind  # an instance of a class derived from it


def limited_to(check: Checker, name: str, entry: Made) -> tuple[str, ...] | None:
    """The tasks that an entry is limited to, None for all. Raises UserError for an unknown one."""
    if entry.tasks is None or entry.tasks == "all":
        return None
    for task in entry.tasks:
        check.known(f"systems.{name}.tasks", task, "tasks")
    return tuple(entry.tasks)
