"""The table of means as a paper prints it: systems by tasks, one table per measure, with the average over tasks.

Reads tables/means.tsv, and multiple-comparisons/{family}.json with tables/multiple-comparisons/{family}.tsv for the
letters. Writes tables/means.md and tables/means.tex (booktabs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.ir.means import MeansRow, read_means
from ranktrial.records.facts import Facts
from ranktrial.reports.comparison.families import FoundFamily, of_all_pairs, read_families, size_alone
from ranktrial.reports.contents.data import Value, columns_shown, in_bold, marks_stated, value_of
from ranktrial.reports.writing.content import Block, Column, Items, Section, Table
from ranktrial.reports.writing.printed import write_printed

AVERAGE = "Average"


@dataclass(frozen=True)
class Settings:
    """What no table of means contains."""

    facts: Facts
    tried: Annotated[dict[str, int], "by tuned system, the configurations compared on dev"]


def values(
    means: Sequence[MeansRow], measure: str, settings: Settings, letters: Mapping[str, str]
) -> dict[str, dict[str, Value]]:
    """By system and task the value; by system under AVERAGE their mean, where the system has every task."""
    measured = [row for row in means if measure in row.measures]
    tasks = {row.task for row in measured}
    found: dict[str, dict[str, Value]] = {}
    for row in measured:
        found.setdefault(row.system, {})[row.task] = value_of(row, measure, settings.facts)
    for system, of_tasks in found.items():
        if len(tasks) > 1 and len(of_tasks) == len(tasks):
            average = sum(value.mean for value in of_tasks.values()) / len(tasks)
            of_tasks[AVERAGE] = Value(average, letters=letters.get(settings.facts.labels.system(system), ""))
    return found


def means_table(means: Sequence[MeansRow], measure: str, settings: Settings, tested: FoundFamily | None) -> Table:
    """Systems by tasks, the best of each column bold."""
    labels = settings.facts.labels
    letters = {one.system: one.sign for one in tested.whole.standings} if tested else {}
    found = {labels.system(name): of for name, of in values(means, measure, settings, letters).items()}
    names = [*dict.fromkeys(task for of_tasks in found.values() for task in of_tasks if task != AVERAGE)]
    heads = {task: labels.task(task) for task in names}
    scopes = dict(heads)
    if any(AVERAGE in of_tasks for of_tasks in found.values()):
        heads[AVERAGE] = AVERAGE
        scopes[AVERAGE] = tested.whole.task if tested and tested.tasks == len(names) else ""
    columns = {name: {system: of[name] for system, of in found.items() if name in of} for name in heads}
    lower = measure in settings.facts.lower_is_better
    bold = {name: in_bold(column, measure, lower, tested, scopes[name]) for name, column in columns.items()}
    tried = {labels.system(name): number for name, number in settings.tried.items()}
    rows = []
    for system, of in found.items():
        cells = [of[name].text(system in bold[name]) if name in of else "" for name in heads]
        rows.append([system, *cells, *([f"{tried.get(system, 1)}"] if tried else [])])
    shown = [Column("System"), *(Column(head, "r") for head in heads.values())]
    shown += [Column("Tried", "r")] if tried else []
    return Table(shown, [rows], caption=f"Mean {measure} of each system on each task.")


def notes(
    means: Sequence[MeansRow], measure: str, settings: Settings, family: str, tested: FoundFamily | None
) -> Items:
    """How to read one of the tables."""
    best = f"the {'lowest' if measure in settings.facts.lower_is_better else 'highest'} mean of a column"
    systems = {settings.facts.labels.system(row.system) for row in means if measure in row.measures}
    apart = tested and {one.system for one in tested.whole.standings} == systems
    also = " and those that do not differ significantly from it" if apart else ", significant or not"
    said = [f"Bold: {best}{also}."]
    said += [f"{column.sign}: {column.meaning}." for column in columns_shown(means, [measure])]
    said += [mark.note.format(systems=names) for mark, names in marks_stated(settings.facts)]
    if tested:
        said.append(f"Systems that share a letter do not differ significantly over the tasks of the family {family}.")
        said += filter(None, [size_alone(tested)])
    if settings.tried:
        said.append(
            "Tried: the number of configurations compared on dev before the final one was chosen; 1: nothing was tuned."
        )
    return Items(said)


def content(means: Sequence[MeansRow], families: Mapping[str, FoundFamily], settings: Settings) -> list[Block]:
    """A section for each measure."""
    sections: list[Block] = []
    for measure in settings.facts.measures:
        family, tested = of_all_pairs(families, measure)
        table = means_table(means, measure, settings, tested)
        sections.append(Section(measure, [table, notes(means, measure, settings, family, tested)]))
    return sections


def write_means(
    means: Path, families: list[Path], family_records: list[Path], page: Path, tex: Path, settings: Settings
) -> None:
    """Write the tables of means in both formats."""
    found = read_families(families, family_records, settings.facts.labels)
    write_printed("Means", content(read_means(means), found, settings), page, tex)


if __name__ == "__main__":
    job(write_means)
