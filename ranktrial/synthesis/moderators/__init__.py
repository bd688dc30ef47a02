"""Moderators: properties of tasks that may explain differences between effects; one module each.

`moderators: [corpus-size]` of a configuration is corpus_size.py here. A module defines what `KnownModerator` lists.
Other properties are given by the user in a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from ranktrial.common.plugins import load, load_all, source
from ranktrial.ir.trec import Qrels
from ranktrial.records.comparison import EffectsRow

DOCUMENTS, JUDGEMENTS, QRELS, JUDGED = "documents", "judgements", "qrels", "judged"  # data that a task may lack


@dataclass(frozen=True)
class TaskFacts:
    """The data about one task.

    `collection` and `split` are counts of data/{dataset}/statistics.json: of documents, and of the task's queries and
    judgements. `effects` is the task's row of effects/{comparison}.tsv; `trained`: the treatment was trained on the
    task's dataset. Data that the moderators do not need are empty.
    """

    collection: Mapping[str, Any]
    split: Mapping[str, Any]
    qrels: Qrels
    effects: EffectsRow
    trained: bool


class KnownModerator(Protocol):
    """The definitions in the module of a moderator."""

    NAME: str
    DESCRIPTION: str  # in the configuration's schema
    LABEL: str  # in figures and tables
    NEEDS: tuple[str, ...]  # of DOCUMENTS, JUDGEMENTS, QRELS and JUDGED
    CATEGORICAL: bool  # its values are labels, which can make subgroups

    @staticmethod
    def value(facts: TaskFacts) -> float | str:
        """The task's value."""
        ...


def moderator_named(name: str) -> KnownModerator:
    """The module of a moderator. Raises ValueError for an unknown name."""
    return cast(KnownModerator, load(__name__, name))


def all_moderators() -> dict[str, KnownModerator]:
    """All moderators by name."""
    return cast(dict[str, KnownModerator], load_all(__name__))


def moderator_source(name: str) -> str:
    """The file of a moderator, relative to the repository."""
    return source(__name__, name)
