"""Forest plots: one for each comparison, and one for each group of them drawn together."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, stated
from ranktrial.experiment import job_files
from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.labels import compared_labels, facts_of
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import CAPTION_FORMATS, path

NAME = "forest"
PREFIX, DESCRIPTION = "", "forest plots"
CATEGORY = "Forest plots"
CAPTION = (
    "Forest plot. Each row is a task: the square is the effect of the treatment over the control, its area the task's "
    "weight, the line its confidence interval. The hollow diamond is the mean on these collections, the filled one the "
    "mean over collections like these (random effects); each spans its interval. The bar is the prediction interval, "
    "where the effect in a new collection is expected."
)
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


def settings(experiment: Experiment, name: str) -> JsonObject:
    """The settings of a forest plot."""
    return {**looks(experiment, name), **font_of(experiment, name), "facts": known(experiment, name)}


def known(experiment: Experiment, name: str) -> JsonObject:
    """What is known of the systems and tasks of a forest plot."""
    return facts_of(experiment, [experiment.comparisons[member] for member in names(experiment)[name]])


def shown_labels(experiment: Experiment, name: str) -> dict[str, dict[str, str]]:
    """The labels of a comparison's systems and tasks."""
    return compared_labels(experiment, [experiment.comparisons[name]])


def looks(experiment: Experiment, name: str) -> JsonObject:
    """The appearance of a forest plot: that of its first comparison, and the number format."""
    comparison = experiment.comparisons[names(experiment)[name][0]]
    measures = experiment.tasks[comparison.tasks[0]].measures
    judged = next((measure for measure in measures if measure.startswith("Judged@")), "")
    return stated(comparison.figure, *NOT_LOOKS) | {"alpha": comparison.statistics.alpha, "judged": judged}


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
