"""The keys of a dataset by its format, and their schema."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from ranktrial.common import plugins
from ranktrial.common.keys import JsonObject, Key, extended, given_of, keys_of
from ranktrial.common.settings import read_settings
from ranktrial.configuration.checker import Source
from ranktrial.configuration.key_schema import Schema, of_key, of_record
from ranktrial.configuration.sections.dataset import Dataset, OfAll, OfDocuments, OfFiles, OfJudgements
from ranktrial.datasets.formats import Format

FORMATS = "ranktrial.datasets.formats"


def modules() -> dict[str, ModuleType]:
    """Return format name -> its module."""
    return plugins.load_all(FORMATS)


def formats() -> dict[str, Format]:
    """Return format name -> its properties."""
    return {name: module.FORMAT for name, module in modules().items()}


def format_of(dataset: Dataset) -> Format:
    """Return the properties of a dataset's format."""
    form: Format = plugins.load(FORMATS, dataset.format).FORMAT
    return form


def own_keys(name: str) -> dict[str, Key]:
    """Return the keys that a format declares, by name."""
    module = plugins.load(FORMATS, name)
    return keys_of(module.Keys) if hasattr(module, "Keys") else {}


@cache
def record_of(name: str) -> type[Dataset]:
    """Return the record class of datasets of this format."""
    module = plugins.load(FORMATS, name)
    return extended(Dataset, *([module.Keys] if hasattr(module, "Keys") else []))


def keys_of_format(name: str) -> dict[str, Key]:
    """Return the keys that a dataset of this format may have."""
    form = plugins.load(FORMATS, name).FORMAT
    allowed = keys_of(OfAll) | (keys_of(OfFiles) if form.has_files else {})
    if form.generated:
        allowed = allowed | {key: keys_of(OfDocuments)[key] for key in ("corpus", "language")}
    elif form.has_documents:
        allowed = allowed | keys_of(OfDocuments)
    elif not form.values_given:
        allowed = allowed | keys_of(OfJudgements)
    return allowed | own_keys(name)


def options_of(dataset: Dataset) -> dict[str, object]:
    """Return the options for the reader of a dataset's format: keys of its Options that differ from the default."""
    return given_of(plugins.load(FORMATS, dataset.format).Options, dataset)


def given_measure(dataset: Dataset) -> str | None:
    """Return the measure of the systems' scores, in formats with that key; otherwise None."""
    measure: str | None = getattr(dataset, "measure", None)
    return measure


@cache
def dataset_schema() -> Schema:
    """Return the schema of a dataset of any format.

    After defaults are filled in, dataset_keys checks which keys the format allows. Raises ValueError if two formats
    declare a key differently.
    """
    entry = of_record(Dataset)
    properties = entry["properties"]
    properties["format"] = {"description": properties["format"]["description"], "enum": list(formats())}
    for name, module in modules().items():
        for key, meaning in getattr(module, "MEANINGS", {}).items():
            properties[key]["description"] += f"; {name}: {meaning}"
        for key, declared in own_keys(name).items():
            owners = [other for other in modules() if key in own_keys(other)]
            schema = of_key(declared)
            if key in keys_of(Dataset) or any(of_key(own_keys(other)[key]) != schema for other in owners):
                raise ValueError(f"format {name}: {key!r} is declared otherwise by another format or for all datasets")
            properties[key] = schema | {"description": f"{', '.join(owners)}: {schema['description']}"}
    return entry


def readme_table() -> str:
    """Return the table of formats in docs/writing-an-experiment.md."""
    rows = [f"| `{name}` | {form.location} |" for name, form in formats().items()]
    return "\n".join(["| datasets: `format` | content of `location` |", "|---|---|", *rows])


def read_dataset(check: Source, name: str, entry: JsonObject) -> Dataset:
    """Return a dataset with the keys of its format. Raises UserError for a missing key, or one of another format."""
    key, form = f"datasets.{name}", str(entry["format"])
    given = _given(entry)
    if formats()[form].values_given and "location" in given:
        raise check.fail(key, f"format {form} has no location: the systems name the files, under scores")
    for required, declared in own_keys(form).items():
        if declared.required and required not in entry:
            raise check.fail(key, f"format {form} needs the key {required!r}")
    allowed = keys_of_format(form)
    check.refuse_alien(key, f"a dataset of format {form}", given, allowed)
    return read_settings(
        record_of(form), {one: value for one, value in entry.items() if one in allowed}, f"{check.source}: {key}"
    )


def _given(entry: JsonObject) -> set[str]:
    """Return the keys that differ from the schema's defaults, which are filled in for all formats."""
    properties = dataset_schema()["properties"]
    return {key for key, value in entry.items() if value != properties[key].get("default")}
