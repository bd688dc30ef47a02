"""Settings of forest plots and tables, and the names of all figures. See rules/figures.smk, rules/tables.smk."""

from __future__ import annotations

from ranktrial.common.keys import stated
from ranktrial.experiment.charts import CHART
from ranktrial.experiment.comparisons import COST_FIGURE, MIN_TASKS, statistics_of
from ranktrial.experiment.descriptions import datasets_learnt, is_unstated
from ranktrial.experiment.records import Comparison, Experiment
from ranktrial.experiment.results_paths import CAPTION_FORMATS, FIGURE_FORMATS, path
from ranktrial.experiment.sections.comparison import INFLUENCE, QUERIES
from scripts.reports.planning.costs import cost_figures
from scripts.reports.planning.labels import labels
from scripts.reports.planning.moderation import bubble_plots
from scripts.reports.planning.transfer import drawn_curves

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


def on_axis(experiment: Experiment, name: str) -> list[str]:
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
