"""Selection of the features of a set from which a ranker learns: the keys `only` and `without`.

Each names features by their column, by their name for any field and parameters, by their family (`systems` is that of
scores), or by the system whose score they are. A list of names is one selection. A list that contains lists, or null
for all features, makes one system of each; `each` makes one for each feature of the set. Reads and writes nothing.
"""

from __future__ import annotations

from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.near_names import hint
from ranktrial.common.settings import read_settings
from ranktrial.experiment.checker import Checker, Source
from ranktrial.experiment.feature_entries import named_feature
from ranktrial.experiment.feature_sets import OF_SYSTEM
from ranktrial.experiment.key_paths import as_list, word_of
from ranktrial.experiment.rules_of_reference import Choice
from ranktrial.experiment.sections.features import AskedFeature

Selected = str | tuple[str, ...]
EACH, ALL, SYSTEMS = "each", "all", "systems"


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


def select(check: Checker, key: str, name: str, only: Selected | None, without: Selected | None) -> list[str] | None:
    """Return the columns that a ranker learns from, in the order of the file; None if these are all."""
    words: dict[str, list[str]] = {}
    for number, asked in enumerate(check.config.features[name].of or (), 1):
        column, *others = _words(check, f"features.{name}.of[{number}]", asked)
        words[column] = others
    chosen = list(words)
    if only is not None:
        chosen = _named(check, f"{key}.only", only, name, words)
    if without is not None:
        out = _named(check, f"{key}.without", without, name, words)
        chosen = [column for column in chosen if column not in out]
    if not chosen:
        raise check.fail(key, f"only and without leave no feature of {name} to learn from")
    return None if len(chosen) == len(words) else chosen


def _named(check: Checker, key: str, names: Selected, of: str, words: dict[str, list[str]]) -> list[str]:
    """Return the columns that the names refer to, in the order of the file. Raises UserError for an unknown name."""
    found: set[str] = set()
    for name in (names,) if isinstance(names, str) else names:
        meant = {name} if name in words else {column for column, others in words.items() if name in others}
        if not meant:
            known = dict.fromkeys([*words, *(other for others in words.values() for other in others)])
            raise check.fail(key, f"unknown name {name!r}{hint(name, known)}; {of} has {', '.join(known)}")
        found |= meant
    return [column for column in words if column in found]


def _words(check: Source, key: str, asked: str | AskedFeature) -> list[str]:
    """Return the names of a feature: its column, its name with and without a field, its family; or its system."""
    if isinstance(asked, AskedFeature) and asked.system is not None:
        return [OF_SYSTEM + asked.system, asked.system, SYSTEMS]
    one = named_feature(check, key, asked)
    others = dict.fromkeys([f"{one.feature}.{one.field}" if one.field else one.feature, one.feature, one.family])
    return [one.name, *(word for word in others if word and word != one.name)]


def _column(asked: Any) -> str:
    """Return the column of a feature that is not checked yet; errors are reported when it is resolved."""
    try:
        read = asked if isinstance(asked, str) else read_settings(AskedFeature, asked)
        return _words(Source(""), "", read)[0]
    except (UserError, AttributeError, TypeError, ValueError):
        return str(asked)


def _word(selection: Any) -> str:
    """Return a selection as part of a name."""
    if selection is None:
        return ALL
    return "-".join(word_of(one).strip("_") for one in as_list(selection))
