"""The figures of comparisons, families, charts and curves, by name: script, inputs and settings of each.

With the labels, files and settings that pages share with them: subgroups and moderators, studies of transfer, costs and
times, multiple comparisons. See rules/figures.smk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import chain
from typing import Literal, TypedDict

from ranktrial.common.keys import given, stated
from ranktrial.experiment import comparisons, job_files
from ranktrial.experiment.charts import CHART
from ranktrial.experiment.comparisons import COST_FIGURE, MIN_TASKS, statistics_of
from ranktrial.experiment.descriptions import datasets_learnt, for_times, is_unstated
from ranktrial.experiment.drawing import Drawing, Drawings
from ranktrial.experiment.job_files import tasks_by_folder
from ranktrial.experiment.moderators import asked, bubble_name
from ranktrial.experiment.records import Comparison, Experiment, System, Task
from ranktrial.experiment.results_paths import CAPTION_FORMATS, FIGURE_FORMATS, TABLE_FORMATS, path
from ranktrial.experiment.sections.comparison import INFLUENCE, QUERIES
from ranktrial.experiment.system_types import system_type, takes
from ranktrial.experiment.systems._neural import of_model
from ranktrial.experiment.transfer import curve_figures


def task_labels(experiment: Experiment) -> dict[str, str]:
    """The labels of tasks that differ from their names in paths."""
    return {folder: task.label for folder, task in tasks_by_folder(experiment).items() if task.label != folder}


def system_labels(experiment: Experiment) -> dict[str, str]:
    """The labels of systems, and of treatments on other tasks, that differ from their names."""
    systems = {name: system.label for name, system in experiment.systems.items() if system.label != name}
    for comparison in experiment.comparisons.values():
        if comparison.treatment_on:
            label = experiment.systems[comparison.treatment].label
            shown = comparison.named(label, lambda task: experiment.tasks[task].label)
            systems[comparison.named(comparison.treatment)] = shown
    return systems


def labels(experiment: Experiment) -> dict[str, dict[str, str]]:
    """The labels of tasks and systems."""
    return {"tasks": task_labels(experiment), "systems": system_labels(experiment)}


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


class Beside(TypedDict, total=False):
    """The timing files behind a run: of its checkpoint's training and its encoding; of the runs of all `parts`, and of
    all `trainings` and `encodings`, if there are others. `untimed` names the parts that have no timing.
    """

    training: str
    encoding: str
    parts: list[str]
    trainings: list[str]
    encodings: list[str]
    untimed: list[str]


Member = tuple[System, int | str]  # a system behind a run, and the seed of its run
WORKS = ("inference", "fine-tuning")  # of which there are tables of times
Files = Callable[[Experiment, System, Task, int | str], list[str]]
OF_ALL: tuple[Literal["parts", "trainings", "encodings"], ...] = ("parts", "trainings", "encodings")


@cache
def timed_systems(experiment: Experiment) -> dict[str, System]:
    """The systems that are run here: external ones have no timing."""
    return {name: system for name, system in experiment.systems.items() if system_type(system).timed}


def times_tables(experiment: Experiment, table_formats: tuple[str, ...] = TABLE_FORMATS) -> list[str]:
    """The tables of times, if anything is timed."""
    works = WORKS if timed_systems(experiment) else ()
    return [
        path("times", experiment=experiment.name, work=work, table_format=table_format)
        for work in works
        for table_format in table_formats
    ]


@cache
def cost_figures(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Figure of costs -> its comparisons."""
    return comparisons.cost_figures(experiment.comparisons, set(timed_systems(experiment)))


def timings(
    experiment: Experiment, tasks: list[str] | None = None, systems: list[str] | None = None
) -> dict[str, Beside]:
    """Run timing -> the timing files of the steps before the run.

    `tasks` and `systems`, all by default, say of which runs.
    """
    return {
        file: beside
        for (task, system), of_runs in _timings(experiment).items()
        if (tasks is None or task in tasks) and (systems is None or system in systems)
        for file, beside in of_runs.items()
    }


@cache
def _timings(experiment: Experiment) -> dict[tuple[str, str], dict[str, Beside]]:
    """(Task, system) -> `timings` of its runs."""
    return {
        (task.name, system.name): _timings_of(experiment, system, task)
        for system in timed_systems(experiment).values()
        for task in experiment.runs_of(system)
    }


def _timings_of(experiment: Experiment, system: System, task: Task) -> dict[str, Beside]:
    seeds = experiment.seeds_on(system, task)
    files = job_files.runs(experiment, system, task, "run_timing")
    return {file: _beside(experiment, system, task, seed) for seed, file in zip(seeds, files, strict=True)}


def _beside(experiment: Experiment, system: System, task: Task, seed: int | str) -> Beside:
    """The steps before one run; those of all parts only if they are more than its own step needs."""
    members = [(experiment.systems[name], its) for name, its in _taken(experiment, system, task, seed).items()]
    beside: Beside = {}
    trainings, encodings = _each(_trainings, experiment, task, members), _each(_encoding, experiment, task, members)
    if own := _trainings(experiment, system, task, seed):
        beside["training"] = own[0]
    if encoded := _encoding(experiment, system, task, seed):
        beside["encoding"] = encoded[0]
    if trainings != own[:1]:
        beside["trainings"] = trainings
    if encodings != encoded:
        beside["encodings"] = encodings
    if parts := _parts(experiment, system, task, members):
        beside["parts"] = parts
    if untimed := [member.name for member, _ in members if member.name not in timed_systems(experiment)]:
        beside["untimed"] = untimed
    return beside


def _each(files: Files, experiment: Experiment, task: Task, members: list[Member]) -> list[str]:
    """The files of all systems behind a run, each file once."""
    return list(dict.fromkeys(file for member, seed in members for file in files(experiment, member, task, seed)))


def _taken(experiment: Experiment, system: System, task: Task, seed: int | str) -> dict[str, int | str]:
    """The systems behind a run, each once, with the seeds of their runs; the system itself is the first."""
    found: dict[str, int | str] = {system.name: seed}
    for name in takes(system):
        member = experiment.systems[name]
        found |= _taken(experiment, member, task, experiment.seed_taken(name, seed, task))
    return found


def _parts(experiment: Experiment, system: System, task: Task, members: list[Member]) -> list[str]:
    """The timings of the runs that a run is made of, its own not among them, and of further steps for any of them."""
    fields = {"experiment": experiment.name, "task": experiment.ranked_task(task).folder}
    runs = [
        path("run_timing", **fields, system=member.name, seed=seed)
        for member, seed in members
        if member.name != system.name and member.name in timed_systems(experiment)
    ]
    further = [file for member, _ in members for file in system_type(member).further_timings(experiment, member, task)]
    return [*runs, *dict.fromkeys(further)]


def _encoding(experiment: Experiment, system: System, task: Task, seed: int | str) -> list[str]:
    """The timing of the encoding with which a system ranks, if it has one."""
    encoded = job_files.encoded(experiment, system, task, seed)
    return [encoded[1]] if encoded else []


def _trainings(experiment: Experiment, system: System, task: Task, seed: int | str) -> list[str]:
    """The timings of the trainings of a system's own checkpoint, the last first: it may start from another."""
    if not system.recipes:
        timing = system_type(system).training_timing(experiment, system, task, seed)
        return [timing] if timing else []
    files = [job_files.checkpoint(experiment, system, task.ranked_dataset, seed, "checkpoint_timing")]
    recipe = system.recipe_on(task.ranked_dataset)
    number = seed if isinstance(seed, int) else system.seeds[0]  # of a selected one another stands for its start
    for earlier in list(experiment.chain(recipe))[1:]:
        number = experiment.starting_seed(recipe, number)
        fields = {"experiment": experiment.name, "model": system.model, "recipe": earlier, "seed": number}
        files.append(path("checkpoint_timing", **fields))
        recipe = earlier
    return files


def files_of(beside: Beside) -> list[str]:
    """All timing files behind a run."""
    own = [beside[key] for key in ("training", "encoding") if key in beside]
    return [*own, *(file for key in OF_ALL for file in beside.get(key, ()))]


def run_timings(experiment: Experiment) -> list[str]:
    """The timing files of all runs."""
    return list(timings(experiment))


def other_timings(experiment: Experiment) -> list[str]:
    """The timing files of all steps before runs."""
    return sorted({file for beside in timings(experiment).values() for file in files_of(beside)})


def times_settings(experiment: Experiment) -> dict:
    """The row and column of each system in the tables of times."""
    systems = {name: for_times(experiment, system) for name, system in timed_systems(experiment).items()}
    return {"systems": systems, "tasks": task_labels(experiment), **exclusive(experiment)}


def cost_systems(experiment: Experiment, figure: str) -> list[str]:
    """The systems of a figure of costs, its control first if that has timing."""
    members = [experiment.comparisons[name] for name in cost_figures(experiment)[figure]]
    names = [members[0].control, *(comparison.treatment for comparison in members)]
    return [name for name in names if name in timed_systems(experiment)]


def cost_meta(experiment: Experiment, figure: str) -> list[str]:
    """The summary effects that a figure of costs shows."""
    return job_files.of_comparisons(experiment, "meta", cost_figures(experiment)[figure])


def cost_timings(experiment: Experiment, figure: str) -> dict:
    """The part of `timings` that belongs to the systems and tasks of a figure of costs."""
    first = experiment.comparisons[cost_figures(experiment)[figure][0]]
    return timings(experiment, list(first.tasks), cost_systems(experiment, figure))


def cost_timing_files(experiment: Experiment, figure: str) -> list[str]:
    """All timing files that a figure of costs is drawn from."""
    beside = cost_timings(experiment, figure)
    return sorted({*beside, *chain.from_iterable(map(files_of, beside.values()))})


def cost_settings(experiment: Experiment, figure: str) -> dict:
    """The settings of a figure of costs."""
    first = experiment.comparisons[cost_figures(experiment)[figure][0]]
    systems = cost_systems(experiment, figure)
    return {
        "control": first.control,
        "alpha": first.statistics.alpha,
        "labels": {name: label for name, label in system_labels(experiment).items() if name in systems},
        "beside": cost_timings(experiment, figure),
        **({"sizes": sizes} if (sizes := cost_sizes(experiment, figure)) else {}),
        **exclusive(experiment),
    }


def exclusive(experiment: Experiment) -> dict[str, bool]:
    """The setting for searches and rankings that ran one at a time; none if they did not."""
    return {"exclusive": True} if experiment.timing == "exclusive" else {}


def cost_sizes(experiment: Experiment, figure: str) -> list[str]:
    """The sizes that a figure shows: of indices, of weights, or both."""
    drawn = [experiment.systems[name] for name in cost_systems(experiment, figure)]
    smaller = {
        "index_mb": any(of_model(system).embeddings or system.truncate_dim for system in drawn),
        "weights_mb": any(of_model(system).export for system in drawn),
    }
    return [size for size, shown in smaller.items() if shown]


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
