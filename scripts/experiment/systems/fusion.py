"""Runs of several systems fused into one: by their ranks, or by sums of their normalised scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import check_split
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.systems._kind import LABEL, LIMITED, SystemKind, limited_to
from scripts.ir.fusion import MOST_TRIALS, NORMALISATIONS, trials
from scripts.ir.measure_names import cutoff, parse

NAME = "fusion"
KEYS: dict[str, dict[str, Any]] = {
    **LABEL,
    **LIMITED,
    "systems": {
        "description": "fusion: the systems whose runs are fused; one that was fanned out means all that it became",
        "type": "array",
        "items": {"type": "string"},
        "minItems": 2,
        "uniqueItems": True,
    },
    "method": {
        "description": "fusion: reciprocal-rank (default) or sums of normalised scores: weighted-sum, CombSUM, CombMNZ",
        "enum": ["reciprocal-rank", "weighted-sum", "CombSUM", "CombMNZ"],
    },
    "k": {
        "description": "reciprocal-rank: a document at rank r of a run gets 1 / (k + r); default 60",
        "type": "number",
        "minimum": 0,
        "maximum": 1000000,
    },
    "normalise": {
        "description": "sums: how a query's scores in a run are made comparable with another run's; default min-max",
        "enum": list(NORMALISATIONS),
    },
    "weights": {
        "description": "weighted-sum: the weight of each fused system, by its name",
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1000000},
    },
    "tune": {"description": "weighted-sum: choose the weights on the dev split", "type": "boolean"},
    "grid": {
        "description": "weighted-sum: the weights tried sum to 1 and are multiples of step (default 0.1)",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "step": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
            "measure": {"type": "string"},
        },
    },
}
REFERENCES: dict[tuple[str, ...], str] = {("systems",): "systems"}
PLAIN_LISTS: list[tuple[str, ...]] = [("tasks",), ("systems",)]

KEYS_OF_METHOD = {
    "reciprocal-rank": ("k",),
    "weighted-sum": ("normalise", "weights", "tune", "grid"),
    "CombSUM": ("normalise",),
    "CombMNZ": ("normalise",),
}
STEP = 0.1
K = 60  # Cormack, Clarke and Büttcher (2009), Reciprocal Rank Fusion outperforms Condorcet, SIGIR


class Fusion(SystemKind):
    needs_documents = False

    def resolve(self, check: Checker, name: str, entry: dict[str, Any], tasks: dict[str, Task]) -> System:
        ranked = limited_to(check, name, entry)
        settings = _settings(check, f"systems.{name}", entry)
        return System(name, NAME, entry.get("label", name), settings=settings, tasks=ranked)

    def takes(self, system: System) -> tuple[str, ...]:
        return tuple(system.settings["systems"])

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        """A run a seed that the fused systems have; a system without training joins each with its one run."""
        seeded = [systems[name] for name in self.takes(system) if systems[name].seeds != (0,)]
        if not seeded:
            return system
        first, *others = seeded
        for other in others:
            if set(other.seeds) != set(first.seeds):
                message = (
                    f"{first.name} has the seeds {first.seeds}, {other.name} {other.seeds}; runs of one seed are fused"
                )
                raise check.fail(f"systems.{system.name}.systems", message)
        selecting = next((member for member in seeded if member.selection), first)
        return replace(system, seeds=first.seeds, selection=selecting.selection)

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        for task in tasks.values():
            if system.ranks(task.name) and task.values_given:
                message = f"fuses runs, but task {task.name!r} has format scores, which has none; list other tasks"
                raise check.fail(f"systems.{system.name}", message)

    def check_experiment(self, check: Checker, system: System, experiment: Experiment) -> None:
        """On no task has one of the fused systems several seeds and another a selected one."""
        for task in (experiment.tasks | experiment.selection_tasks).values():
            own = set(experiment.seeds_on(system, task))
            for name in self.takes(system):
                seeds = experiment.seeds_on(experiment.systems[name], task)
                if len(seeds) > 1 and set(seeds) != own:
                    message = f"{name} has several seeds on {task.name}, another a selected one; both need select_seed"
                    raise check.fail(f"systems.{system.name}.systems", message)

    def tuned_on(self, check: Checker, system: System, tasks: dict[str, Task]) -> list[str]:
        if not tunes(system):
            return []
        for task in tasks.values():
            check_split(check, f"systems.{system.name}.tune", task.dataset, "dev")
        return list(dict.fromkeys(f"{task.dataset}/dev" for task in tasks.values()))

    def identity(self, config: dict[str, Any], system: System) -> dict[str, Any]:
        settings = dict(system.settings)
        weights = settings.pop("weights", {})
        names = settings.pop("systems")
        return {"settings": settings, "weights": [weights.get(name) for name in names]}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min(depth, sum(taken))

    def tried(self, system: System) -> int:
        return trials(round(1 / system.settings["step"]), len(system.settings["systems"])) if tunes(system) else 0

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(dataset, "dev")} if tunes(system) else set()

    def describe(self, experiment: Experiment, system: System) -> str:
        settings = system.settings
        fused = _as_text(settings["systems"])
        if settings["method"] == "reciprocal-rank":
            words = f"reciprocal rank fusion (k = {settings['k']:g}) of {fused}"
        else:
            words = f"{settings['method']} of the scores of {fused}, normalised by {settings['normalise']}"
        if tunes(system):
            words += f", weights tuned on dev by {settings['measure']}"
        elif "weights" in settings:
            words += f", weights {', '.join(f'{name} {weight:g}' for name, weight in settings['weights'].items())}"
        return words + (f", {len(system.seeds)} seeds" if len(system.seeds) > 1 else "")

    def candidates(self, system: System) -> str:
        return f"the runs of {_as_text(system.settings['systems'])}"

    def note_on_times(self, system: System) -> str:
        return "The time of a fusion is that of fusing alone, without the systems that it fuses."

    def provenance(self, experiment: Experiment, system: System) -> dict[str, Any]:
        settings = dict(system.settings)
        return {"method": "fusion", "fuses": settings.pop("systems"), "fusion": settings.pop("method"), **settings}


KIND = Fusion()


def tunes(system: System) -> bool:
    """Whether the system's weights are chosen on a dev split."""
    return "step" in system.settings


def tuning_settings(system: System) -> dict[str, Any]:
    """The settings of the job that tunes a system's weights."""
    return {key: system.settings[key] for key in ("systems", "normalise", "step", "measure", "depth")}


def fusing_settings(system: System) -> dict[str, Any]:
    """The settings of the job that fuses runs, beside depth and tag; tuned weights are an input file."""
    given = {"k", "normalise", "weights"} & set(system.settings)
    return {key: system.settings[key] for key in ("systems", "method", *sorted(given))}


def _settings(check: Checker, key: str, entry: dict[str, Any]) -> dict[str, Any]:
    """How runs are fused. Raises UserError for keys that the method does not have, or that exclude each other."""
    if "systems" not in entry:
        raise check.fail(key, "key 'systems' is missing: at least two systems whose runs are fused")
    names, method = entry["systems"], entry.get("method", "reciprocal-rank")
    for name in names:
        check.known(f"{key}.systems", name, "systems")
    of_methods = {key for keys in KEYS_OF_METHOD.values() for key in keys}
    if alien := sorted(of_methods & set(entry) - set(KEYS_OF_METHOD[method])):
        raise check.fail(key, f"method {method} cannot have {', '.join(map(repr, alien))}")
    how: dict[str, Any] = {"systems": names, "method": method}
    if method == "reciprocal-rank":
        return how | {"k": entry.get("k", K)}
    how["normalise"] = entry.get("normalise", "min-max")
    if method != "weighted-sum":
        return how
    if entry.get("tune"):
        if "weights" in entry:
            raise check.fail(key, "weights are given, so tune: true has nothing to choose; leave one out")
        return how | _grid(check, key, len(names), entry.get("grid", {}))
    if "grid" in entry:
        raise check.fail(f"{key}.grid", "only valid with tune: true")
    if "weights" not in entry:
        raise check.fail(key, "weighted-sum needs weights, a number for each system, or tune: true")
    weights = entry["weights"]
    if set(weights) != set(names):
        message = f"expected a weight for each of {', '.join(names)} and no other, not for {', '.join(weights)}"
        raise check.fail(f"{key}.weights", message)
    if not any(weights.values()):
        raise check.fail(f"{key}.weights", "all are 0; expected one above 0")
    return how | {"weights": {name: float(weights[name]) for name in names}}


def _grid(check: Checker, key: str, systems: int, given: dict[str, Any]) -> dict[str, Any]:
    grid = {"measure": check.config["measures"][0], "step": STEP, **given}
    steps = round(1 / grid["step"])
    if abs(steps * grid["step"] - 1) > 1e-9:
        raise check.fail(f"{key}.grid.step", f"{grid['step']} does not divide 1; expected such as 0.1 or 0.05")
    if (number := trials(steps, systems)) > MOST_TRIALS:
        message = (
            f"{systems} systems have {number:,} weightings in steps of {grid['step']}; expected at most {MOST_TRIALS:,}"
        )
        raise check.fail(f"{key}.grid.step", message)
    check.computable(f"{key}.grid.measure", grid["measure"])
    return grid | {"depth": cutoff(parse(grid["measure"])) or check.config["depth"]}


def _as_text(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
