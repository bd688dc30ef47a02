"""Moderators: what is known of a task that may explain why effects differ between tasks; one module each.

`moderators: [corpus-size]` of a configuration is corpus_size.py here. A module states what `KnownModerator` lists. What
the user knows of tasks beside that comes from a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from scripts.common.plugins import load, load_all, source
from scripts.ir.trec import Qrels
from scripts.records.effects import EffectsRow

DOCUMENTS, JUDGEMENTS, QRELS, JUDGED = "documents", "judgements", "qrels", "judged"  # what a task may lack


@dataclass(frozen=True)
class TaskFacts:
    """What is known of one task.

    `collection` and `split` are counts of data/{dataset}/statistics.json: of documents, and of the task's queries and
    judgements. `effects` is the task's row of effects/{comparison}.tsv; `trained`: the treatment learnt from the task's
    dataset. What the moderators in question do not need is empty.
    """

    collection: Mapping[str, Any]
    split: Mapping[str, Any]
    qrels: Qrels
    effects: EffectsRow
    trained: bool


class KnownModerator(Protocol):
    """What the module of a moderator states."""

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
