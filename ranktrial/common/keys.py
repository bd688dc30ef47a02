"""The declaration of configuration keys: each is one field of a frozen dataclass, with everything known about it.

    learning_rate: Annotated[Rate, "highest learning rate of the schedule"] = 2e-5

The field has the type and default. Its annotation has one sentence of description and a `Rule`: bounds beyond the type,
under JSON Schema's names. An alias for a type with its rule (`Length`) is also declared once. The field of a key that
is a Python keyword ends in an underscore: `from_` is the key `from`.

A key that is only valid with, or without, other keys of its entry says so too (`Needs`, `Not`).

From these classes come the reading (settings.py), the schema (ranktrial/configuration/key_schema.py) and the
page of keys.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

JsonObject = Mapping[str, object]  # a parsed document or part of one, or an object to be written
BLANKS = "\\s\\u00ad\\u0300-\\u036f\\u200b-\\u200f\\u2060-\\u2064\\ufe00-\\ufe0f"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The constraints on a value beyond its type, by their names in JSON Schema; `title` is their text."""

    title: str | None = None
    minimum: float | None = None
    exclusive_minimum: float | None = None
    maximum: float | None = None
    exclusive_maximum: float | None = None
    pattern: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool | None = None
    min_properties: int | None = None


@dataclass(frozen=True)
class Written:
    """The type of a key in the file, if reading converts it to a simpler value in the record."""

    type: Any


@dataclass(frozen=True)
class Needs:
    """In the annotation of a key that is only valid with another key of its entry.

    `named` is `key` or `key: value`, with the key's path from the entry's root, or several of these with "or". If no
    such text states the condition, it is the test `such` of the value at `path`. `of`: the only value that has it.
    """

    named: str
    why: str = ""
    of: object = None
    path: str = ""
    such: Callable[[Any], bool] = bool

    def __str__(self) -> str:
        return f"{self._of()}only with {self.named}"

    def problem(self, entry: object) -> str | None:
        """What an entry lacks, or has too much; None if nothing."""
        return f"only valid with {self.named}" if not self.fulfilled(entry) else None

    def fulfilled(self, entry: object) -> list[str]:
        """Those of the alternatives that an entry fulfils."""
        if self.path:
            return [self.named] if self.such(_at(entry, self.path)[1]) else []
        return [one for one in self.named.split(" or ") if _is_there(entry, *one.split(": "))]

    def _of(self, verb: str = "") -> str:
        return "" if self.of is None else f"{_yaml(self.of)} {verb}"

    def message(self, entry: object, value: object, above: str) -> str | None:
        """What is wrong with a key below `above` that has this value; None if nothing is."""
        problem = self.problem(entry) if self.of in (None, value) else None
        reason = f" ({self.why})" if self.why else ""
        return problem and self._of("is ") + (problem.replace(above, "") if above else problem) + reason


class Not(Needs):
    """In the annotation of a key that is only valid without another key of its entry."""

    def __str__(self) -> str:
        return f"{self._of()}not with {self.named}"

    def problem(self, entry: object) -> str | None:
        fulfilled = self.fulfilled(entry)
        return f"not together with {fulfilled[0]}" if fulfilled else None


NULL = "null"  # in the annotation of a key that may be `null`; otherwise, a None by default means that it is left out
NO_KEY = "no key"  # in that of a field that is filled when reading and is not a key of any file
OTHERS = "others"  # in that of a field that contains all keys that the record does not name
INLINE = "inline"  # in that of a field whose record's keys are keys of the outer record
MARKS = (NULL, NO_KEY, OTHERS, INLINE)


@dataclass(frozen=True)
class Key:
    """A field of a record, with the content of its annotation."""

    field: str
    name: str
    type: Any  # without annotations
    said: tuple[Any, ...]
    default: Any  # MISSING: it is required

    @property
    def description(self) -> str:
        return "; ".join(str(one) for one in self.said if isinstance(one, str | Needs) and one not in MARKS)

    @property
    def type_of_values(self) -> Any:
        """The type without the None that means no value."""
        options = [one for one in typing.get_args(self.type) if one is not type(None)]
        return typing.Union[tuple(options)] if type(None) in typing.get_args(self.type) else self.type  # noqa: UP007

    @property
    def records(self) -> list[type]:
        """The records that the type allows."""
        return [one for one in typing.get_args(self.type) or (self.type,) if dataclasses.is_dataclass(one)]

    @property
    def required(self) -> bool:
        return self.default is dataclasses.MISSING

    def is_marked(self, mark: str) -> bool:
        return mark in self.said


@cache
def keys_of(record: type) -> dict[str, Key]:
    """The keys of a record by name, in their order."""
    hints = typing.get_type_hints(record, include_extras=True)
    return {key.name: key for key in (_key(one, hints[one.name]) for one in dataclasses.fields(record))}


def _key(field: dataclasses.Field[Any], hint: Any) -> Key:
    plain, *said = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    made = field.default_factory is not dataclasses.MISSING
    default = field.default_factory() if made else field.default  # type: ignore[misc]
    return Key(field.name, field.name.removesuffix("_"), plain, tuple(said), default)


@cache
def extended(section: type, *plug_ins: type) -> type:
    """The record of a section, extended by the keys that plug-ins declare."""
    declaring = dict.fromkeys(plug_ins)
    return dataclasses.make_dataclass(section.__name__, [], bases=(*declaring, section), frozen=True, kw_only=True)


def restated(record: type, said: Mapping[str, object]) -> type:
    """The record with something more in the annotation of some of its keys."""
    fields: list[Any] = []
    for name, more in said.items():
        key = keys_of(record)[name]
        own = [] if key.required else [dataclasses.field(default=key.default)]
        fields.append((key.field, Annotated[(key.type, *key.said, more)], *own))
    return dataclasses.make_dataclass(record.__name__, fields, bases=(record,), frozen=True, kw_only=True)


def values_of(record: Any) -> Iterator[tuple[Key, Any]]:
    """The keys of a record with their values."""
    for key in keys_of(type(record)).values():
        yield key, getattr(record, key.field)


def wrong_keys(record: Any, entry: Any = None, above: str = "") -> Iterator[tuple[str, str]]:
    """The paths of an entry's keys that do not go with its other keys, each with what is wrong."""
    for key, value in values_of(record):
        conditions = [one for one in key.said if isinstance(one, Needs)] if value != key.default else []
        for condition in conditions:
            if problem := condition.message(entry or record, value, above):
                yield f"{above}{key.name}", problem
        if dataclasses.is_dataclass(value):
            yield from wrong_keys(value, entry or record, f"{above}{key.name}.")


def _at(entry: Any, path: str) -> tuple[bool, Any]:
    """Whether the key at a path has another value than its default, and the value; None where there is none."""
    there = False
    for name in path.split("."):
        key = keys_of(type(entry)).get(name) if dataclasses.is_dataclass(entry) else None
        value = getattr(entry, key.field) if key else None
        there, entry = key is not None and value != key.default, value
    return there, entry


def _is_there(entry: object, path: str, written: str = "") -> bool:
    """Whether a key is given or, if a value is `written`, has that value."""
    there, value = _at(entry, path)
    return _yaml(value) == written if written else there


def _yaml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def plain(value: Any) -> Any:
    """A value as JSON: of a record, the keys that were given."""
    if dataclasses.is_dataclass(value):
        return given(value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return {name: plain(one) for name, one in value.items()} if isinstance(value, Mapping) else value


def given(record: Any, *without: str) -> dict[str, object]:
    """The keys and values of a record that differ from their defaults, as JSON: the settings of a job."""
    found: dict[str, object] = {}
    for key, value in values_of(record):
        if value != key.default and key.name not in without:
            among = key.is_marked(INLINE) or key.is_marked(OTHERS)
            found |= plain(value) if among else {key.name: plain(value)}
    return found


def given_of(section: type, record: Any) -> dict[str, object]:
    """The keys that a record inherits from `section`, with the values that differ from their defaults."""
    return {name: value for name, value in given(record).items() if name in keys_of(section)}


def stated(record: Any, *without: str) -> dict[str, object]:
    """All keys of a record that have a value, including defaults, as JSON."""
    found: dict[str, object] = {}
    for key, value in values_of(record):
        if value is not None and key.name not in without:
            found[key.name] = stated(value) if dataclasses.is_dataclass(value) else plain(value)
    return found


Length = Annotated[int, Rule(minimum=1, maximum=1_000_000)]
Count = Annotated[int, Rule(minimum=1, maximum=2**31 - 1)]  # a signed 32-bit integer
Depth = Annotated[int, Rule(minimum=1, maximum=10_000_000)]
Seed = Annotated[
    int, Rule(minimum=0, maximum=2**32 - 1)
]  # NumPy takes no larger one; Python and torch are seeded alike
Size = Annotated[float, Rule(exclusive_minimum=0, maximum=1_000_000)]
Share = Annotated[float, Rule(minimum=0, maximum=1)]
Level = Annotated[float, Rule(exclusive_minimum=0, exclusive_maximum=1)]
NAME = "^(?!.*\\.resume$)[A-Za-z0-9][A-Za-z0-9._-]*$"  # folders with that ending are kept for a job that is resumed
Name = Annotated[  # short enough that a file name can contain two
    str,
    Rule(
        title="a name of at most 100 letters (without accents), digits, '.', '_' and '-' that begins with a letter "
        "or digit and does not end in .resume",
        pattern=NAME,
        max_length=100,
    ),
]
FileName = Annotated[
    str,
    Rule(
        title="a file's name of at most 240 letters (without accents), digits, '.', '_' and '-'",
        pattern=NAME,
        max_length=240,
    ),
]
TaskName = Annotated[
    str,
    Rule(
        title="a dataset's name or DATASET/train, DATASET/dev, DATASET/test",
        pattern="^(?!.*\\.resume(/|$))[A-Za-z0-9][A-Za-z0-9._-]*(/(train|dev|test))?$",
        max_length=106,
    ),
]
FilePath = Annotated[  # Snakemake uses these characters for wildcards and variables in paths
    str,
    Rule(
        title="a path without the characters { } < >, of at most 1000 characters and 255 per path component, and not "
        "of the form --name, as options are",
        min_length=1,
        pattern="^(?!.*[^/]{256})(?!(\\./)*--?[a-z-]*$)[^{}<>]*$",
        max_length=1000,
    ),
]
Location = Annotated[  # ${NAME} is an environment variable, in place of a secret in a URL
    str,
    Rule(
        title="a path or an address, of at most 1000 characters and 255 per path component, with { } in ${NAME} only, "
        "and not of the form --name, as options are",
        min_length=1,
        pattern="^(?!.*[^/]{256})(?!(\\./)*--?[a-z-]*$)([^{}<>]|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\})*$",
        max_length=1000,
    ),
]
Label = Annotated[  # with at least one visible character
    str, Rule(title="a line of text of at most 200 characters", min_length=1, pattern=f"[^{BLANKS}]", max_length=200)
]
Statement = Annotated[
    str, Rule(title="a line of text of at most 1000 characters", min_length=1, pattern=f"[^{BLANKS}]", max_length=1000)
]
Prompt = Annotated[  # instructions for language models contain newlines: see ranktrial/configuration/key_paths.py
    str,
    Rule(
        title='a text of at most 1000 characters, or "" for none',
        pattern=f"^(?![\\s\\S])|[^{BLANKS}]",
        max_length=1000,
    ),
]
Title = Annotated[str, Rule(title="a line of text of at most 200 characters", max_length=200)]
Sha256 = Annotated[str, Rule(title="a SHA-256 (64 digits and letters a to f)", pattern="^[0-9a-fA-F]{64}$")]
Names = Annotated[tuple[str, ...], Rule(min_items=1, unique_items=True)]
NameOrNames = str | Names
