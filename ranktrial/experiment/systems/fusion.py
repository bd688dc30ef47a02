"""Fusion of the runs of several systems: by ranks, or by sums of normalised scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from ranktrial.common.keys import JsonObject, Needs, Not, Rule, given
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.datasets import check_split
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.system_types import Made, SystemType, limited_to
from ranktrial.ir.fusion import MOST_TRIALS, NORMALISATIONS, trials
from ranktrial.ir.measure_names import cutoff, parse

NAME = "fusion"


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The weights to try."""

    step: Annotated[
        float | None, "the weights tried are multiples of it; default 0.1", Rule(exclusive_minimum=0, maximum=0.5)
    ] = None
    measure: Annotated[str | None, "measure that decides; default: the first of the measures"] = None


SUMS = "method: weighted-sum or method: CombSUM or method: CombMNZ"
WEIGHTED = Needs("method: weighted-sum")


@dataclass(frozen=True, kw_only=True)
class Keys(Made):
    systems: Annotated[
        tuple[str, ...],
        "fusion: the systems whose runs are fused",
        Rule(min_items=2, unique_items=True),
    ]
    method: Annotated[
        Literal["reciprocal-rank", "weighted-sum", "CombSUM", "CombMNZ"] | None,
        "fusion: reciprocal-rank (default) or sums of normalised scores: weighted-sum, CombSUM, CombMNZ",
    ] = None
    k: Annotated[
        float | None,
        "a document at rank r of a run gets 1 / (k + r); default 60",
        Rule(minimum=0, maximum=1_000_000),
        Not(SUMS),
    ] = None
    normalise: Annotated[
        Literal[tuple(NORMALISATIONS)] | None,  # type: ignore[valid-type]
        "normalisation that makes a query's scores comparable between runs; default min-max",
        Needs(SUMS),
    ] = None
    weights: Annotated[
        dict[str, Annotated[float, Rule(minimum=0, maximum=1_000_000)]] | None,
        "weight of each fused system, by its name",
        WEIGHTED,
        Not("tune: true"),
        Rule(min_properties=1),
    ] = None
    tune: Annotated[bool | None, "choose the weights on the dev split", WEIGHTED] = None
    grid: Annotated[
        Grid | None, "the weights tried sum to 1 and are multiples of step (default 0.1)", Needs("tune: true")
    ] = None


@dataclass(frozen=True)
class Settings:
    """The settings of a fusion; with `step`, the weights are tuned by `measure` on runs of `depth`."""

    systems: tuple[str, ...]
    method: str
    k: float | None = None
    normalise: str | None = None
    weights: Mapping[str, float] | None = None
    measure: str | None = None
    step: float | None = None
    depth: int | None = None


REFERENCES: dict[tuple[str, ...], str] = {("systems",): "systems"}
PLAIN_LISTS: list[tuple[str, ...]] = [("tasks",), ("systems",)]

STEP = 0.1
K = 60  # Cormack, Clarke and Büttcher (2009), Reciprocal Rank Fusion outperforms Condorcet, SIGIR


class Fusion(SystemType):
    needs_documents = False

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        ranked = limited_to(check, name, entry)
        settings = _settings(check, f"systems.{name}", entry)
        return System(name, NAME, entry.label or name, settings=settings, tasks=ranked)

    def takes(self, system: System) -> tuple[str, ...]:
        return system.own(Settings).systems

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        """Return the system with one run per seed of the fused systems; an untrained system's one run joins each."""
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
        """Check that on no task one fused system has several seeds and another a selected one."""
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
            check_split(check, f"systems.{system.name}.tune", task.dataset, "dev", "weights instead of tune: true")
        return list(dict.fromkeys(f"{task.dataset}/dev" for task in tasks.values()))

    def identity(self, config: Configuration, system: System) -> JsonObject:
        settings = system.own(Settings)
        weights = settings.weights or {}
        named = [weights.get(name) for name in settings.systems]
        return {"settings": given(settings, "systems", "weights"), "weights": named}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min(depth, sum(taken))

    def tried(self, system: System) -> int:
        settings = system.own(Settings)
        return trials(round(1 / settings.step), len(settings.systems)) if settings.step else 0

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(dataset, "dev")} if tunes(system) else set()

    def describe(self, experiment: Experiment, system: System) -> str:
        settings = system.own(Settings)
        fused = _as_text(settings.systems)
        if settings.method == "reciprocal-rank":
            words = f"reciprocal rank fusion (k = {settings.k:g}) of {fused}"
        else:
            words = f"{settings.method} of the scores of {fused}, normalised by {settings.normalise}"
        if tunes(system):
            words += f", weights tuned on dev by {settings.measure}"
        elif settings.weights:
            words += f", weights {', '.join(f'{name} {weight:g}' for name, weight in settings.weights.items())}"
        return words + (f", {len(system.seeds)} seeds" if len(system.seeds) > 1 else "")

    def candidates(self, system: System) -> str:
        return f"the runs of {_as_text(system.own(Settings).systems)}"

    def note_on_times(self, system: System) -> str:
        return "The time of a fusion is that of fusing alone, without the systems that it fuses."

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        settings = system.own(Settings)
        how = given(settings, "systems", "method")
        return {"method": "fusion", "fuses": list(settings.systems), "fusion": settings.method, **how}


TYPE = Fusion()


def tunes(system: System) -> bool:
    """Whether the system's weights are tuned on a dev split."""
    return system.own(Settings).step is not None


def _settings(check: Checker, key: str, entry: Keys) -> Settings:
    """Return the settings. Raises UserError for keys that the method does not have or that exclude each other."""
    method = entry.method or "reciprocal-rank"
    for name in entry.systems:
        check.known(f"{key}.systems", name, "systems")
    if method == "reciprocal-rank":
        return Settings(entry.systems, method, k=K if entry.k is None else entry.k)
    how = Settings(entry.systems, method, normalise=entry.normalise or "min-max")
    if method != "weighted-sum":
        return how
    return _tuned(check, key, entry, how) if entry.tune else replace(how, weights=_weights(check, key, entry, how))


def _weights(check: Checker, key: str, entry: Keys, how: Settings) -> dict[str, float]:
    """Return the weights of a weighted sum."""
    if not entry.weights:
        raise check.fail(key, "weighted-sum needs weights, a number for each system, or tune: true")
    if set(entry.weights) != set(how.systems):
        weighted = ", ".join(entry.weights)
        message = f"expected a weight for each of {', '.join(how.systems)} and no other, not for {weighted}"
        raise check.fail(f"{key}.weights", message)
    if not any(entry.weights.values()):
        raise check.fail(f"{key}.weights", "all are 0; expected one above 0")
    return {name: float(entry.weights[name]) for name in how.systems}


def _tuned(check: Checker, key: str, entry: Keys, how: Settings) -> Settings:
    """Return the settings with those of tuning the weights."""
    grid, systems = entry.grid or Grid(), len(how.systems)
    measure, step = grid.measure or check.config.measures[0], grid.step or STEP
    steps = round(1 / step)
    if abs(steps * step - 1) > 1e-9:
        raise check.fail(f"{key}.grid.step", f"{step} does not divide 1; expected a value such as 0.1 or 0.05")
    if (number := trials(steps, systems)) > MOST_TRIALS:
        message = f"{systems} systems have {number:,} weightings in steps of {step}; expected at most {MOST_TRIALS:,}"
        raise check.fail(f"{key}.grid.step", message)
    check.computable(f"{key}.grid.measure", measure)
    return replace(how, measure=measure, step=step, depth=cutoff(parse(measure)) or check.config.depth)


def _as_text(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
