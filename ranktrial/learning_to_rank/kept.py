"""A stored ranker: its model, and the record beside it, which contains the model's hash.

Reads both; the training script writes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ranktrial.common import records
from ranktrial.common.errors import UserError
from ranktrial.learning_to_rank.learners import Model, Value, learner


@dataclass(frozen=True, kw_only=True)
class RankerRecord:
    """A ranker and how it was selected; `chosen_from` lists the features of its files if it reads only some of them."""

    learner: str
    features: list[str]
    chosen_from: list[str] | None = None
    parameters: Mapping[str, Value]
    trees_kept: int | None
    seed: int
    measure: str
    value: float
    dev_queries: int
    train_queries: int
    train_candidates: int
    combinations: int
    model_sha256: str

    @property
    def features_behind(self) -> list[str]:
        """The features of the files from which it was learnt, including those that it did not read."""
        return self.chosen_from or self.features


def hash_of(text: str) -> str:
    """The SHA-256 of a model's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_record(path: Path) -> RankerRecord:
    """The record beside a model. Raises UserError for any other file."""
    try:
        return records.read_record(RankerRecord, path)
    except (ValueError, UserError):
        raise UserError(f"{path}: is not a record of a ranker, or is damaged") from None


def read_model(path: Path, record: RankerRecord) -> Model:
    """The model that belongs to a record. Raises UserError for any other file or another ranker's model."""
    try:
        text = path.read_text(encoding="utf-8")
        model = learner(record.learner).read(text)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except ValueError:  # not UTF-8 text
        raise UserError(f"{path}: is not a model of {record.learner}") from None
    if hash_of(text) != record.model_sha256:
        raise UserError(f"{path}: is not the model that its record was written with; train it again")
    return model
