"""Reading an experiment's configuration: YAML without doubled keys, the JSON schema's defaults and its verdicts."""

from __future__ import annotations

import copy
import difflib
from pathlib import Path

import jsonschema
import yaml

from scripts.common.errors import UserError
from scripts.common.fanout import fan_out_all
from scripts.common.files import is_number

SCHEMA = Path(__file__).parents[2] / "config" / "schema.yaml"


class _UniqueKeys(yaml.SafeLoader):
    """YAML's safe loader, but a key written twice is an error (YAML itself would silently take the last)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                mark = key.start_mark
                raise UserError(f"{mark.name}:{mark.line + 1}: key {key.value!r} stands twice")
            if key.tag != "tag:yaml.org,2002:merge":
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict:
    """Read a YAML file. Raises UserError, with the line, for bad YAML and for a key that stands twice."""
    try:
        with open(path, encoding="utf-8") as file:
            content = yaml.load(file, _UniqueKeys)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except yaml.MarkedYAMLError as error:
        raise UserError(f"{path}:{error.problem_mark.line + 1}: not YAML: {error.problem}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: a mapping (key: value) is wanted at the top")
    return content


def complete(config: dict, source: str) -> tuple[dict, dict[tuple[str, str], str]]:
    """Fan the lists out, add the schema's defaults and check the result against the schema.

    Returns the configuration and, for each (section, derived name), the entry that it was fanned out from. `source`
    (the file's name) begins each message. Raises UserError for the first thing that is wrong.
    """
    schema = yaml.safe_load(SCHEMA.read_text())
    config, origins = fan_out_all(copy.deepcopy(config), source)
    config = _with_defaults(config, schema, schema)
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(config), key=lambda error: len(error.path))
    if errors:
        raise UserError(_describe(errors[0], source, origins))
    return config, origins


def _resolve(schema: dict, root: dict) -> dict:
    reference = schema.get("$ref", "")
    target = root["$defs"][reference.rsplit("/", 1)[-1]] if reference else {}
    return target | schema


def _with_defaults(value, schema: dict, root: dict):
    schema = _resolve(schema, root)
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties", {})
    for key, part in properties.items():
        part = _resolve(part, root)
        if key not in value and "default" in part:
            value[key] = copy.deepcopy(part["default"])
    others = schema.get("additionalProperties")
    for key in value:
        part = properties.get(key, others)
        if isinstance(part, dict):
            value[key] = _with_defaults(value[key], part, root)
    return value


KINDS = {"object": "a mapping", "array": "a list", "string": "text", "number": "a number", "integer": "a whole number",
         "boolean": "true or false", "null": "null"}  # fmt: skip


def _kind(value) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    return KINDS[names.get(type(value), "null")]


def _wanted(schema: dict, root: dict) -> str:
    """In words, what a (sub)schema allows."""
    schema = _resolve(schema, root)
    if "anyOf" in schema:
        return " or ".join(_wanted(part, root) for part in schema["anyOf"])
    if "const" in schema:
        return repr(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    types = schema.get("type", [])
    words = " or ".join(KINDS[name] for name in ([types] if isinstance(types, str) else types))
    limits = [("minimum", "of at least"), ("exclusiveMinimum", "above"), ("maximum", "of at most"),
              ("exclusiveMaximum", "below"), ("pattern", "that matches")]  # fmt: skip
    return " ".join([words, *(f"{said} {schema[key]}" for key, said in limits if key in schema)])


def _describe(error: jsonschema.ValidationError, source: str, origins: dict[tuple[str, str], str]) -> str:
    path = list(error.absolute_path)
    if len(path) > 1:
        path[1] = origins.get((path[0], path[1]), path[1])
    where = ": ".join([source, *([".".join(map(str, path))] if path else [])])
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema.get("properties", {}))
        unknown = next(key for key in error.instance if key not in allowed)
        close = difflib.get_close_matches(str(unknown), allowed, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"allowed are {', '.join(allowed)}"
        return f"{where}: unknown key {unknown!r}; {hint}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"{where}: key {missing!r} is missing"
    if error.validator in ("minItems", "minProperties"):
        return f"{where}: is empty; at least one entry is wanted"
    if error.validator == "uniqueItems":
        return f"{where}: an entry stands twice: {error.instance}"
    if "propertyNames" in error.schema_path:
        return f"{where}: bad name {error.instance!r}; it may hold letters, digits, '.', '_' and '-'"
    root = yaml.safe_load(SCHEMA.read_text())
    said = f"{where}: {error.instance!r} is {_kind(error.instance)}; wanted is {_wanted(error.schema, root)}"
    if isinstance(error.instance, str) and is_number(error.instance):
        said += f" (YAML takes {error.instance} for text: write {float(error.instance):.1e})"
    return said
