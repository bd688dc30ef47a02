"""The experiment as one HTML file to read and to send: questions, answers, figures, tables, and how it was made.

Reads the tables (TSV), effects and meta files, multiple comparisons, figures (SVG), training logs, timing files,
metrics of the systems that differ in their number of training queries, and the template, style sheet and script beside
it. Writes report.html, which needs no other file and no network; the same inputs give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import jinja2
import pandas as pd
from markupsafe import Markup

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.common.tables import read_table, read_texts
from scripts.common.version import VERSION
from scripts.ir.zero_runs import zero_runs
from scripts.reports import summary
from scripts.reports.comparison.adjustment import adjustments
from scripts.reports.comparison.families import read_families
from scripts.reports.comparison.reading import Labels, read_found
from scripts.reports.page import tables as tables
from scripts.reports.page.curves import SizeGroup, loss_curves, size_curves
from scripts.reports.page.families import shown_families
from scripts.reports.page.machine import facts, machine_table, read_timings
from scripts.reports.page.overview import overview_table
from scripts.reports.page.published import published_table
from scripts.reports.page.rule_graph import draw
from scripts.reports.page.sections import FOLDED, Drawn, sections
from scripts.reports.page.svg import inline
from scripts.reports.page.transfer import shown_studies
from scripts.reports.summary import TEXTS, published_counts
from scripts.reports.transfer.studies import read_studies

HERE = Path(__file__).resolve().parent / "page"


@dataclass(frozen=True)
class Seeds:
    """The seeds of an experiment."""

    data: Annotated[int, "of data and tests"]
    training: Annotated[dict[str, list[int]], "system: its seeds"]


@dataclass(frozen=True, kw_only=True)
class Settings(summary.Settings):
    """What the page says that stands in no table, beside what the summary says."""

    jobs: Annotated[dict[str, int], "rule: its number of jobs"]
    feeds: Annotated[list[list[str]], "pairs of rules of which the first makes what the second takes"]
    sizes: Annotated[list[SizeGroup], "systems that differ in their number of training queries"]
    forest_plots: Annotated[dict[str, Drawn], "how each forest plot looks"]
    cost_controls: Annotated[dict[str, str], "figure of costs: its control"]
    seeds: Seeds


def contents(arguments) -> dict:
    """Everything that the template shows, by name."""
    settings: Settings = arguments.settings
    labels = settings.labels
    datasets, means, comparisons, costs = (
        read_table(getattr(arguments, name), *TEXTS[name]) for name in ("datasets", "means", "comparisons", "costs")
    )

    def of(name: str) -> pd.DataFrame:
        return read_table(getattr(arguments, name)[0], *TEXTS[name])

    pairs = zip(arguments.effects, arguments.meta, strict=True)
    adjusted = adjustments(comparisons)
    moderators = {path.stem: path for path in arguments.moderators}
    results = {
        meta.stem: read_found(effects, meta, adjusted.get(meta.stem), moderators.get(meta.stem))
        for effects, meta in pairs
    }
    figures = {path.stem: path.read_text(encoding="utf-8") for path in arguments.figures}
    drawn = settings.forest_plots
    parts = sections(results, settings.comparisons, settings.together, labels, figures, drawn, settings.moderated)
    members = [member for part in parts for member in part.members]
    timings = read_timings(sorted(arguments.timing))
    published = read_texts(arguments.published[0]) if arguments.published else None
    measures = settings.measures
    zeros = [
        one.caution(labels.task(one.task), labels.system(one.system)) for one in zero_runs(means.to_dict("records"))
    ]
    return {
        "experiment": settings.experiment,
        "counts": {"systems": len(settings.systems), "tasks": means["task"].nunique(), "comparisons": len(results)},
        "overview": overview_table(comparisons, labels, members) if results else None,
        "sections": parts,
        "folded": len(results) > FOLDED,
        "datasets": tables.datasets_table(datasets) if len(datasets) else None,
        "tasks": [labels.task(name) for name in dict.fromkeys(means["task"])],
        "sources": grouped(settings.sources),
        "systems": [(labels.system(name), name, settings.systems[name]) for name in dict.fromkeys(means["system"])],
        "chosen": tables.chosen_table(of("chosen"), labels) if arguments.chosen else None,
        "selected": tables.selected_table(of("selected"), labels) if arguments.selected else None,
        "means": [(name, tables.means_table(means, name, settings.trained, labels)) for name in measures],
        "cautions": [*zeros, *settings.cautions],
        "spread": bool(means[[name for name in means if name.endswith(" sd")]].notna().any(axis=None)),
        "trained": bool(settings.trained),
        "charts": [
            (name, inline(figures[name], f"chart{place}", f"Bar chart {name}. The tables of means hold its numbers."))
            for place, name in enumerate(settings.charts, 1)
        ],
        "families": shown_families(
            read_families(arguments.families, arguments.family_records, labels),
            labels,
            {path.stem: path.read_text(encoding="utf-8") for path in arguments.family_figures},
        ),
        "studies": shown_studies(read_studies(settings.transfer, arguments.matrices, arguments.curves), figures),
        "sizes": size_curves(settings.sizes, arguments.metrics, datasets, measures[0], labels),
        "measure": measures[0],
        "losses": loss_curves(sorted(arguments.training_log)),
        "costs": tables.costs_table(costs, labels) if len(costs) else None,
        "cost_figures": cost_figures(settings.cost_controls, figures, labels),
        "published": None if published is None else published_table(published),
        "published_counts": None if published is None else published_counts(published),
        "graph": draw(settings.jobs, map(tuple, settings.feeds)),
        "jobs": settings.jobs,
        "machine": machine_table(timings) if timings else None,
        "facts": facts(timings) if timings else [],
        "seeds": settings.seeds,
        "version": VERSION,
    }


def grouped(sources: dict[str, dict]) -> dict[str, dict]:
    """Where data comes from and its licence; the datasets that share both stand together."""
    names_of: dict[tuple, list[str]] = {}
    for name, source in sources.items():
        names_of.setdefault(tuple(source.items()), []).append(name)
    return {", ".join(names): dict(source) for source, names in names_of.items()}


def cost_figures(controls: dict[str, str], figures: dict[str, str], labels: Labels) -> list[tuple[str, Markup]]:
    """Each figure of costs (`controls`: its name -> its control) with what it shows."""
    drawn = []
    for place, (name, control) in enumerate(controls.items(), 1):
        title = f"Effects over {labels.system(control)}, and what they cost"
        drawn.append((title, inline(figures[name], f"cost{place}", f"{title}. The tables hold the numbers.")))
    return drawn


def render(shown: dict) -> str:
    """The page; everything that is not markup already is escaped."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.from_string(HERE.joinpath("report.html.j2").read_text(encoding="utf-8"))
    # Neither file holds the end tag of its own element, so both go into the page unescaped.
    files = {"style": "report.css", "script": "report.js"}
    parts = {name: Markup(HERE.joinpath(file).read_text(encoding="utf-8")) for name, file in files.items()}
    return page.render(**shown, **parts) + "\n"


def main() -> None:
    names = ("datasets", "means", "comparisons", "costs", "page")
    lists = ("effects*", "meta*", "moderators*", "figures*", "training-log*", "timing*", "metrics*", "published*")
    lists += ("selected*", "chosen*", "families*", "family-records*", "family-figures*", "matrices*", "curves*")
    arguments = parser(__doc__, *names, *lists, settings=Settings).parse_args()
    page = render(contents(arguments))
    with atomic_text(arguments.page) as file:
        file.write(page)


if __name__ == "__main__":
    run(main)
