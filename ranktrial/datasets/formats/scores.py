"""External values per query, of any measure: nothing is read here, since the systems name the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import Label
from ranktrial.datasets.formats import Format

NAME = "scores"


@dataclass(frozen=True)
class Keys:
    """What is brought."""

    measure: Annotated[Label, "name of the values, such as accuracy"]


MEANINGS = {"format": "values per query, supplied by the systems"}
FORMAT = Format(
    location="nothing: the systems supply one value per sample; `measure` names the values",
    splits=lambda entry: {"test"},
    has_documents=False,
    values_given=True,
)
