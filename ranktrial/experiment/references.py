"""References by rule: recipes that start from "the model of the same dataset", systems trained "on each target".

A recipe that is fanned out over `train_on` makes one training per dataset. `start_from: {recipe: R, dataset: same}`
selects the training of R on the same dataset, `dataset: others` each of its trainings on other datasets. A system with
`recipe: {name: R, dataset: target}` ranks the tasks of each dataset with the training on it; `dataset: others` makes
one system per training, which ranks the tasks of all other datasets. A selected training is named by what distinguishes
it from the others of its entry.

A comparison's `same` selects the pairs of control and treatment that agree in its keys. Reads and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.common.wording import hint
from ranktrial.experiment.key_paths import as_list, get

START, TRAINED_ON, RECIPE = ("start_from",), ("train_on",), ("recipe",)
FROM_SCRATCH = "scratch"


class Choice(NamedTuple):
    """A value selected by a rule, and its part of the derived name."""

    value: Any
    word: str


@dataclass
class Derived:
    """The entries made from those of a section, by entry, and the parts of their names by key path."""

    names: dict[str, list[str]] = field(default_factory=dict)
    words: dict[str, dict[tuple[str, ...], str]] = field(default_factory=dict)
    entries: dict[str, JsonObject] = field(default_factory=dict)

    def chooses(self, name: str | None) -> bool:
        """Whether the best of the entries made from an entry is selected (`choose`)."""
        return any("choose" in self.entries[one] for one in self.names.get(name or "", ()))

    def words_without(self, name: str, path: tuple[str, ...]) -> list[str]:
        """Return the parts of a derived name, except that of one key path."""
        return [word for own, word in self.words[name].items() if own != path]


def is_rule(path: tuple[str, ...], section: str, value: object) -> bool:
    """Whether a value is a rule, not a name."""
    return isinstance(value, dict) and (section, path) in (("recipes", START), ("systems", RECIPE))


def named_by(value: object) -> str | None:
    """Return the name of the entry in a reference, which is a name or a rule."""
    if isinstance(value, dict):
        value = value.get("recipe", value.get("name"))
    return value if isinstance(value, str) else None


def starts(rule: JsonObject, dataset: object, recipes: Derived, key: str) -> list[Choice]:
    """Return the recipes from which a training on a dataset starts by a rule. Raises UserError if there are none."""
    name, which = _parts(rule, "recipe", ("same", "others"), recipes, key)
    same = which == "same"
    chosen = [one for one in recipes.names[name] if (recipes.entries[one].get("train_on") == dataset) == same]
    if not chosen:
        what = "it" if same else "another dataset"
        raise UserError(f"{key}: {name} has no training on {what} for the one on {dataset!r} to start from")
    if same:
        return [Choice(one, "-".join([name, *recipes.words_without(one, TRAINED_ON)])) for one in chosen]
    return [Choice(one, one) for one in chosen]


def trained_apart(rule: JsonObject, recipes: Derived, datasets: list[str], key: str) -> list[Choice]:
    """Return the recipes of a system by a rule: a mapping of datasets to recipes for each system to be made."""
    if set(rule) == {"each"}:  # a mapping given by the user
        return [Choice(rule, "")]
    name, which = _parts(rule, "name", ("target", "others"), recipes, key)
    if which == "others":
        return [
            Choice({"each": dict.fromkeys(_others(datasets, recipes.entries[one]), one)}, _own(one, name))
            for one in recipes.names[name]
        ]
    groups: dict[str, dict[str, str]] = {}
    for one in recipes.names[name]:
        word = "-".join(recipes.words_without(one, TRAINED_ON))
        for trained_on in as_list(recipes.entries[one].get("train_on")):
            other = groups.setdefault(word, {}).setdefault(str(trained_on), one)
            if other != one:
                raise UserError(f"{key}: {other} and {one} are both trained on {trained_on!r}; name one of them")
    return [Choice({"each": of_dataset}, word) for word, of_dataset in groups.items()]


def _parts(rule: JsonObject, naming: str, allowed: tuple[str, str], recipes: Derived, key: str) -> tuple[str, str]:
    expected = f"{{{naming}: a recipe, dataset: {' or '.join(allowed)}}}"
    name, which = rule.get(naming), rule.get("dataset")
    if set(rule) != {naming, "dataset"} or not isinstance(name, str) or which not in allowed:
        raise UserError(f"{key}: unknown rule; expected {expected}")
    if name not in recipes.names:
        raise UserError(f"{key}.{naming}: unknown name {name!r} in recipes{hint(name, recipes.names)}")
    return name, str(which)


def _others(datasets: list[str], entry: JsonObject) -> list[str]:
    return [dataset for dataset in datasets if dataset not in as_list(entry.get("train_on"))]


def _own(derived: str, name: str) -> str:
    return derived.removeprefix(name).removeprefix("-")


class Alike:
    """Filter of a comparison's combinations of values: control and treatment must agree in the keys of `same`."""

    def __init__(self, systems: object, source: str) -> None:
        self.systems = systems if isinstance(systems, dict) else {}
        self.source = source

    def _value(self, system: object, key: str) -> Any:
        if key == "system":
            return system
        return get(self.systems.get(system), (key,)) if isinstance(system, str) else None

    def of(
        self, name: str, entry: JsonObject, paths: list[tuple[str, ...]], combinations: list[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        """Return the combinations to keep. Raises UserError if there are none."""
        keys = entry.get("same")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            return combinations  # the schema check rejects such an entry later

        def alike(values: tuple[Any, ...]) -> bool:
            listed = dict(zip(paths, values, strict=True))
            control, treatment = (listed.get((role,), entry.get(role)) for role in ("control", "treatment"))
            return all(self._value(control, key) == self._value(treatment, key) for key in keys)

        remaining = [values for values in combinations if alike(values)]
        if not remaining:
            problem = f"no control and treatment have the same {' and '.join(map(str, keys))}"
            raise UserError(f"{self.source}: comparisons.{name}.same: {problem}")
        return remaining
