"""A ranker as it is kept: its model, and the record beside it with its learner, its features and the model's hash.

Reads both; the script that trains writes them.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from scripts.common.errors import UserError
from scripts.learning_to_rank.learners import Model, learner


def hash_of(text: str) -> str:
    """The SHA-256 of a model's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_record(path: Path) -> dict[str, Any]:
    """The record beside a model. Raises UserError for another file."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record | {"learner": str(record["learner"]), "features": list(record["features"])}
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: is no record of a ranker, or a damaged one") from None


def features_behind(record: dict[str, Any]) -> list[str]:
    """The features of the files that a ranker was learnt from, also those that it did not read."""
    behind: list[str] = record.get("chosen_from", record["features"])
    return behind


def read_model(path: Path, record: dict[str, Any]) -> Model:
    """The model that a record is of. Raises UserError for another file, and for another ranker's."""
    try:
        text = path.read_text(encoding="utf-8")
        model = learner(record["learner"]).read(text)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except ValueError:  # no text
        raise UserError(f"{path}: is no model of {record['learner']}") from None
    if hash_of(text) != record.get("model_sha256"):
        raise UserError(f"{path}: is not the model that its record was written with; train it again")
    return model
