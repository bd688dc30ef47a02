"""The report of an experiment: a page of one file, report.html, and a summary in Markdown, summary.md.

Reads the tables (TSV), effects and meta files, multiple comparisons, figures (SVG), records of mined negatives,
training logs, timing files, and metrics of the systems that differ in their number of training queries. Writes both
from one content: report.html needs no other file and no network; summary.md names figures and tables relative to
itself. The same inputs give the same summary, and the same page except for its date, commit and machine.
"""

from __future__ import annotations

import platform
from argparse import Namespace
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import parser, run
from ranktrial.common.files import write_text
from ranktrial.common.tables import (
    CHOSEN_RECIPES,
    COMPARISONS,
    COSTS,
    DATASETS,
    EXTREME_QUERIES,
    MEANS,
    SELECTED_SEEDS,
    read_table,
    read_texts,
)
from ranktrial.common.timing import processor
from ranktrial.common.version import commit_text
from ranktrial.reports.comparison.families import read_families
from ranktrial.reports.comparison.reading import Labels, Looks, adjustments, read_found
from ranktrial.reports.contents import data
from ranktrial.reports.contents.comparisons import (
    TO_EXPLORER,
    Figures,
    compared,
    comparisons,
    families,
    first,
    questions,
)
from ranktrial.reports.contents.costs import Origin, costs, made, read_timings, unchanging
from ranktrial.reports.contents.data import graded, judges
from ranktrial.reports.contents.training import (
    LOSSES,
    SIZES,
    Rankers,
    SizeGroup,
    importance,
    losses_of,
    mined,
    size_curves,
    trainings,
)
from ranktrial.reports.figures.curves import curves_plot, losses
from ranktrial.reports.figures.forest import as_svg
from ranktrial.reports.published import published
from ranktrial.reports.transfer_studies import Studies, read_studies, studies
from ranktrial.reports.writing import html_page, printed
from ranktrial.reports.writing.content import Block, Items, Paragraph, Section, Text, captions_once, counted

TEXTS = {
    "datasets": DATASETS,
    "means": MEANS,
    "comparisons": COMPARISONS,
    "costs": COSTS,
    "selected": SELECTED_SEEDS,
    "chosen": CHOSEN_RECIPES,
    "extremes": EXTREME_QUERIES,
}  # the columns of names and words of each table


@dataclass(frozen=True)
class Seeds:
    """The seeds of an experiment."""

    data: Annotated[int, "of data and tests"]
    training: Annotated[dict[str, list[int]], "system: its seeds"]


@dataclass(frozen=True)
class Settings:
    """What the pages say that no table contains."""

    experiment: str
    measures: Annotated[list[str], "the tables of means, in their order"]
    sources: Annotated[dict[str, dict[str, str]], "dataset: its location and licence"]
    systems: Annotated[dict[str, str], "system: its description"]
    trained: Annotated[dict[str, list[str]], "system: the tasks on whose training queries it learnt"]
    together: Annotated[dict[str, list[str]], "figure: the comparisons that it shows"]
    charts: Annotated[list[str], "figures with bars of means"]
    cost_controls: Annotated[dict[str, str], "figure of costs: its control"]
    labels: Annotated[Labels, "labels of tasks and systems that have one"]
    comparisons: Annotated[dict[str, Looks], "how each comparison is shown"]
    forest_plots: Annotated[dict[str, Looks], "how each forest plot looks"]
    jobs: Annotated[dict[str, int], "rule: its number of jobs"]
    feeds: Annotated[list[list[str]], "pairs of rules of which the first makes what the second takes"]
    sizes: Annotated[list[SizeGroup], "systems that differ in their number of training queries"]
    seeds: Seeds
    further: Annotated[list[str], "figures of influence and of queries"]
    cautions: Annotated[list[str], "of the configuration"]
    moderated: Annotated[dict[str, list[str]], "comparison with moderators or subgroups: its bubble plots"]
    transfer: Annotated[Studies, "matrices of sources and targets, curves over training queries"]
    tuned: Annotated[dict[str, list[str]], "dataset: the systems tuned on its dev split"] = field(default_factory=dict)
    unstated: Annotated[list[str], "systems whose weights were trained on what nobody states"] = field(
        default_factory=list
    )
    lower_is_better: Annotated[list[str], "the measures of which a lower value is better"] = field(default_factory=list)
    exclusive: Annotated[bool, "searches and rankings ran one at a time"] = False
    rankers: Annotated[list[Rankers] | None, "rankers by what they are learnt from; null: there are none"] = None


def read_tables(arguments: Namespace) -> dict[str, pd.DataFrame]:
    """The tables of the experiment that it has, by name."""
    given = {name: getattr(arguments, name) for name in TEXTS}
    paths = {name: path[0] if isinstance(path, list) else path for name, path in given.items() if path}
    return {name: read_table(path, *TEXTS[name]) for name, path in paths.items()}


def results(arguments: Namespace, tables: dict[str, pd.DataFrame]) -> list[Block]:
    """What was compared and found: the content of both pages."""
    settings: Settings = arguments.settings
    labels, means = settings.labels, tables["means"]
    adjusted = adjustments(tables["comparisons"])
    moderators = {path.stem: path for path in arguments.moderators}
    found = {
        meta.stem: read_found(effects, meta, adjusted.get(meta.stem), moderators.get(meta.stem))
        for effects, meta in zip(arguments.effects, arguments.meta, strict=True)
    }
    all_compared = compared(found, settings.comparisons, labels)
    drawn = (settings.together, settings.forest_plots, settings.moderated, settings.further)
    figures = Figures(*drawn, tables.get("extremes"))
    tasks, systems = (dict.fromkeys(means[of]) for of in ("task", "system"))
    blocks: list[Block] = [lead(len(systems), len(tasks), len(found), settings.measures)]
    blocks += [first(all_compared, figures, labels)] if found else []
    blocks += [TO_EXPLORER] if any(map(figures.explored, found)) else []
    blocks += [questions(tables["comparisons"], all_compared, labels)] if found else []
    blocks.append(data.tasks([labels.task(task) for task in tasks], tables["datasets"], settings.sources))
    described = {name: settings.systems[name] for name in systems}
    blocks.append(data.systems(described, labels, tables, mined(arguments.mined)))
    blocks += data.tuned_on_few(settings.tuned, tables["datasets"], labels)
    blocks += data.learnt_near(settings.trained, tables["datasets"], labels)
    said = (settings.measures, settings.trained, settings.unstated, settings.cautions, settings.charts)
    of_families = read_families(arguments.families, arguments.family_records, labels)
    grades = graded(tables["datasets"], settings.measures)
    shown = data.Means(*said, bool(settings.sources), settings.lower_is_better, of_families, grades)
    blocks.append(data.means(means, shown, labels))
    blocks += [comparisons(all_compared, figures, labels)] if found else []
    if of_families:
        blocks.append(families(of_families, labels, [*all_compared.values()]))
    if several := read_studies(settings.transfer, arguments.matrices, arguments.curves):
        blocks.append(studies(several))
    if arguments.judges:
        blocks.append(judges(arguments.judges))
    if settings.rankers:
        blocks.append(importance(settings.rankers, arguments.importances, labels))
    if len(tables["costs"]):
        blocks.append(costs(tables["costs"], settings.cost_controls, labels, settings.exclusive))
    blocks += [published(read_texts(path)) for path in arguments.published]
    return blocks


def lead(systems: int, tasks: int, number: int, measures: list[str]) -> Paragraph:
    """The first sentence: the numbers of systems, tasks and comparisons, and the measures."""
    said = f"{counted(systems, 'system')} on {counted(tasks, 'task')}"
    said += f", {counted(number, 'comparison')}" if number else ""
    return Paragraph(f"{said}. Measures: {', '.join(measures)}.")


def origin_of(experiment: str) -> Origin:
    """The provenance of the page, with the present date."""
    today = datetime.now(UTC).date().isoformat()
    machine = f"{processor()}, {platform.system()}, Python {platform.python_version()}"
    return Origin(today, commit_text(), machine, _configuration(experiment))


def in_short(experiment: str) -> Section:
    """How the experiment was made, for the summary: without date, commit and machine."""
    lines = [f"{name}: {text}" for name, text in unchanging(_configuration(experiment))]
    lines.append("Date, commit and machine: report.html")
    return Section("How it was made", [Items(lines)], anchor="made")


def _configuration(experiment: str) -> str:
    return f"results/{experiment}/config.yaml"


def how_made(arguments: Namespace, datasets: pd.DataFrame) -> tuple[list[Block], dict[str, str]]:
    """How the experiment was made, for the page only, with the figures of trainings."""
    settings: Settings = arguments.settings
    sizes = size_curves(settings.sizes, arguments.metrics, datasets, settings.measures[0], settings.labels)
    lines = losses_of(sorted(arguments.training_log))
    drawn = {SIZES: curves_plot(sizes)} if sizes.panels else {}
    drawn |= {LOSSES: losses(lines)} if lines else {}
    seeds: list[Text] = [f"Seed of data and tests: {settings.seeds.data}"]
    for system, numbers in settings.seeds.training.items():
        seeds.append(f"Seeds of training of {system}: {', '.join(map(str, numbers))}")
    blocks: list[Block] = [trainings(sizes, lines)] if drawn else []
    timings = read_timings(sorted(arguments.timing))
    blocks.append(made(origin_of(settings.experiment), settings.jobs, settings.feeds, timings, seeds))
    return blocks, {name: as_svg(figure, name) for name, figure in drawn.items()}


def main() -> None:
    names = ("datasets", "means", "comparisons", "costs", "page", "summary")
    lists = ("effects*", "meta*", "moderators*", "figures*", "training-log*", "timing*", "metrics*", "published*")
    lists += ("selected*", "chosen*", "families*", "family-records*", "family-figures*", "matrices*", "curves*")
    arguments = parser(
        __doc__, *names, *lists, "mined*", "extremes*", "importances*", "judges*", settings=Settings
    ).parse_args()
    tables, title = read_tables(arguments), arguments.settings.experiment
    content = captions_once(results(arguments, tables))
    made_how, figures = how_made(arguments, tables["datasets"])
    for folder, paths in (("", arguments.figures), ("multiple-comparisons/", arguments.family_figures)):
        figures |= {f"figures/{folder}{path.name}": path.read_text(encoding="utf-8") for path in paths}
    write_text(arguments.page, html_page.document(title, [*content, *made_how], figures))
    write_text(arguments.summary, printed.markdown_document(title, [*content, in_short(title)]))


if __name__ == "__main__":
    run(main)
