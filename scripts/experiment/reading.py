"""Reading an experiment's configuration: the JSON schema's defaults and its verdicts on what the YAML says."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path

import jsonschema

from scripts.common.errors import UserError
from scripts.common.strict_yaml import read_yaml
from scripts.experiment.fanout import fan_out_all
from scripts.experiment.former_words import with_current_words
from scripts.experiment.plain_values import check_plain, whole_numbers
from scripts.experiment.verdicts import best_match, describe, resolved

SCHEMA = Path(__file__).parents[2] / "config" / "schema.yaml"


@cache
def _schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(read_yaml(SCHEMA))


def complete(config: dict, source: str) -> tuple[dict, dict[tuple[str, str], str]]:
    """Fan the lists out, add the schema's defaults and check the result against the schema.

    Returns the configuration and, for each (section, derived name), the entry that it was fanned out from. `source`
    (the file's name) begins each message. Raises UserError for the first thing that is wrong.
    """
    check_plain(config, source)
    schema = _schema().schema
    config, origins = fan_out_all(copy.deepcopy(config), source)
    config = _with_defaults(with_current_words(config), schema, schema)
    if errors := list(_schema().iter_errors(config)):
        raise UserError(describe(best_match(errors), source, origins, schema))
    return whole_numbers(config), origins


def _with_defaults(value, schema: dict, root: dict):
    schema = resolved(schema, root)
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties", {})
    for key, part in properties.items():
        part = resolved(part, root)
        if key not in value and "default" in part:
            value[key] = copy.deepcopy(part["default"])
    others = schema.get("additionalProperties")
    for key in value:
        part = properties.get(key, others)
        if isinstance(part, dict):
            value[key] = _with_defaults(value[key], part, root)
    return value
