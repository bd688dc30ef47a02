"""The keys that an entry of its type or format may have, for messages; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ranktrial.common.keys import JsonObject, keys_of
from ranktrial.experiment import dataset_schema, system_types


def keys_of_entry(path: Sequence[str | int], entry: JsonObject) -> list[str]:
    """Return the keys of a system's type or a dataset's format; empty for another place, or an unknown type."""
    if len(path) != 2:
        return []
    if path[0] == "systems":
        named = entry.get("type")
        modules = system_types.modules()
        meant = [module for name, module in modules.items() if module.TYPE.typed == (named is not None)]
        if named is not None:
            meant = [modules[str(named)]] if str(named) in system_types.types() else []
        records: list[type] = [module.Keys for module in meant]
        keys = dict.fromkeys(key for record in records for key in keys_of(record))
        return sorted({"type", *keys}) if keys else []
    form = str(entry.get("format"))
    if path[0] == "datasets" and form in dataset_schema.formats():
        return sorted({"format", *dataset_schema.keys_of_format(form)})
    return []
