"""Reading an experiment's configuration: defaults and validation by the JSON schema; and writing it with all defaults.

Snakemake merges several files and --config into one configuration that is not stored. The resolved file in the results
folder is written at each run, as a file for --configfile that defines the same experiment. (A list that makes several
systems or comparisons therefore remains a list, which also determines what is drawn together.) It is not the output of
a job: nothing depends on it.
"""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.common.ledger import write_whole
from ranktrial.common.settings import read_settings
from ranktrial.common.strict_yaml import read_yaml as read_yaml
from ranktrial.configuration.checker import Source
from ranktrial.configuration.dataset_keys import read_dataset
from ranktrial.configuration.fanout import fan_out_all
from ranktrial.configuration.key_paths import check_plain, whole_numbers, with_grades_as_text
from ranktrial.configuration.key_schema import Schema
from ranktrial.configuration.location_checks import check_secrets
from ranktrial.configuration.schema import records, schema, whole
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.configuration.sections.recipe import settle_epochs, with_text_keys
from ranktrial.configuration.system_keys import read_system
from ranktrial.configuration.verdicts import best_match, describe


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def complete(config: JsonObject, source: str) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """Fan the lists out, add the schema's defaults and check the result against the schema.

    Returns the configuration and, for each (section, derived name), the entry that it was fanned out from. `source`
    (the file name) begins each message. Raises UserError for the first error.
    """
    with_text = with_grades_as_text(with_text_keys(config, source))
    check_plain(with_text, source)
    fanned_out, origins = fan_out_all(copy.deepcopy(with_text), source)
    completed = add_defaults(fanned_out, schema())
    if errors := list(_validator().iter_errors(completed)):
        raise UserError(describe(best_match(errors), source, origins))
    completed = whole_numbers(completed)
    settle_epochs(completed, source)
    return completed, origins


def configuration(completed: dict[str, Any], source: str) -> Configuration:
    """Return a completed configuration as records. Raises UserError for keys that a format or system type lacks."""
    check = Source(source)
    datasets = {name: read_dataset(check, name, entry) for name, entry in completed["datasets"].items()}
    of_plugins: dict[str, Any] = {
        section: {name: read_settings(record, entry) for name, entry in completed[section].items()}
        for section, record in records().items()
    }
    of_plugins["systems"] = {
        name: read_system(check, name, entry, of_plugins["models"]) for name, entry in completed["systems"].items()
    }
    return read_settings(whole(), completed | {"datasets": datasets} | of_plugins, source)


def remove_nulls(config: dict[str, Any]) -> None:
    """Remove the keys without a value: in the second of several files, null takes a key of the first away."""
    for key, value in list(config.items()):
        if value is None:
            del config[key]
        elif isinstance(value, dict):
            remove_nulls(value)


def with_defaults(config: JsonObject) -> JsonObject:
    """Return a valid configuration with the schema's defaults, without fan-out: lists remain lists."""
    completed: JsonObject = add_defaults(copy.deepcopy(with_grades_as_text(config)), schema())
    return completed


def add_defaults(value: Any, part: Schema) -> Any:
    """Return the value with the defaults of its schema `part`; keys with default null are kept only with a value."""
    if not isinstance(value, dict):
        return value
    properties = part.get("properties", {})
    for key, inner in properties.items():
        if key not in value and inner.get("default") is not None:
            value[key] = copy.deepcopy(inner["default"])
    others = part.get("additionalProperties")
    for key in list(value):
        inner = properties.get(key, others)
        if isinstance(inner, dict):
            value[key] = add_defaults(value[key], inner)
            if value[key] is None and inner.get("default", "") is None:
                del value[key]
    return value


NAME = "config.yaml"
HEAD = (
    "# The configuration of the last run with all defaults, written by the workflow; it can be given as --configfile.\n"
)


class _WithoutAliases(yaml.SafeDumper):
    """A dumper that repeats shared values, for readers who do not know YAML's anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def resolved_text(config: JsonObject, source: str) -> str:
    """Return the configuration with all defaults as YAML. Raises UserError, beginning with `source`, if invalid."""
    check_secrets(config, source)
    complete(config, source)
    return HEAD + yaml.dump(
        with_defaults(config), Dumper=_WithoutAliases, sort_keys=False, allow_unicode=True, width=120
    )


def write_resolved(config: JsonObject, source: str, folder: Path) -> None:
    """Write the configuration with all defaults into the folder, atomically. Raises UserError."""
    path, text = folder / NAME, resolved_text(config, source)
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
