"""The figures of comparisons, families, charts and curves, by name: script, inputs and settings of each.

With the files and settings that pages share with them: subgroups and moderators, studies of transfer, multiple
comparisons. See rules/figures.smk.
"""

from __future__ import annotations

from functools import partial

from ranktrial.common.keys import given, stated
from ranktrial.configuration.sections.comparison import INFLUENCE, QUERIES
from ranktrial.experiment import job_files
from ranktrial.experiment.charts import CHART
from ranktrial.experiment.comparisons import COST_FIGURE, MIN_TASKS, statistics_of
from ranktrial.experiment.descriptions import datasets_learnt, is_unstated
from ranktrial.experiment.drawing import Drawing, Drawings
from ranktrial.experiment.moderators import asked, bubble_name
from ranktrial.experiment.records import Comparison, Experiment
from ranktrial.experiment.results_paths import CAPTION_FORMATS, FIGURE_FORMATS, TABLE_FORMATS, path
from ranktrial.experiment.transfer import curve_figures
from scripts.reports.planning.costs import cost_figures, cost_meta, cost_settings, cost_timing_files
from scripts.reports.planning.labels import labels


def moderated(experiment: Experiment) -> list[str]:
    """The comparisons that have moderators or subgroups."""
    return [name for name, comparison in experiment.comparisons.items() if asked(comparison)]


def bubble_plots(experiment: Experiment) -> dict[str, tuple[str, str]]:
    """Bubble plot -> its comparison and moderator."""
    return {
        bubble_name(name, moderator.name): (name, moderator.name)
        for name, comparison in experiment.comparisons.items()
        for moderator in comparison.moderators
    }


def moderators_tables(experiment: Experiment) -> list[str]:
    """The tables of moderators of all comparisons."""
    return [
        path("moderators_table", experiment=experiment.name, comparison=name, table_format=table_format)
        for name in moderated(experiment)
        for table_format in TABLE_FORMATS
    ]


def moderators(experiment: Experiment) -> list[str]:
    """The records of the moderators of all comparisons that have any."""
    return job_files.of_comparisons(experiment, "moderators", moderated(experiment))


def moderator_table_settings(experiment: Experiment, name: str) -> dict:
    """The labels in the tables of a comparison's moderators."""
    comparison, shown = experiment.comparisons[name], _task_labels(experiment, name)
    every = labels(experiment)["systems"]
    treatment, control = comparison.named(comparison.treatment), comparison.control
    title = f"{every.get(treatment, treatment)} against {every.get(control, control)}"
    return {"title": f"{name}, {title}", "labels": shown}


def bubble_settings(experiment: Experiment, figure: str) -> dict:
    """The settings of a bubble plot."""
    name, moderator = bubble_plots(experiment)[figure]
    measure = experiment.comparisons[name].statistics.measure
    font = experiment.comparisons[name].figure.font
    shown = {"moderator": moderator, "measure": measure, "labels": _task_labels(experiment, name)}
    return shown | ({"font": font} if font else {})


def shown_on_pages(experiment: Experiment) -> dict[str, list[str]]:
    """Comparison with moderators or subgroups -> its bubble plots."""
    figures = bubble_plots(experiment).items()
    return {name: [figure for figure, of in figures if of[0] == name] for name in moderated(experiment)}


def subgrouped(experiment: Experiment, names: tuple[str, ...]) -> list[str]:
    """The moderators file of a figure's only comparison, where its tasks are grouped."""
    alone = [name for name in names if len(names) == 1 and experiment.comparisons[name].subgroups]
    return job_files.of_comparisons(experiment, "moderators", alone)


def _task_labels(experiment: Experiment, name: str) -> dict[str, dict[str, str]]:
    folders = [experiment.tasks[task].folder for task in experiment.comparisons[name].tasks]
    return {
        "tasks": {task: label for task, label in labels(experiment)["tasks"].items() if task in folders},
        "systems": {},
    }


ANSWERS = ("md", "tsv")


def matrix_tables(experiment: Experiment, formats: tuple[str, ...] = TABLE_FORMATS) -> list[str]:
    """The tables of all matrices."""
    return [
        path("matrix", experiment=experiment.name, matrix=name, table_format=one)
        for name in experiment.matrices
        for one in formats
    ]


def answers(experiment: Experiment, formats: tuple[str, ...] = ANSWERS) -> list[str]:
    """The answers of all matrices and curves."""
    studies = [*experiment.matrices, *(f"curves-{name}" for name in experiment.curves)]
    return [
        path("answers", experiment=experiment.name, study=study, answers_format=one)
        for study in studies
        for one in formats
    ]


def curve_tables(experiment: Experiment) -> list[str]:
    """The tables of all curves' points."""
    return [path("curves_table", experiment=experiment.name, curve=name) for name in experiment.curves]


def curve_records(experiment: Experiment) -> list[str]:
    """The records of all curves."""
    return [path("curves", experiment=experiment.name, curve=name) for name in experiment.curves]


def tables(experiment: Experiment) -> list[str]:
    """All tables of studies of transfer."""
    return [*matrix_tables(experiment), *curve_tables(experiment), *answers(experiment)]


def drawn_curves(experiment: Experiment) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Figure -> the curves it shows and their targets."""
    return dict(curve_figures(experiment.curves, experiment.tasks))


def matrix_settings(experiment: Experiment, name: str) -> dict:
    """The labels in a matrix."""
    matrix = experiment.matrices[name]
    targets = [experiment.tasks[target] for target in matrix.targets]
    return {
        "measure": matrix.measure,
        "alpha": matrix.alpha,
        "row_labels": list(map(list, matrix.rows.items())),
        "target_labels": [[task.folder, task.label] for task in targets],
        **({"title": matrix.title} if matrix.title else {}),
    }


def curves_settings(experiment: Experiment, name: str) -> dict:
    """The labels in curves, and the type of their bars."""
    curves = experiment.curves[name]
    targets = [experiment.tasks[target] for target in curves.targets]
    return {
        "target_labels": [[task.folder, task.label] for task in targets],
        "start_labels": list(map(list, curves.starts.items())),
        "baseline": experiment.systems[curves.baseline].label,
        **({"title": curves.title} if curves.title else {}),
        **({"interval": curves.interval} if curves.interval != "range" else {}),
    }


def drawn_curve_settings(experiment: Experiment, figure: str) -> dict:
    """The targets and labels that a figure shows."""
    name, targets = drawn_curves(experiment)[figure]
    return {"names": curves_settings(experiment, name), "shown": [experiment.tasks[task].folder for task in targets]}


def on_pages(experiment: Experiment) -> dict[str, dict]:
    """The matrices, and the curves with their figures, that summary and report show."""
    drawn = drawn_curves(experiment)
    curves = {
        name: {"names": curves_settings(experiment, name), "figures": [one for one in drawn if drawn[one][0] == name]}
        for name in experiment.curves
    }
    matrices = {name: matrix_settings(experiment, name) for name in experiment.matrices}
    return {"matrices": matrices, "curves": curves}


def systems_in_curves(experiment: Experiment) -> set[str]:
    """The systems that curves show."""
    return {point.system for curves in experiment.curves.values() for point in curves.points}


OF_NUMBERS = ("alpha", "estimator", "interval")
# Of a figure, and of no table
LOOKS = ("title", "width", "height", "x_label", "notes", "rows", "fixed", "bayesian", "limits", "ticks", "columns")
NOT_LOOKS = ("together", "axis", "influence", "queries", "font")  # which figures there are, what they have in common


def forest_plots(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Forest plot -> its comparisons: one plot for each comparison, and one for each group drawn together."""
    return {name: (name,) for name in experiment.comparisons} | experiment.figures


def figures(experiment: Experiment) -> list[str]:
    """The names of all figures."""
    charts = [CHART + name for name in experiment.charts]
    costs = [COST_FIGURE + name for name in cost_figures(experiment)]
    of_comparisons = [*forest_plots(experiment), *further_figures(experiment), *bubble_plots(experiment)]
    return [*of_comparisons, *charts, *drawn_curves(experiment), *costs]


def further_figures(experiment: Experiment) -> list[str]:
    """The names of the figures of influence and of queries that comparisons ask for."""
    asked = {INFLUENCE: influence_figures(experiment), QUERIES: queries_figures(experiment)}
    return [kind + name for kind, names in asked.items() for name in names]


def influence_figures(experiment: Experiment) -> list[str]:
    """The comparisons that ask for a figure of influence and have enough tasks."""
    return [
        name
        for name, comparison in experiment.comparisons.items()
        if comparison.figure.influence and len(comparison.tasks) >= MIN_TASKS
    ]


def queries_figures(experiment: Experiment) -> list[str]:
    """The comparisons with a figure of queries."""
    return [name for name, comparison in experiment.comparisons.items() if comparison.figure.queries]


def figure_files(experiment: Experiment, formats: tuple[str, ...] = FIGURE_FORMATS) -> list[str]:
    """The files of all figures."""
    return [
        path("figure", experiment=experiment.name, figure=name, figure_format=figure_format)
        for name in figures(experiment)
        for figure_format in formats
    ]


def captioned(experiment: Experiment) -> list[str]:
    """The forest plots whose notes are in a separate caption."""
    plots = forest_plots(experiment)
    return [name for name, members in plots.items() if experiment.comparisons[members[0]].figure.notes == "caption"]


def caption_files(experiment: Experiment) -> list[str]:
    """The files of all captions."""
    return [
        path("caption", experiment=experiment.name, figure=name, caption_format=caption_format)
        for name in captioned(experiment)
        for caption_format in CAPTION_FORMATS
    ]


def fonts(experiment: Experiment) -> dict[str, str]:
    """The fonts of figures, each with the first key that names it."""
    named = {"font": experiment.font} | {
        f"comparisons.{name}.figure.font": comparison.figure.font for name, comparison in experiment.comparisons.items()
    }
    first: dict[str, str] = {}
    for key, font in named.items():
        if font:
            first.setdefault(font, key)
    return first


def font_of(experiment: Experiment, name: str) -> dict[str, str]:
    """The font of a comparison's figures as a setting; none if they have the experiment's."""
    font = experiment.comparisons[forest_plots(experiment)[name][0]].figure.font
    return {"font": font} if font else {}


def figure_settings(experiment: Experiment, name: str) -> dict:
    """The number format of a comparison, and the settings of its figure."""
    comparison = experiment.comparisons[name]
    measures = experiment.tasks[comparison.tasks[0]].measures
    judged = next((measure for measure in measures if measure.startswith("Judged@")), "")
    numbers = {key: value for key, value in statistics_of(comparison).items() if key in OF_NUMBERS}
    looks = stated(comparison.figure, *NOT_LOOKS)
    if experiment.is_lower_better(comparison):
        looks["lower_is_better"] = True
    return numbers | looks | {"judged": judged}


def forest_looks(experiment: Experiment, name: str) -> dict:
    """The settings of a forest plot, with the tasks whose training queries its systems learnt from."""
    compared = [experiment.comparisons[member] for member in forest_plots(experiment)[name]]
    learnt: dict[str, list[str]] = {}
    unstated: dict[str, None] = {}
    for comparison in compared:  # they may have other tasks each, and one control
        for system, tasks in tasks_learnt(experiment, comparison).items():
            learnt[system] = list(dict.fromkeys([*learnt.get(system, []), *tasks]))
        unstated |= dict.fromkeys(weights_unstated(experiment, comparison))
    return figure_settings(experiment, compared[0].name) | _training(learnt, [*unstated])


def weights_unstated(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Those of control and treatment whose published weights have no stated training data."""
    treatment = (comparison.treatment, comparison.named(comparison.treatment))
    sides = ((comparison.control, comparison.control), treatment)
    return [called for name, called in sides if is_unstated(experiment, experiment.systems[name])]


def _training(learnt: dict[str, list[str]], unstated: list[str]) -> dict:
    """The settings on training, if a system learnt from a task's dataset."""
    return ({"trained": learnt} | ({"unstated": unstated} if unstated else {})) if learnt else {}


def tasks_learnt(experiment: Experiment, comparison: Comparison) -> dict[str, list[str]]:
    """The tasks of a comparison, by their folders, on whose training queries control and treatment learnt."""
    learnt = {}
    for name, called, ranked in (
        (comparison.control, comparison.control, {}),
        (comparison.treatment, comparison.named(comparison.treatment), comparison.treatment_on),
    ):
        system = experiment.systems[name]
        datasets = {task: experiment.tasks[ranked.get(task, task)].ranked_dataset for task in comparison.tasks}
        tasks = [task for task, own in datasets.items() if own in datasets_learnt(experiment, system, own)]
        if tasks:
            learnt[called] = [experiment.tasks[task].folder for task in tasks]
    return learnt


def sharing_axis(experiment: Experiment, name: str) -> list[str]:
    """The comparisons in all figures that share an axis with forest plot `name`; none if it shares none."""
    plots = forest_plots(experiment)
    axes = {plot: experiment.comparisons[members[0]].figure.axis for plot, members in plots.items()}
    if axes[name] is None:
        return []
    members = [member for plot, members in plots.items() if axes[plot] == axes[name] for member in members]
    return list(dict.fromkeys(members))


def forest_settings(experiment: Experiment, name: str) -> dict:
    """The settings of a forest plot, with only the labels that it shows, so that other labels do not redraw it."""
    compared = [experiment.comparisons[member] for member in forest_plots(experiment)[name]]
    tasks = {experiment.tasks[task].folder for comparison in compared for task in comparison.tasks}
    systems = [compared[0].control, *(comparison.named(comparison.treatment) for comparison in compared)]
    every = labels(experiment)
    shown = {
        "tasks": {task: label for task, label in every["tasks"].items() if task in tasks},
        "systems": {system: label for system, label in every["systems"].items() if system in systems},
    }
    return {**forest_looks(experiment, name), **font_of(experiment, name), "labels": shown}


def influence_settings(experiment: Experiment, name: str) -> dict:
    """The labels in a figure of influence."""
    settings = forest_settings(experiment, name)
    return {key: settings[key] for key in ("alpha", "labels")} | font_of(experiment, name)


def queries_settings(experiment: Experiment, name: str) -> dict:
    """The labels in a figure of queries, and what is compared."""
    comparison, called = experiment.comparisons[name], forest_settings(experiment, name)["labels"]
    control, treatment = comparison.control, comparison.named(comparison.treatment)
    return {
        **{key: getattr(comparison.statistics, key) for key in ("measure", "alpha")},
        **({"lower_is_better": True} if experiment.is_lower_better(comparison) else {}),
        "control": called["systems"].get(control, control),
        "treatment": called["systems"].get(treatment, treatment),
        "labels": {"tasks": called["tasks"], "systems": {}},
        **font_of(experiment, name),
    }


def adjusting_table(experiment: Experiment, name: str) -> list[str]:
    """The table with the p-values of all summaries: stars follow the correction for their number."""
    several = len(experiment.comparisons) > 1
    return [path("comparisons", experiment=experiment.name, table_format="tsv")] if several else []


def table_settings(experiment: Experiment) -> dict[str, dict]:
    """The number format of comparisons in tables, with the tasks whose training queries systems learnt from."""
    tables = {}
    for name, comparison in experiment.comparisons.items():
        shown = {key: value for key, value in figure_settings(experiment, name).items() if key not in LOOKS}
        learnt, unstated = tasks_learnt(experiment, comparison), weights_unstated(experiment, comparison)
        tables[name] = shown | _training(learnt, unstated)
    return tables


PAGES = ("md", "tex")  # the formats of the table that are not written by the comparison itself


def family_files(experiment: Experiment, name: str, **fields: str) -> list[str]:
    """A path of the table for each multiple comparison."""
    return [path(name, experiment=experiment.name, family=family, **fields) for family in experiment.families]


def family_figures(experiment: Experiment, formats: tuple[str, ...] = FIGURE_FORMATS) -> list[str]:
    """The diagrams of all multiple comparisons."""
    return [
        file
        for figure_format in formats
        for file in family_files(experiment, "family_figure", figure_format=figure_format)
    ]


def family_pages(experiment: Experiment) -> list[str]:
    """The tables of all multiple comparisons to read."""
    return [
        file for table_format in PAGES for file in family_files(experiment, "family_table", table_format=table_format)
    ]


def family_settings(experiment: Experiment, name: str) -> dict:
    """A diagram's title, and the labels that it shows."""
    family, every = experiment.families[name], labels(experiment)
    tasks = [experiment.tasks[task].folder for task in family.tasks]
    shown = {
        "tasks": {task: label for task, label in every["tasks"].items() if task in tasks},
        "systems": {system: label for system, label in every["systems"].items() if system in family.systems},
    }
    return {"labels": shown, **({"title": family.title} if family.title else {})}


FAMILY = "multiple-comparisons/"  # the folder of the figures of families


def drawings(experiment: Experiment) -> Drawings:
    """All of them."""
    named: Drawings = {name: partial(forest, experiment, name) for name in forest_plots(experiment)}
    named |= {INFLUENCE + name: partial(influence, experiment, name) for name in influence_figures(experiment)}
    named |= {QUERIES + name: partial(queries, experiment, name) for name in queries_figures(experiment)}
    named |= {name: partial(bubble, experiment, name) for name in bubble_plots(experiment)}
    named |= {CHART + name: partial(chart, experiment, name) for name in experiment.charts}
    named |= {name: partial(curve, experiment, name) for name in drawn_curves(experiment)}
    named |= {COST_FIGURE + name: partial(cost, experiment, name) for name in cost_figures(experiment)}
    return named | {FAMILY + name: partial(family, experiment, name) for name in experiment.families}


def forest(experiment: Experiment, name: str) -> Drawing:
    """A forest plot of one comparison, or of several in one figure."""
    compared, on_axis = forest_plots(experiment)[name], sharing_axis(experiment, name)
    inputs = {
        "effects": job_files.of_comparisons(experiment, "effects", compared),
        "meta": job_files.of_comparisons(experiment, "meta", compared),
        "moderators": subgrouped(experiment, compared),
        "axis_effects": job_files.of_comparisons(experiment, "effects", on_axis),
        "axis_meta": job_files.of_comparisons(experiment, "meta", on_axis),
        "comparisons": adjusting_table(experiment, name),
    }
    settings = forest_settings(experiment, name)
    return Drawing("reports/draw_forest.py", "Forest plots", inputs, settings, (*compared, *on_axis))


def influence(experiment: Experiment, name: str) -> Drawing:
    """The influence of each task on a comparison's summary."""
    inputs = {what: [path(place, experiment=experiment.name, comparison=name)] for what, place in
              (("table", "influence_table"), ("meta", "meta"))}  # fmt: skip
    settings = influence_settings(experiment, name)
    return Drawing("reports/draw_influence.py", "Influence", inputs, settings, (name,))


def queries(experiment: Experiment, name: str) -> Drawing:
    """The differences of all queries of a comparison."""
    inputs = {what: [path(place, experiment=experiment.name, comparison=name)] for what, place in
              (("differences", "query_differences"), ("table", "queries_table"))}  # fmt: skip
    return Drawing("reports/draw_queries.py", "Queries", inputs, queries_settings(experiment, name))


def bubble(experiment: Experiment, name: str) -> Drawing:
    """A comparison's effects over a moderator."""
    compared, _ = bubble_plots(experiment)[name]
    inputs = {what: job_files.of_comparisons(experiment, what, [compared]) for what in ("effects", "moderators")}
    return Drawing("reports/draw_bubble.py", "Moderators", inputs, bubble_settings(experiment, name), (compared,))


def chart(experiment: Experiment, name: str) -> Drawing:
    """A bar chart of means."""
    inputs = {"means": [path("means", experiment=experiment.name)]}
    return Drawing("reports/draw_bars.py", "Means", inputs, given(experiment.charts[name]))


def curve(experiment: Experiment, name: str) -> Drawing:
    """A measure over the number of training queries."""
    of_curve, _ = drawn_curves(experiment)[name]
    inputs = {"record": [path("curves", experiment=experiment.name, curve=of_curve)]}
    return Drawing("reports/draw_curves.py", "Curves", inputs, drawn_curve_settings(experiment, name))


def cost(experiment: Experiment, name: str) -> Drawing:
    """The effects over one control against costs."""
    inputs = {"meta": cost_meta(experiment, name), "timing": cost_timing_files(experiment, name)}
    compared = tuple(cost_figures(experiment)[name])
    return Drawing("reports/draw_costs.py", "Costs", inputs, cost_settings(experiment, name), compared)


def family(experiment: Experiment, name: str) -> Drawing:
    """The systems of a multiple comparison by their means."""
    fields = {"experiment": experiment.name, "family": name}
    inputs = {"table": [path("family_table", **fields, table_format="tsv")], "record": [path("family", **fields)]}
    settings = family_settings(experiment, name)
    return Drawing("reports/draw_family.py", "Multiple comparisons", inputs, settings)
