"""What the keys of a dataset are, as JSON schema: those of all datasets, and those that each format declares.

config/schema.yaml and the README hold what this makes of the declarations, and tests keep them in step. Run as a
script, it prints the README's table of formats.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from scripts.common import plugins
from scripts.datasets.formats import Format
from scripts.ir.languages import ANALYSED, ENGLISH

FORMATS = "scripts.datasets.formats"

# The keys of every dataset, of one that has files, of one that has documents, and of one that has judgements only.
OF_ALL: dict[str, dict[str, Any]] = {
    "format": {"description": "of documents and judgements"},
    "label": {"description": "its name in figures and tables", "$ref": "#/$defs/label"},
    "licence": {
        "description": "the terms under which the data may be used, for the report",
        "$ref": "#/$defs/statement",
        "default": "not stated",
    },
}
OF_FILES: dict[str, dict[str, Any]] = {
    "location": {
        "description": "a folder, an archive (zip, tar), a URL, pypi:NAME==VERSION or ir_datasets:ID",
        "$ref": "#/$defs/location",
    },
    "sha256": {
        "description": "of the downloaded archive; required for a URL and for pypi",
        "$ref": "#/$defs/sha256",
    },
    "files": {
        "description": (
            "for a URL that is a folder: the files below it, each with its SHA-256 "
            "(null: not known yet, refused when fetched)"
        ),
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"$ref": "#/$defs/file-name"},
        "additionalProperties": {"anyOf": [{"$ref": "#/$defs/sha256"}, {"const": None}]},
    },
    "splits": {
        "description": "splits to carve out of train, without leakage, where the data lacks them",
        "type": "object",
        "additionalProperties": False,
        "default": {},
        "properties": {"dev": {"$ref": "#/$defs/fraction"}, "test": {"$ref": "#/$defs/fraction"}},
    },
    "split_by": {
        "description": (
            "what splits divides: queries; or relevant documents, whose queries go with them "
            "(queries with several stay in train)"
        ),
        "enum": ["queries", "documents"],
        "default": "queries",
    },
    "test_queries": {
        "description": (
            "keep a sample of so many judged queries of test, drawn by the seed and the same for all systems "
            "(without the key: all)"
        ),
        "$ref": "#/$defs/count",
    },
    "dev_queries": {"description": "a sample of dev, as test_queries of test", "$ref": "#/$defs/count"},
    "drop_shared": {
        "description": (
            "leave out training queries that share a relevant document with a query of the data's own dev or test"
        ),
        "type": "boolean",
        "default": False,
    },
    "grades": {
        "description": (
            "other grades for the judgements than those in the data, such as {1: 0, 2: 1, 3: 1, 4: 2}; every grade of "
            "the data is to be named"
        ),
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"$ref": "#/$defs/grade-name"},
        "additionalProperties": {"$ref": "#/$defs/grade"},
    },
}
OF_DOCUMENTS: dict[str, dict[str, Any]] = {
    "corpus": {
        "description": (
            "another dataset with the same documents (this one has other queries): they are indexed and encoded once"
        ),
        "type": "string",
    },
    "document_characters": {
        "description": (
            "leave out documents of another length (title and text together, in characters); their judgements stay"
        ),
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "properties": {"min": {"$ref": "#/$defs/count"}, "max": {"$ref": "#/$defs/count"}},
    },
    "own_document": {
        "description": (
            "what becomes of a document that is a query itself, under the query's id with nearly its text: drop leaves "
            "it out for this query, in all runs and negatives; keep treats it as any other; one of both must be said "
            "where there are any, unless excluded names them"
        ),
        "enum": ["drop", "keep"],
    },
    "excluded": {
        "description": (
            "a file of documents to leave out for a query: the ids of a query and a document on each line, parted by "
            "a tab or a space"
        ),
        "$ref": "#/$defs/path",
    },
    "unjudged": {
        "description": (
            "what queries without judgements are: left out (drop), or training queries (train), of which BM25's labels "
            "are learnt; BEIR: those that no qrels file judges, other formats: those of the train split"
        ),
        "enum": ["drop", "train"],
        "default": "drop",
    },
    "language": {
        "description": (
            "of its texts, by ISO 639-1 code: chooses the analyser of Lucene for documents and queries alike, and how "
            "texts are split into sentences"
        ),
        "type": "string",
        "enum": list(ANALYSED),
        "default": ENGLISH,
    },
    "texts": {
        "description": (
            "append: a file of JSON lines with further texts of documents, {id, text} or {id, predicted_queries} as "
            "doc2query's; first stages with texts: appended index them"
        ),
        "type": "object",
        "additionalProperties": False,
        "required": ["append"],
        "properties": {"append": {"$ref": "#/$defs/path"}},
    },
    "strict": {
        "description": (
            "stop at judgements of unknown documents and at documents with equal texts instead of counting them"
        ),
        "type": "boolean",
        "default": False,
    },
}
OF_JUDGEMENTS: dict[str, dict[str, Any]] = {
    "runs_of": {
        "description": (
            "another dataset, with documents: the runs on its tasks are scored by these judgements too, so they are "
            "further tasks and nothing is ranked again"
        ),
        "type": "string",
    },
}
SHARED = OF_ALL | OF_FILES | OF_DOCUMENTS | OF_JUDGEMENTS


def formats() -> dict[str, Format]:
    """Format -> what the workflow knows of it."""
    return {name: module.FORMAT for name, module in plugins.load_all(FORMATS).items()}


def format_of(entry: dict[str, Any]) -> Format:
    """What the workflow knows of a dataset's format."""
    form: Format = plugins.load(FORMATS, entry["format"]).FORMAT
    return form


def keys_of(name: str) -> dict[str, dict[str, Any]]:
    """The keys that a dataset of this format may have, as JSON schema."""
    module = plugins.load(FORMATS, name)
    shared = dict(OF_ALL)
    if not module.FORMAT.values_given:
        shared |= OF_FILES
    if module.FORMAT.has_documents:
        shared |= OF_DOCUMENTS
    elif not module.FORMAT.values_given:
        shared |= OF_JUDGEMENTS
    return shared | {key: shared.get(key, {}) | schema for key, schema in module.KEYS.items()}


def options_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The keys of a dataset that decide what its format's reader takes: those of the reader's Options."""
    names = [field.name for field in dataclasses.fields(plugins.load(FORMATS, entry["format"]).Options)]
    return {name: entry[name] for name in names if name in entry}


def dataset_schema() -> dict[str, Any]:
    """The JSON schema of a dataset of any format: `$defs/dataset` of config/schema.yaml.

    Which key goes with which format is checked once the defaults are there (see dataset_keys). Raises ValueError where
    two formats declare a key in two ways.
    """
    declared = {name: module.KEYS for name, module in plugins.load_all(FORMATS).items()}
    properties = {key: dict(schema) for key, schema in SHARED.items()}
    properties["format"]["enum"] = list(declared)
    for name, keys in declared.items():
        for key, schema in keys.items():
            declaring = [other for other, other_keys in declared.items() if key in other_keys and key not in SHARED]
            if key in SHARED:
                if set(schema) != {"description"}:
                    raise ValueError(f"format {name}: {key!r} is a key of all datasets; only its meaning can be added")
                properties[key]["description"] += f"; {name}: {schema['description']}"
            elif any(declared[other][key] != schema for other in declaring):
                raise ValueError(f"format {name}: {key!r} is declared otherwise by another of {', '.join(declaring)}")
            else:
                properties[key] = schema | {"description": f"{', '.join(declaring)}: {schema['description']}"}
    return {"type": "object", "additionalProperties": False, "required": ["format"], "properties": properties}


def readme_table() -> str:
    """The table of formats in the README."""
    rows = [f"| `{name}` | {form.location} |" for name, form in formats().items()]
    return "\n".join(["| datasets: `format` | content of `location` |", "|---|---|", *rows])


if __name__ == "__main__":
    print(readme_table())
