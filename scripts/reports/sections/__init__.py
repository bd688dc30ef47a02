"""The sections of the report, one module each, in the order of their PLACE.

A section declares

- NAME: its key in the settings of the report's job, and PLACE: the number that orders the sections
- inputs(experiment): the files that it reads, by name; a name stands for the same files in all sections
- settings(experiment): optional, as JSON: what it says that is in no file
- blocks(report): its content; an empty list leaves it out
- in_summary(report): optional: what summary.md has in its place

Planning loads all sections, so `blocks` imports what reads tables or draws in its body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Annotated, TypeVar

import pandas as pd

from ranktrial.common import tables
from ranktrial.common.keys import JsonObject
from ranktrial.common.plugins import load_all, source
from ranktrial.common.settings import read_settings
from ranktrial.experiment import exhibits
from ranktrial.experiment.exhibits import Placed
from ranktrial.experiment.labels import facts
from ranktrial.experiment.records import Experiment
from ranktrial.ir.means import MeansRow, read_means
from ranktrial.records.facts import Facts
from ranktrial.reports.writing.content import Block, Figure, Folded, Section

Own = TypeVar("Own")
TEXTS = {
    "datasets": tables.DATASETS,
    "comparisons": tables.COMPARISONS,
    "costs": tables.COSTS,
    "selected": tables.SELECTED_SEEDS,
    "chosen": tables.CHOSEN_RECIPES,
    "extremes": tables.EXTREME_QUERIES,
}  # the columns of names and words of each table


@dataclass(frozen=True)
class Settings:
    """What the report says that no file contains."""

    experiment: str
    facts: Facts
    sections: Annotated[dict[str, dict], "section: its settings"]
    exhibits: Annotated[list[Placed], "the figures that no section places"]
    jobs: Annotated[dict[str, int], "rule: its number of jobs"]
    feeds: Annotated[list[list[str]], "pairs of rules of which the first makes what the second takes"]


@dataclass(frozen=True, eq=False)
class Report:
    """What sections are made of: the settings of the job, and the files by the names in `inputs`."""

    said: Settings
    files: Mapping[str, list[Path]]

    @property
    def facts(self) -> Facts:
        """What is known of systems, tasks and measures."""
        return self.said.facts

    @cached_property
    def means(self) -> list[MeansRow]:
        """The table of means, of a section that has `means` among its inputs."""
        return read_means(self.files["means"][0])

    def settings(self, section: str, record: type[Own]) -> Own:
        """The settings of a section, by its NAME. Raises UserError if they are not those of the record."""
        return read_settings(record, self.said.sections[section], f"--settings: {section}")

    def table(self, name: str) -> pd.DataFrame:
        """The only table of this name; its columns in TEXTS are text, all others numbers."""
        (path,) = self.files[name]
        return tables.read_table(path, *TEXTS[name])


def sections() -> list[ModuleType]:
    """All sections in their order."""
    return sorted(load_all(__name__).values(), key=lambda section: section.PLACE)


def sources() -> list[str]:
    """The files of all sections, relative to the repository."""
    return [source(__name__, section.NAME) for section in sections()]


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The figures, and the files of all sections by name. Raises ValueError for a name of different files."""
    found = {"figures": exhibits.files(experiment, ("svg",), on_page=True)}
    for section in sections():
        for name, files in section.inputs(experiment).items():
            if found.setdefault(name, files) != files:
                raise ValueError(f"section {section.NAME}: {name} are other files in another section")
    return found


def settings(experiment: Experiment) -> JsonObject:
    """The settings of the report's job, but for its rules."""
    own = {one.NAME: one.settings(experiment) for one in sections() if hasattr(one, "settings")}
    return {
        "experiment": experiment.name,
        "facts": facts(experiment),
        "sections": own,
        "exhibits": exhibits.shown(experiment),
    }


def content(report: Report, summary: bool = False) -> list[Block]:
    """The blocks of all sections, or what the summary has of them."""
    blocks: list[Block] = []
    for section in sections():
        own = getattr(section, "in_summary", section.blocks) if summary else section.blocks
        blocks += own(report)
    return with_exhibits(blocks, report.said.exhibits)


def figure(one: Placed) -> Block:
    """A figure, folded or not."""
    drawn = Figure(f"figures/{one.name}.svg", one.caption, one.shows)
    return Folded(one.folded, [drawn]) if one.folded else drawn


def with_exhibits(blocks: Sequence[Block], placed: Sequence[Placed]) -> list[Block]:
    """The blocks, with the figures of each section at its end."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Section):
            own = [figure(one) for one in placed if one.section and one.section == block.anchor]
            block = replace(block, blocks=[*with_exhibits(block.blocks, placed), *own])
        found.append(block)
    return found
