"""The kinds of systems: which there are, of which one an entry of the configuration is, and the keys of all."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from scripts.common import plugins
from scripts.experiment.checker import Checker
from scripts.experiment.records import Experiment, System
from scripts.experiment.systems._kind import KindModule, SystemKind

PACKAGE = "scripts.experiment.systems"


@cache
def modules() -> dict[str, KindModule]:
    """The module of each kind, by its name."""
    return cast(dict[str, KindModule], plugins.load_all(PACKAGE))


def system_kind(system: System) -> SystemKind:
    """What a system's kind says of it."""
    return modules()[system.kind].KIND


def kind_of_entry(check: Checker, name: str, entry: dict[str, Any]) -> str:
    """The name of the kind that an entry is of. Raises UserError for an entry of none, and for keys of other kinds."""
    key, typed = f"systems.{name}", "type" in entry
    meant = {kind: module for kind, module in modules().items() if module.KIND.typed == typed}
    if typed:
        meant = {entry["type"]: meant[entry["type"]]}
    allowed: dict[str, Any] = {}
    for module in meant.values():
        allowed |= module.KEYS
    what = f"a system of type {entry['type']}" if typed else "a system without a type (so one with a model)"
    if alien := sorted(set(entry) - set(allowed) - {"type"}):
        raise check.fail(key, f"{what} cannot have {', '.join(map(repr, alien))}")
    for part, value in entry.items():
        known = allowed.get(part, {}).get("properties", {})
        if known and (alien := sorted(set(value) - set(known))):
            raise check.fail(f"{key}.{part}", f"{what} cannot have {', '.join(map(repr, alien))} there")
    if typed:
        named: str = entry["type"]
        return named
    if "model" not in entry:
        raise check.fail(key, f"a system needs {', '.join(f'type: {kind}' for kind in types())} or a model")
    return next(kind for kind, module in meant.items() if module.KIND.implied(check.config, entry))


def types() -> list[str]:
    """What a system's `type` may be."""
    return [name for name, module in modules().items() if module.KIND.typed]


def keys() -> dict[str, dict[str, Any]]:
    """The JSON schema of the keys of all systems, as one mapping; a key that kinds share has what each says of it."""
    message = f"{', '.join(types())}; a system with a model needs none"
    together: dict[str, dict[str, Any]] = {"type": {"description": message, "enum": types()}}
    for module in modules().values():
        for key, schema in module.KEYS.items():
            together[key] = _merged(together[key], schema) if key in together else schema
    return together


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """What both say of a key: their descriptions and properties together, all else being the same."""
    if first == second:
        return first
    words = [schema["description"] for schema in (first, second) if "description" in schema]
    merged = first | second | ({"description": "; ".join(dict.fromkeys(words))} if words else {})
    if "properties" in first and "properties" in second:
        merged["properties"] = first["properties"] | second["properties"]
    alike = (first.keys() | second.keys()) - {"description", "properties"}
    if any(first.get(key) != second.get(key) for key in alike):
        raise ValueError(f"two kinds of systems declare one key differently: {first} and {second}")
    return merged


def references() -> dict[tuple[str, ...], str]:
    """The key paths of systems that name entries, and the section where these stand."""
    return {path: section for module in modules().values() for path, section in module.REFERENCES.items()}


def plain_lists() -> list[tuple[str, ...]]:
    """The key paths of systems at which a list is a value of its own."""
    return list(dict.fromkeys(path for module in modules().values() for path in module.PLAIN_LISTS))


def takes(system: System) -> tuple[str, ...]:
    """The systems whose runs a system takes."""
    return system_kind(system).takes(system)


def behind(system: System, systems: dict[str, System], seed_by_seed: bool = False) -> list[System]:
    """The systems whose runs are behind a system's, each after those that it takes itself, and the system last.

    With `seed_by_seed` only those of which each run takes the run with its own seed, where they have several.
    """
    chain: dict[str, System] = {}
    if not seed_by_seed or system_kind(system).takes_seed_by_seed:
        for name in takes(system):
            chain |= {member.name: member for member in behind(systems[name], systems, seed_by_seed)}
    return [*chain.values(), system]


def seeds_matter(system: System) -> bool:
    """Whether another seed would change a system's own part in its runs, though no recipe trains it."""
    return len(system.seeds) > 1 or (system.seeds != (0,) and bool(system_kind(system).training_column(system)))


def documents_held(experiment: Experiment, system: System) -> int:
    """The most documents that a run of the system holds for a query."""
    taken = [documents_held(experiment, experiment.systems[name]) for name in takes(system)]
    return system_kind(system).documents_held(system, experiment.depth, taken)
