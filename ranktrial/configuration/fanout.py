"""A list where one value is expected makes several models, recipes, systems or comparisons (`model: [a, b, c]`).

Each is named after its entry and the values in which it differs from the others: `tuned` becomes `tuned-a`, `tuned-b`,
…. The same values are added to a label. A reference to a fanned-out entry stands for all entries made from it.
Comparisons that differ only in their treatment are drawn together, in a figure named after the entry. `same` keeps only
the pairs of control and treatment that have equal values in the given keys. `only` and `without` are lists of names, so
a list of lists makes several systems. In `negatives.from` and `train_on`, a list within the list is one value.

A recipe that is fanned out over `train_on` makes one training per dataset. `start_from: {recipe: R, dataset: same}`
selects the training of R on the same dataset, `dataset: others` each of its trainings on other datasets. A system with
`recipe: {name: R, dataset: target}` ranks the tasks of each dataset with the training on it; `dataset: others` makes
one system per training, which ranks the tasks of all other datasets. A selected training is named by what distinguishes
it from the others of its entry.

A comparison's `same` selects the pairs of control and treatment that agree in its keys.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.common.settings import read_settings
from ranktrial.common.wording import hint
from ranktrial.configuration import system_keys
from ranktrial.configuration.checker import Source
from ranktrial.configuration.feature_names import words_of
from ranktrial.configuration.key_paths import as_list, get, list_paths, put, word_of
from ranktrial.configuration.sections.features import AskedFeature

# The key paths, per section, whose value is a list that does not fan out.
PLAIN_LISTS: dict[str, list[tuple[str, ...]]] = {
    "models": [("trained_on",), ("endpoint", "leave_out")],
    "recipes": [("lora", "target_modules"), ("matryoshka_dims",)],
    "systems": system_keys.plain_lists(),
    "comparisons": [
        ("tasks",),
        ("same",),
        ("moderators",),
        *(("figure", key) for key in ("limits", "ticks", "columns")),
    ],
}
# The key paths of systems whose value is a list of names; a list of such lists makes several systems.
SELECTIONS = [("only",), ("without",)]
# The key paths of recipes at which a list within the list is one value.
TOGETHER = [("negatives", "from"), ("train_on",)]
# The key paths, per section, that name entries -> the section of these entries.
REFERENCES: dict[str, dict[tuple[str, ...], str]] = {
    "models": {},
    "recipes": {("start_from",): "recipes"},
    "systems": system_keys.references(),
    "comparisons": {("control",): "systems", ("treatment",): "systems"},
}


def fan_out_all(config: dict[str, Any], source: str) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """Fan out all sections of a configuration.

    Returns the configuration, and a mapping (section, derived name) -> the name in the file. Raises UserError if two
    derived names are the same, or if recipes or first stages refer to each other in a circle.
    """
    became = {section: Derived() for section in PLAIN_LISTS}
    datasets = list(config["datasets"]) if isinstance(config.get("datasets"), dict) else []
    origins: dict[tuple[str, str], str] = {}
    for section in PLAIN_LISTS:
        entries = config.get(section)
        if not isinstance(entries, dict):
            continue
        made: dict[str, Any] = {}
        alike = Alike(config.get("systems"), source) if section == "comparisons" else None
        for name in _in_order_of_reference(entries, section, source):
            for path in list_paths(entries[name], PLAIN_LISTS[section]):
                values = [value for value in get(entries[name], path) if not is_rule(path, section, value)]
                if section == "recipes" and path in TOGETHER:
                    values = [single for value in values for single in as_list(value)]
                _check_single(source, (section, name, *path), values)
            for path in SELECTIONS if section == "systems" else ():
                inner = [value for value in as_list(get(entries[name], path)) if isinstance(value, list)]
                _check_single(source, (section, name, *path), [value for values in inner for value in values])
            place = _Place(name, section, f"{source}: {section}.{name}", became, datasets, config.get("features"))
            for derived, (entry, words) in _fan_out(entries[name], place, alike).items():
                if derived in made:
                    raise UserError(f"{source}: {section}.{name}: becomes {derived!r}, a name that is already taken")
                made[derived] = entry
                became[section].names.setdefault(name, []).append(derived)
                became[section].words[derived] = words
                became[section].entries[derived] = entry if isinstance(entry, dict) else {}
                origins[section, derived] = name
        file_order = {name: position for position, name in enumerate(entries)}
        config[section] = dict(sorted(made.items(), key=lambda item: file_order[origins[section, item[0]]]))
    return config, origins


def _check_single(source: str, key: tuple[str, ...], values: list[Any]) -> None:
    """Raise UserError for a list or mapping among the values of a list."""
    if any(isinstance(value, list | dict) for value in values):
        place = ".".join(map(str, key))
        raise UserError(f"{source}: {place}: a list or mapping within a list; expected single values")


def _in_order_of_reference(entries: JsonObject, section: str, source: str) -> list[str]:
    """Return the names in an order in which each entry follows those of its section that it refers to."""
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
            for value in map(named_by, as_list(get(entries[name], path))):
                if value is not None and value in entries:
                    visit(value)
        open_names.pop()
        order.append(name)

    for name in entries:
        visit(name)
    return order


@dataclass(frozen=True)
class _Place:
    """The place of an entry, and the entries made from those before it."""

    name: str
    section: str
    key: str
    became: dict[str, Derived]
    datasets: list[str]
    features: Any

    def references(self, path: tuple[str, ...], value: Any) -> list[Any]:
        """Return the values of a reference: the entries made from each name, and the choices of a system's rules."""
        target = REFERENCES[self.section][path]
        found: list[Any] = []
        for named in as_list(value):
            if target == "recipes" and self.became[target].chooses(named_by(named)):
                if not isinstance(named, str) or self.section != "systems":
                    problem = f"each system that names {named_by(named)} chooses its own of it (choose)"
                    raise UserError(f"{self.key}.{path[-1]}: {problem}; name one of its recipes")
                found.append(named)
            elif isinstance(named, dict) and (self.section, path) == ("systems", RECIPE):
                chosen = trained_apart(named, self.became[target], self.datasets, f"{self.key}.recipe")
                several = isinstance(value, list) and len(value) > 1
                found += [_with_entry(choice, named) for choice in chosen] if several else chosen
            elif isinstance(named, dict) or named is None:
                found.append(named)
            else:
                found += self.became[target].names.get(str(named), [named])
        return found

    def choices(self, path: tuple[str, ...], value: Any, entry: JsonObject) -> list[Choice]:
        """Return the values that one value stands for, each with its part of the derived name."""
        if isinstance(value, Choice):
            return [value]
        if is_rule(path, self.section, value) and path == START:
            return starts(value, entry.get("train_on"), self.became["recipes"], f"{self.key}.start_from")
        if isinstance(value, list) and self.section == "recipes" and path in TOGETHER:
            return [Choice(value, "-".join(map(word_of, value)))]
        if value is None and path == START:
            return [Choice(None, FROM_SCRATCH)]
        if value == EACH and self.section == "systems" and path in SELECTIONS:
            return each(self.features, entry.get("features"))
        return [Choice(value, word_of(value))]


def _with_entry(choice: Choice, rule: JsonObject) -> Choice:
    """Return the choice with the recipe's name added, to distinguish it from the system's other recipes."""
    return choice._replace(word="-".join(filter(None, [named_by(rule), choice.word])))


def _fan_out(entry: Any, place: _Place, alike: Alike | None) -> dict[str, tuple[Any, dict[tuple[str, ...], str]]]:
    """Return derived name -> the entry with single values, and the parts of its name by key path."""
    name, section = place.name, place.section
    if not isinstance(entry, dict):
        return {name: (entry, {})}
    entry = copy.deepcopy(entry)
    paths = _with_lists(entry, place)
    combinations = list(itertools.product(*(get(entry, path) for path in paths)))
    if alike:
        combinations = alike.of(name, entry, paths, combinations)
    if not paths:
        return {name: (entry, {})}
    differing = [path for path in paths if len(get(entry, path)) > 1]
    if alike and ("control",) in differing and "same" in entry and _one_control(paths, combinations, differing):
        differing.remove(("control",))
    made: dict[str, tuple[Any, dict[tuple[str, ...], str]]] = {}
    groups: dict[str, list[str]] = {}
    for single, words in _singles(entry, place, paths, combinations, differing):
        if words and section != "models" and isinstance(single.get("label"), str):
            single["label"] += f" ({', '.join(words.values())})"
        derived = "-".join([name, *words.values()])
        if section == "comparisons" and ("treatment",) in words:
            others = [word for path, word in words.items() if path != ("treatment",)]
            if isinstance(entry.get("control"), list) and ("control",) not in differing:
                others.insert(0, word_of(single["control"]))
            groups.setdefault("-".join([name, *others]), []).append(derived)
        if derived in made:
            raise UserError(f"{place.key}: becomes {derived!r} twice")
        made[derived] = (single, words)
    for group, members in groups.items():
        for derived in members if len(members) > 1 else []:
            made[derived][0]["figure"] = {"together": group} | made[derived][0].get("figure", {})
    return made


def _with_lists(entry: dict[str, Any], place: _Place) -> list[tuple[str, ...]]:
    """Replace references and rules that stand for several values by lists; return the paths of all lists."""
    for path in REFERENCES[place.section]:
        value = get(entry, path)
        if value is None:
            continue
        references = place.references(path, value)
        if isinstance(value, list) or len(references) > 1 or any(isinstance(one, Choice) for one in references):
            put(entry, path, references)
    if is_rule(START, place.section, get(entry, START)):
        put(entry, START, [get(entry, START)])
    paths = list_paths(entry, PLAIN_LISTS[place.section])
    for path in SELECTIONS if place.section == "systems" else ():
        if several := alternatives(get(entry, path)):
            put(entry, path, several)
            paths.append(path)
    return paths


def _one_control(
    paths: list[tuple[str, ...]], combinations: list[tuple[Any, ...]], differing: list[tuple[str, ...]]
) -> bool:
    """Whether each combination of a comparison's other values has only one control."""
    places = [number for number, path in enumerate(paths) if path in differing and path != ("control",)]
    return len({tuple(str(values[number]) for number in places) for values in combinations}) == len(combinations)


def _singles(
    entry: dict[str, Any],
    place: _Place,
    paths: list[tuple[str, ...]],
    combinations: list[tuple[Any, ...]],
    differing: list[tuple[str, ...]],
) -> Iterator[tuple[dict[str, Any], dict[tuple[str, ...], str]]]:
    """Yield an entry for each combination of values, with the parts of its name; a rule may choose several values."""
    for values in combinations:
        raw = copy.deepcopy(entry)
        for path, value in zip(paths, values, strict=True):
            put(raw, path, value)
        choices = [place.choices(path, value, raw) for path, value in zip(paths, values, strict=True)]
        for chosen in itertools.product(*choices):
            single = copy.deepcopy(raw)
            words = {}
            for path, choice, options in zip(paths, chosen, choices, strict=True):
                put(single, path, choice.value)
                if choice.word and (path in differing or len(options) > 1):
                    words[path] = choice.word
            yield single, words


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
            where = f"{self.source}: comparisons.{name}"
            for role in ("control", "treatment"):
                for system in as_list(entry.get(role)):
                    if isinstance(system, str) and system not in self.systems:
                        raise UserError(f"{where}.{role}: unknown name {system!r}{hint(system, self.systems)}")
            raise UserError(f"{where}.same: no control and treatment have the same {' and '.join(map(str, keys))}")
        return remaining


EACH, ALL = "each", "all"


def alternatives(value: Any) -> list[Any] | None:
    """Return the selections into which a system fans out, with `each` unchanged; None for a single selection."""
    if value == EACH:
        return [EACH]
    if not isinstance(value, list) or not any(one is None or one == EACH or isinstance(one, list) for one in value):
        return None
    return [one if one == EACH else Choice(one and as_list(one), _word(one)) for one in value]


def each(features: Any, name: Any) -> list[Choice]:
    """Return one selection per feature of the named set; `each` itself if there is no such set."""
    entry = features.get(name) if isinstance(features, dict) and isinstance(name, str) else None
    of = entry.get("of") if isinstance(entry, dict) else None
    columns = [_column(asked) for asked in of] if isinstance(of, list) else []
    return [Choice([column], _word(column)) for column in columns] or [Choice(EACH, EACH)]


def _column(asked: Any) -> str:
    """Return the column of a feature that is not checked yet; errors are reported when it is resolved."""
    try:
        read = asked if isinstance(asked, str) else read_settings(AskedFeature, asked)
        return words_of(Source(""), "", read)[0]
    except (UserError, AttributeError, TypeError, ValueError):
        return str(asked)


def _word(selection: Any) -> str:
    """Return a selection as part of a name."""
    if selection is None:
        return ALL
    return "-".join(word_of(one).strip("_") for one in as_list(selection))
