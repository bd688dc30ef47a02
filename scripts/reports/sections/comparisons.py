"""Each comparison in full: its answers, forest plot, table and moderators."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import job_files
from ranktrial.experiment.exhibits import forest
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.reports.writing.content import Block
from scripts.explorer.planning import explored
from scripts.reports import planning as planned
from scripts.reports.sections import Report

if TYPE_CHECKING:
    from ranktrial.reports.contents.comparisons import Compared, Figures

NAME, PLACE = "comparisons", 60


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The results of all comparisons, their table, and the queries that they win and lose most."""
    extremes = [path("extreme_queries", experiment=experiment.name)] if explored(experiment) else []
    return {
        "comparisons": [path("comparisons", experiment=experiment.name, table_format="tsv")],
        "effects": job_files.of_comparisons(experiment, "effects"),
        "meta": job_files.of_comparisons(experiment, "meta"),
        "moderators": planned.moderator_records(experiment),
        "extremes": extremes,
    }


def settings(experiment: Experiment) -> JsonObject:
    """How comparisons and their figures look."""
    return {
        "together": experiment.figures,
        "forest_plots": {name: forest.looks(experiment, name) for name in forest.names(experiment)},
        "moderated": planned.shown_on_pages(experiment),
    }


@cache
def compared(report: Report) -> dict[str, Compared]:
    """All comparisons by name."""
    from ranktrial.records.comparison import ComparisonRow, rows_of
    from ranktrial.reports.comparison.reading import read_found
    from ranktrial.reports.contents.comparisons import Shown, compared

    rows = {row.comparison: row for row in rows_of(ComparisonRow, report.table("comparisons"))}
    moderators = {path.stem: path for path in report.files["moderators"]}
    found = {
        meta.stem: read_found(effects, meta, rows.get(meta.stem), moderators.get(meta.stem))
        for effects, meta in zip(report.files["effects"], report.files["meta"], strict=True)
    }
    return compared(found, report.settings(NAME, Shown).forest_plots, report.facts)


@cache
def figures(report: Report) -> Figures:
    """The figures of comparisons."""
    from ranktrial.reports.contents.comparisons import Figures, Shown

    shown = report.settings(NAME, Shown)
    extremes = report.table("extremes") if report.files["extremes"] else None
    return Figures(shown.together, shown.forest_plots, shown.moderated, extremes)


def blocks(report: Report) -> list[Block]:
    """The section, if anything is compared."""
    from ranktrial.reports.contents.comparisons import comparisons

    return [*comparisons(compared(report), figures(report))]
