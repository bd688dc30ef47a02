"""Forest plots: one for each comparison, and one for each group of them drawn together."""

from __future__ import annotations

from ranktrial.common.keys import stated
from ranktrial.experiment import job_files
from ranktrial.experiment.comparisons import statistics_of
from ranktrial.experiment.descriptions import datasets_learnt, is_unstated
from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.labels import labels_of
from ranktrial.experiment.records import Comparison, Experiment
from ranktrial.experiment.results_paths import path

NAME = "forest"
PREFIX, DESCRIPTION = "", "forest plots"
CATEGORY = "Forest plots"
CAPTION = (
    "Forest plot. Each row is a task: the square is the effect of the treatment over the control, its area the task's "
    "weight, the line its confidence interval. The hollow diamond is the mean on these collections, the filled one the "
    "mean over collections like these (random effects); each spans its interval. The bar is the prediction interval, "
    "where the effect in a new collection is expected."
)
OF_NUMBERS = ("alpha", "estimator", "interval")
NOT_LOOKS = ("together", "axis", "influence", "queries", "font")  # which figures there are, what they have in common


def names(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Forest plot -> its comparisons: one plot for each comparison, and one for each group drawn together."""
    return {name: (name,) for name in experiment.comparisons} | experiment.figures


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """A forest plot of one comparison, or of several in one figure."""
    compared, on_axis = names(experiment)[name], sharing_axis(experiment, name)
    inputs = {
        "effects": job_files.of_comparisons(experiment, "effects", compared),
        "meta": job_files.of_comparisons(experiment, "meta", compared),
        "moderators": subgrouped(experiment, compared),
        "axis_effects": job_files.of_comparisons(experiment, "effects", on_axis),
        "axis_meta": job_files.of_comparisons(experiment, "meta", on_axis),
        "comparisons": adjusting_table(experiment),
    }
    return Exhibit(inputs, settings(experiment, name), (*compared, *on_axis))


def settings(experiment: Experiment, name: str) -> dict[str, object]:
    """The settings of a forest plot."""
    return {**looks(experiment, name), **font_of(experiment, name), "labels": shown_labels(experiment, name)}


def shown_labels(experiment: Experiment, name: str) -> dict[str, dict[str, str]]:
    """The labels that a forest plot shows."""
    compared = [experiment.comparisons[member] for member in names(experiment)[name]]
    tasks = [task for comparison in compared for task in comparison.tasks]
    systems = [compared[0].control, *(comparison.named(comparison.treatment) for comparison in compared)]
    return labels_of(experiment, tasks, systems)


def looks(experiment: Experiment, name: str) -> dict[str, object]:
    """The settings of a forest plot, with the tasks whose training queries its systems learnt from."""
    compared = [experiment.comparisons[member] for member in names(experiment)[name]]
    learnt: dict[str, list[str]] = {}
    unstated: dict[str, None] = {}
    for comparison in compared:  # they may have other tasks each, and one control
        for system, tasks in tasks_learnt(experiment, comparison).items():
            learnt[system] = list(dict.fromkeys([*learnt.get(system, []), *tasks]))
        unstated |= dict.fromkeys(weights_unstated(experiment, comparison))
    return figure_settings(experiment, compared[0].name) | training(learnt, [*unstated])


def figure_settings(experiment: Experiment, name: str) -> dict[str, object]:
    """The number format of a comparison, and the settings of its figure."""
    comparison = experiment.comparisons[name]
    measures = experiment.tasks[comparison.tasks[0]].measures
    judged = next((measure for measure in measures if measure.startswith("Judged@")), "")
    numbers = {key: value for key, value in statistics_of(comparison).items() if key in OF_NUMBERS}
    own = stated(comparison.figure, *NOT_LOOKS)
    if experiment.is_lower_better(comparison):
        own["lower_is_better"] = True
    return numbers | own | {"judged": judged}


def font_of(experiment: Experiment, name: str) -> dict[str, str]:
    """The font of a comparison's figures as a setting; none if they have the experiment's."""
    font = experiment.comparisons[names(experiment)[name][0]].figure.font
    return {"font": font} if font else {}


def sharing_axis(experiment: Experiment, name: str) -> list[str]:
    """The comparisons in all figures that share an axis with forest plot `name`; none if it shares none."""
    plots = names(experiment)
    axes = {plot: experiment.comparisons[members[0]].figure.axis for plot, members in plots.items()}
    if axes[name] is None:
        return []
    members = [member for plot, members in plots.items() if axes[plot] == axes[name] for member in members]
    return list(dict.fromkeys(members))


def subgrouped(experiment: Experiment, names: tuple[str, ...]) -> list[str]:
    """The moderators file of a figure's only comparison, where its tasks are grouped."""
    alone = [name for name in names if len(names) == 1 and experiment.comparisons[name].subgroups]
    return job_files.of_comparisons(experiment, "moderators", alone)


def adjusting_table(experiment: Experiment) -> list[str]:
    """The table with the p-values of all summaries: stars follow the correction for their number."""
    several = len(experiment.comparisons) > 1
    return [path("comparisons", experiment=experiment.name, table_format="tsv")] if several else []


def captioned(experiment: Experiment) -> list[str]:
    """The forest plots whose notes are in a separate caption."""
    return [
        name
        for name, members in names(experiment).items()
        if experiment.comparisons[members[0]].figure.notes == "caption"
    ]


def weights_unstated(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Those of control and treatment whose published weights have no stated training data."""
    treatment = (comparison.treatment, comparison.named(comparison.treatment))
    sides = ((comparison.control, comparison.control), treatment)
    return [called for name, called in sides if is_unstated(experiment, experiment.systems[name])]


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


def training(learnt: dict[str, list[str]], unstated: list[str]) -> dict[str, object]:
    """The settings on training, if a system learnt from a task's dataset."""
    return ({"trained": learnt} | ({"unstated": unstated} if unstated else {})) if learnt else {}
