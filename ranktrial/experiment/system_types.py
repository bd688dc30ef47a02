"""The interface of a system type, with defaults that suit most types, and queries on systems by their type.

Each module of the folder systems/ is one system type and defines what `system_keys.SystemModule` lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ranktrial.common.keys import JsonObject, plain
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.configuration.sections.configuration import Labelled as Labelled
from ranktrial.configuration.sections.configuration import Made as Made
from ranktrial.configuration.system_keys import modules
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.models.model_keys import Model


class SystemType:
    """A system type. The default methods are those of a system that has no model and takes no other system's runs."""

    typed = True  # an entry names it under `type`; otherwise `implied` decides from the other keys
    computed = True  # the workflow can make its run for any task; otherwise its runs are the user's files
    timed = True  # a timing.json accompanies each run
    searches = False  # it ranks all documents by score: no document missing from a full run scores higher
    needs_documents = True
    takes_seed_by_seed = True  # its run with a seed takes the other systems' runs with the same seed

    def implied(self, models: Mapping[str, Model], entry: Mapping[str, Any]) -> bool:
        """Whether an entry without a type is of this type."""
        return False

    def resolve(self, check: Checker, name: str, entry: Any, tasks: dict[str, Task]) -> System:
        """Return the system of a configuration's entry. Raises UserError for keys that cannot be combined."""
        raise NotImplementedError

    def takes(self, system: System) -> tuple[str, ...]:
        """Return the names of the systems whose runs it takes."""
        return ()

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        """Return the system with the seeds of the systems that it takes, which are resolved before it."""
        return system

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        """Raise UserError if the system does not fit its model or the tasks that it ranks."""

    def check_experiment(self, check: Checker, system: System, experiment: Experiment) -> None:
        """Raise UserError if the system does not fit the other systems of the resolved experiment."""

    def tuned_on(self, check: Checker, system: System, tasks: dict[str, Task]) -> list[str]:
        """Return the names of further tasks on which the systems that it takes must be run."""
        return []

    def tried(self, system: System) -> int:
        """Return the number of configurations that its own tuning compares on dev, per dataset and seed; 0: none."""
        return 0

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        """Return the (dataset, split) pairs on which it was trained or tuned to rank a dataset.

        Those of the systems that it takes are not included.
        """
        return set()

    def unseen(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        """Return splits on which its members were trained although no member ranks a query that it was trained on."""
        return set()

    def learnt_on(self, experiment: Experiment, system: System, dataset: str) -> list[str]:
        """Return the datasets on whose training queries it was trained to rank a dataset."""
        return sorted(name for name, split in self.learnt_from(experiment, system, dataset) if split == "train")

    def trainings(self, experiment: Experiment, system: System, task: Task) -> list[str]:
        """Return what tells the trainings behind a task's runs from those behind the runs of other tasks."""
        return self.learnt_on(experiment, system, task.ranked_dataset)

    def training_timing(self, experiment: Experiment, system: System, task: Task, seed: int | str) -> str | None:
        """Return the timing file of the training behind a run, if that is not the training of a recipe."""
        return None

    def further_timings(self, experiment: Experiment, system: System, task: Task) -> list[str]:
        """Return the timing files of its other inputs besides the runs that it takes, once for all seeds."""
        return []

    def training_column(self, system: System) -> str:
        """Return its column in the table of training times if it has no recipe; empty if nothing is trained."""
        return ""

    def files(self, system: System) -> list[str]:
        """Return the user's files that it reads."""
        return []

    def scored_again(self, system: System, again: dict[str, str]) -> System:
        """Return the system with runs for tasks that score another task's runs; `again` maps a task to that task."""
        return system

    def encodes_corpus(self, system: System, model: Model) -> bool:
        """Whether it ranks with a corpus that is encoded once per checkpoint."""
        return False

    def identity(self, config: Configuration, system: System) -> JsonObject:
        """Return everything that determines its runs, except the systems that it takes."""
        return {"settings": plain(system.settings)}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        """Return the maximum number of documents per query in its runs; `taken`: those of the systems it takes."""
        return depth

    def describe(self, experiment: Experiment, system: System) -> str:
        """Return its description."""
        raise NotImplementedError

    def candidates(self, system: System) -> str:
        """Return a description of the documents that it ranks."""
        return "all documents"

    def note_on_times(self, system: System) -> str:
        """Return a note on its times for the table of inference times."""
        return ""

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        """Return the metadata of its method for the archive, without its name."""
        raise NotImplementedError


def limited_to(check: Checker, name: str, entry: Made) -> tuple[str, ...] | None:
    """Return the tasks to which an entry is limited, None for all. Raises UserError for an unknown task."""
    if entry.tasks is None or entry.tasks == "all":
        return None
    for task in entry.tasks:
        check.known(f"systems.{name}.tasks", task, "tasks")
    return tuple(entry.tasks)


def system_type(system: System | Labelled) -> SystemType:
    """Return the type of a system or of its entry."""
    return cast(SystemType, modules()[system.type].TYPE)


def takes(system: System) -> tuple[str, ...]:
    """Return the names of the systems whose runs a system takes."""
    return system_type(system).takes(system)


def behind(system: System, systems: dict[str, System], seed_by_seed: bool = False) -> list[System]:
    """Return the systems behind a system's runs, each after those that it takes, and the system itself last.

    With `seed_by_seed`, only those whose runs are taken with the same seed, if they have several.
    """
    chain: dict[str, System] = {}
    if not seed_by_seed or system_type(system).takes_seed_by_seed:
        for name in takes(system):
            chain |= {member.name: member for member in behind(systems[name], systems, seed_by_seed)}
    return [*chain.values(), system]


def seeds_matter(system: System) -> bool:
    """Whether another seed would change a system's own part of its runs, although it has no recipe."""
    return len(system.seeds) > 1 or (system.seeds != (0,) and bool(system_type(system).training_column(system)))


def documents_held(experiment: Experiment, system: System) -> int:
    """Return the maximum number of documents per query in the system's runs."""
    taken = [documents_held(experiment, experiment.systems[name]) for name in takes(system)]
    return system_type(system).documents_held(system, experiment.depth, taken)
