"""A list where one value is expected makes several models, recipes, systems or comparisons (`model: [a, b, c]`).

Each is named after its entry and the values in which it differs from the others: `tuned` becomes `tuned-a`, `tuned-b`,
…. A reference to an entry that was fanned out means all entries that it became. The same values are added to a label.
Comparisons that differ only in their treatment are drawn together, in a figure named after the entry. `same` keeps only
the pairs of control and treatment that have the same values of these keys.
"""

from __future__ import annotations

import copy
import itertools
from typing import Any

from scripts.common.errors import UserError
from scripts.experiment import system_kinds
from scripts.experiment.plain_values import whole_numbers

# The key paths, per section, whose value is a list, which makes no further entries.
PLAIN_LISTS: dict[str, list[tuple[str, ...]]] = {
    "models": [],
    "recipes": [],
    "systems": system_kinds.plain_lists(),
    "comparisons": [
        ("tasks",),
        ("same",),
        ("moderators",),
        *(("figure", key) for key in ("limits", "ticks", "columns")),
    ],
}
# The key paths, per section, that name entries, and the section of these entries.
REFERENCES: dict[str, dict[tuple[str, ...], str]] = {
    "models": {},
    "recipes": {("start_from",): "recipes"},
    "systems": system_kinds.references(),
    "comparisons": {("control",): "systems", ("treatment",): "systems"},
}


def fan_out_all(config: dict[str, Any], source: str) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """Fan out all sections of a configuration.

    Returns the configuration, and a mapping (section, derived name) -> the name in the file. Raises UserError if two
    derived names are the same, or if recipes or first stages refer to each other in a circle.
    """
    became: dict[str, dict[str, list[str]]] = {section: {} for section in PLAIN_LISTS}
    origins: dict[tuple[str, str], str] = {}
    for section in PLAIN_LISTS:
        entries = config.get(section)
        if not isinstance(entries, dict):
            continue
        made: dict[str, Any] = {}
        alike = _Alike(config.get("systems"), source) if section == "comparisons" else None
        for name in _in_order_of_reference(entries, section, source):
            for path in _list_paths(entries[name], PLAIN_LISTS[section]):
                if any(isinstance(value, list | dict) for value in _get(entries[name], path)):
                    key = ".".join(map(str, (section, name, *path)))
                    raise UserError(f"{source}: {key}: a list or mapping within a list; expected single values")
            for derived, entry in _fan_out(name, entries[name], section, became, alike).items():
                if derived in made:
                    raise UserError(f"{source}: {section}.{name}: becomes {derived!r}, a name that is already taken")
                made[derived] = entry
                became[section].setdefault(name, []).append(derived)
                origins[section, derived] = name
        file_order = {name: position for position, name in enumerate(entries)}
        config[section] = dict(sorted(made.items(), key=lambda item: file_order[origins[section, item[0]]]))
    return config, origins


def _get(entry: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(entry, dict) or key not in entry:
            return None
        entry = entry[key]
    return entry


def _set(entry: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        entry = entry[key]
    entry[path[-1]] = value


def _in_order_of_reference(entries: dict[str, Any], section: str, source: str) -> list[str]:
    """Names such that an entry follows those of its own section that it refers to."""
    own = [path for path, target in REFERENCES[section].items() if target == section]
    order: list[str] = []
    open_names: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in open_names:
            circle = " -> ".join([*open_names[open_names.index(name) :], name])
            raise UserError(f"{source}: {section}.{name}: refers to itself: {circle}")
        open_names.append(name)
        for path in own:
            for value in _as_list(_get(entries[name], path)):
                if isinstance(value, str) and value in entries:
                    visit(value)
        open_names.pop()
        order.append(name)

    for name in entries:
        visit(name)
    return order


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _list_paths(entry: Any, plain: list[tuple[str, ...]], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if isinstance(entry, dict):
        return [listed for key, value in entry.items() for listed in _list_paths(value, plain, (*path, key))]
    return [path] if isinstance(entry, list) and entry and path not in plain else []


class _Alike:
    """Keeps a comparison's combinations of values in which control and treatment agree in the keys of `same`."""

    def __init__(self, systems: object, source: str) -> None:
        self.systems = systems if isinstance(systems, dict) else {}
        self.source = source

    def _value(self, system: object, key: str) -> Any:
        if key == "system":
            return system
        return _get(self.systems.get(system), (key,)) if isinstance(system, str) else None

    def of(
        self, name: str, entry: dict[str, Any], paths: list[tuple[str, ...]], combinations: list[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        """The combinations to keep. Raises UserError if there is none."""
        keys = entry.get("same")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            return combinations  # the schema refuses such an entry later

        def alike(values: tuple[Any, ...]) -> bool:
            listed = dict(zip(paths, values, strict=True))
            control, treatment = (listed.get((role,), entry.get(role)) for role in ("control", "treatment"))
            return all(self._value(control, key) == self._value(treatment, key) for key in keys)

        remaining = [values for values in combinations if alike(values)]
        if not remaining:
            problem = f"no control and treatment have the same {' and '.join(map(str, keys))}"
            raise UserError(f"{self.source}: comparisons.{name}.same: {problem}")
        return remaining


def _fan_out(
    name: str, entry: Any, section: str, became: dict[str, dict[str, list[str]]], alike: _Alike | None
) -> dict[str, Any]:
    if not isinstance(entry, dict):
        return {name: entry}
    entry = copy.deepcopy(entry)
    for path, target in REFERENCES[section].items():
        value = _get(entry, path)
        if value is None:
            continue
        references = [derived for named in _as_list(value) for derived in became[target].get(str(named), [named])]
        if isinstance(value, list) or len(references) > 1:
            _set(entry, path, references)
    paths = _list_paths(entry, PLAIN_LISTS[section])
    combinations = list(itertools.product(*(_get(entry, path) for path in paths)))
    if alike:
        combinations = alike.of(name, entry, paths, combinations)
    if not paths:
        return {name: entry}
    differing = [path for path in paths if len(_get(entry, path)) > 1]
    if alike and ("control",) in differing and "same" in entry:
        places = [place for place, path in enumerate(paths) if path in differing and path != ("control",)]
        if len({tuple(map(str, (values[place] for place in places))) for values in combinations}) == len(combinations):
            differing.remove(("control",))  # each treatment has only one control
    made: dict[str, dict[str, Any]] = {}
    groups: dict[str, list[str]] = {}
    for values in combinations:
        single = copy.deepcopy(entry)
        for path, value in zip(paths, values, strict=True):
            _set(single, path, value)
        words = {p: _word(value) for p, value in zip(paths, values, strict=True) if p in differing}
        if words and isinstance(single.get("label"), str):
            single["label"] += f" ({', '.join(words.values())})"
        derived = "-".join([name, *words.values()])
        if section == "comparisons" and ("treatment",) in words:
            others = [word for path, word in words.items() if path != ("treatment",)]
            if isinstance(entry.get("control"), list) and ("control",) not in differing:
                others.insert(0, _word(single["control"]))
            groups.setdefault("-".join([name, *others]), []).append(derived)
        made[derived] = single
    for group, members in groups.items():
        for derived in members if len(members) > 1 else []:
            made[derived]["figure"] = {"together": group} | made[derived].get("figure", {})
    return made


def _word(value: object) -> str:
    """A value as part of a name: the last part of a path or hub id, with '_' for other characters."""
    last = str(whole_numbers(value)).rstrip("/").rsplit("/", 1)[-1]
    return "".join(sign if sign.isalnum() or sign in "._" else "_" if sign != "-" else "-" for sign in last)
