"""The figures of comparisons, families, charts and curves, by name: script, inputs and settings of each.

See rules/figures.smk.
"""

from __future__ import annotations

from functools import partial

from ranktrial.common.keys import given
from ranktrial.experiment import job_files
from ranktrial.experiment.charts import CHART
from ranktrial.experiment.comparisons import COST_FIGURE
from ranktrial.experiment.drawing import Drawing, Drawings
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.sections.comparison import INFLUENCE, QUERIES
from scripts.reports.planning import costs, families, figures, moderation, transfer

FAMILY = "multiple-comparisons/"  # the folder of the figures of families


def drawings(experiment: Experiment) -> Drawings:
    """All of them."""
    named: Drawings = {name: partial(forest, experiment, name) for name in figures.forest_plots(experiment)}
    named |= {INFLUENCE + name: partial(influence, experiment, name) for name in figures.influence_figures(experiment)}
    named |= {QUERIES + name: partial(queries, experiment, name) for name in figures.queries_figures(experiment)}
    named |= {name: partial(bubble, experiment, name) for name in moderation.bubble_plots(experiment)}
    named |= {CHART + name: partial(chart, experiment, name) for name in experiment.charts}
    named |= {name: partial(curve, experiment, name) for name in transfer.drawn_curves(experiment)}
    named |= {COST_FIGURE + name: partial(cost, experiment, name) for name in costs.cost_figures(experiment)}
    return named | {FAMILY + name: partial(family, experiment, name) for name in experiment.families}


def forest(experiment: Experiment, name: str) -> Drawing:
    """A forest plot of one comparison, or of several in one figure."""
    compared, on_axis = figures.forest_plots(experiment)[name], figures.on_axis(experiment, name)
    inputs = {
        "effects": job_files.of_comparisons(experiment, "effects", compared),
        "meta": job_files.of_comparisons(experiment, "meta", compared),
        "moderators": moderation.subgrouped(experiment, compared),
        "axis_effects": job_files.of_comparisons(experiment, "effects", on_axis),
        "axis_meta": job_files.of_comparisons(experiment, "meta", on_axis),
        "comparisons": figures.adjusting_table(experiment, name),
    }
    settings = figures.forest_settings(experiment, name)
    return Drawing("reports/draw_forest.py", "Forest plots", inputs, settings, (*compared, *on_axis))


def influence(experiment: Experiment, name: str) -> Drawing:
    """The influence of each task on a comparison's summary."""
    inputs = {what: [path(place, experiment=experiment.name, comparison=name)] for what, place in
              (("table", "influence_table"), ("meta", "meta"))}  # fmt: skip
    settings = figures.influence_settings(experiment, name)
    return Drawing("reports/draw_influence.py", "Influence", inputs, settings, (name,))


def queries(experiment: Experiment, name: str) -> Drawing:
    """The differences of all queries of a comparison."""
    inputs = {what: [path(place, experiment=experiment.name, comparison=name)] for what, place in
              (("differences", "query_differences"), ("table", "queries_table"))}  # fmt: skip
    return Drawing("reports/draw_queries.py", "Queries", inputs, figures.queries_settings(experiment, name))


def bubble(experiment: Experiment, name: str) -> Drawing:
    """A comparison's effects over a moderator."""
    compared, _ = moderation.bubble_plots(experiment)[name]
    inputs = {what: job_files.of_comparisons(experiment, what, [compared]) for what in ("effects", "moderators")}
    return Drawing(
        "reports/draw_bubble.py", "Moderators", inputs, moderation.bubble_settings(experiment, name), (compared,)
    )


def chart(experiment: Experiment, name: str) -> Drawing:
    """A bar chart of means."""
    inputs = {"means": [path("means", experiment=experiment.name)]}
    return Drawing("reports/draw_bars.py", "Means", inputs, given(experiment.charts[name]))


def curve(experiment: Experiment, name: str) -> Drawing:
    """A measure over the number of training queries."""
    of_curve, _ = transfer.drawn_curves(experiment)[name]
    inputs = {"record": [path("curves", experiment=experiment.name, curve=of_curve)]}
    return Drawing("reports/draw_curves.py", "Curves", inputs, transfer.figure_settings(experiment, name))


def cost(experiment: Experiment, name: str) -> Drawing:
    """The effects over one control against costs."""
    inputs = {"meta": costs.cost_meta(experiment, name), "timing": costs.cost_timing_files(experiment, name)}
    compared = tuple(costs.cost_figures(experiment)[name])
    return Drawing("reports/draw_costs.py", "Costs", inputs, costs.cost_settings(experiment, name), compared)


def family(experiment: Experiment, name: str) -> Drawing:
    """The systems of a multiple comparison by their means."""
    fields = {"experiment": experiment.name, "family": name}
    inputs = {"table": [path("family_table", **fields, table_format="tsv")], "record": [path("family", **fields)]}
    settings = families.family_settings(experiment, name)
    return Drawing("reports/draw_family.py", "Multiple comparisons", inputs, settings)
