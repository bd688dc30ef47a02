"""Reported scores of tasks, one mean per task: nothing is read here, since the systems name the files.

The values are not per query, so a task has no variance of its own. Comparisons are over a sample of tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import Label
from ranktrial.datasets.formats import Format

NAME = "leaderboard"


@dataclass(frozen=True)
class Keys:
    """What is brought."""

    measure: Annotated[Label, "name of the values, such as accuracy"]


MEANINGS = {"format": "scores per task, supplied by the systems"}
FORMAT = Format(
    location="nothing: the systems supply one score per task, without values per query; `measure` names the scores",
    splits=lambda entry: {"test"},
    has_documents=False,
    values_given=True,
    of_tasks=True,
)
