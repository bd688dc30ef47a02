"""The pages, by name: the report and its summary, tables to print, answers of studies, published numbers.

Script, inputs and settings of each. See rules/report.smk and rules/tables.smk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.experiment import exhibits, job_files, timings
from ranktrial.experiment.descriptions import for_times, tried, weights_name
from ranktrial.experiment.drawing import Drawing, Drawings
from ranktrial.experiment.exhibits import bubble, forest
from ranktrial.experiment.exhibits import curves as curves_exhibit
from ranktrial.experiment.exhibits import family as family_exhibit
from ranktrial.experiment.job_files import tasks_by_folder
from ranktrial.experiment.judged import judges_of, ranked_by
from ranktrial.experiment.labels import facts, labels, labels_of, task_labels
from ranktrial.experiment.moderators import asked
from ranktrial.experiment.printed_cells import read_mapping
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.results_paths import TABLE_FORMATS, path
from ranktrial.experiment.systems.learning_to_rank import NAME, settings_of, source
from ranktrial.experiment.timings import exclusive, timed_systems
from scripts.datasets import planning as datasets
from scripts.evaluation import planning as evaluation
from scripts.explorer import planning as explorer
from scripts.selection import planning as selection
from scripts.synthesis import planning as synthesis

ANSWERS = ("md", "tsv")
# Of a figure, and of no table
LOOKS = ("title", "width", "height", "x_label", "notes", "rows", "fixed", "bayesian", "limits", "ticks", "columns")
PAGES = ("md", "tex")  # the formats of the table that are not written by the comparison itself
JUDGE_PAGES = ("md", "tsv")


def judge_tables(experiment: Experiment, formats: Iterable[str] = JUDGE_PAGES) -> list[str]:
    """The tables of all judges."""
    return [
        path("judge_table", experiment=experiment.name, dataset=dataset, page_format=page_format)
        for dataset in judges_of(experiment)
        for page_format in formats
    ]


def judge_inputs(experiment: Experiment, dataset: str) -> dict[str, list[str]]:
    """The judgements of humans and of the model, its timing, and the metrics of all systems by both."""
    human = ranked_by(experiment, dataset)
    model = next(task for task in experiment.tasks.values() if task.dataset == dataset)
    systems = [system for system in experiment.systems.values() if system.ranks(human.name)]
    of_both = [[job_files.metrics(experiment, system, task) for system in systems] for task in (human, model)]
    human_metrics, model_metrics = ([file for files in of_systems for file in files] for of_systems in of_both)
    return {
        "human": [job_files.qrels(experiment, human)],
        "model": [job_files.qrels(experiment, model)],
        "timing": [path("judge_timing", experiment=experiment.name, dataset=dataset)],
        "human_metrics": human_metrics,
        "model_metrics": model_metrics,
    }


def judge_settings(experiment: Experiment, dataset: str) -> JsonObject:
    """The measures by which systems are compared."""
    holes = {"holes": True} if judges_of(experiment)[dataset].fill == "holes" else {}
    compared = [measure for measure in experiment.measures if not measure.startswith("Judged@")]
    return {"measures": compared, **holes}


def effects_tables(experiment: Experiment) -> list[str]:
    """The tables of all comparisons."""
    return [
        table
        for comparison in experiment.comparisons
        for table_format in TABLE_FORMATS
        for table in job_files.of_comparisons(experiment, "effects_table", [comparison], table_format=table_format)
    ]


def named_in_summary(experiment: Experiment) -> list[str]:
    """The files that the summary names but does not include: it does not change when one of them does."""
    tables = [
        path("all_queries", experiment=experiment.name),
        *means_tables(experiment),
        *effects_tables(experiment),
        *moderators_tables(experiment),
        *times_tables(experiment),
    ]
    tables += [*transfer_tables(experiment), *judge_tables(experiment)]
    return [*exhibits.files(experiment), *forest.caption_files(experiment), *tables, *family_pages(experiment)]


def means_tables(experiment: Experiment) -> list[str]:
    """The tables of means to print."""
    return [path("means_page", experiment=experiment.name, page_format=page_format) for page_format in PAGES]


def means_settings(experiment: Experiment) -> JsonObject:
    """The settings of the tables of means: what no table contains."""
    counts = {name: tried(experiment, name) for name in experiment.systems}
    return {"facts": facts(experiment), "tried": {name: count for name, count in counts.items() if count > 1}}


WORKS = ("inference", "fine-tuning")  # of which there are tables of times


def times_tables(experiment: Experiment, table_formats: tuple[str, ...] = TABLE_FORMATS) -> list[str]:
    """The tables of times, if anything is timed."""
    works = WORKS if timed_systems(experiment) else ()
    return [
        path("times", experiment=experiment.name, work=work, table_format=table_format)
        for work in works
        for table_format in table_formats
    ]


def times_settings(experiment: Experiment) -> dict:
    """The row and column of each system in the tables of times."""
    systems = {name: for_times(experiment, system) for name, system in timed_systems(experiment).items()}
    return {"systems": systems, "tasks": task_labels(experiment), **exclusive(experiment)}


def collected(experiment: Experiment) -> Drawings:
    """The tables that collect the numbers of many files."""

    def of(script: str, said: JsonObject | None = None, **inputs: list[str]) -> Callable[[], Drawing]:
        return lambda: Drawing(script, inputs, said or {})

    return {
        "datasets": of(
            "reports/datasets_table.py",
            statistics=datasets.statistics(experiment),
            word_pieces=datasets.word_pieces(experiment),
        ),
        "means": of("evaluation/tables.py:write_means", metrics=evaluation.all_metrics(experiment)),
        "means-ties-ascending": of(
            "evaluation/tables.py:write_means", metrics=evaluation.ascending_metrics(experiment)
        ),
        "comparisons": of(
            "synthesis/tables.py:comparisons_table",
            synthesis.table_settings(experiment),
            meta=job_files.of_comparisons(experiment, "meta"),
        ),
        "costs": of(
            "reports/costs.py:write_costs",
            {"behind": timings.timings(experiment)},
            timing=timings.run_timings(experiment),
            beside=timings.other_timings(experiment),
        ),
        "selected-seeds": of("selection/jobs.py:collect", records=selection.seed_records(experiment)),
        "chosen-recipes": of("selection/jobs.py:collect", records=selection.recipe_records(experiment)),
        "extreme-queries": of(
            "explorer/jobs.py:extreme_queries",
            explorer.explorer_settings(experiment),
            metrics=explorer.metrics(experiment),
            statistics=explorer.statistics(experiment),
        ),
        **{f"influence/{name}": partial(influence, experiment, name) for name in experiment.comparisons},
        **{name: partial(matrix_of_cells, experiment, name) for name in experiment.matrices},
    }


def influence(experiment: Experiment, name: str) -> Drawing:
    """Each task's influence on the summary of a comparison."""
    files = {kind: [path(kind, experiment=experiment.name, comparison=name)] for kind in ("effects", "meta")}
    return Drawing("synthesis/tables.py:write_influence", files, {}, compared=(name,))


def matrix_of_cells(experiment: Experiment, name: str) -> Drawing:
    """All cells of a matrix of sources and targets."""
    metrics = {"metrics": synthesis.matrix_metrics(experiment, name)}
    return Drawing("synthesis/transfer.py:matrix", metrics, synthesis.matrix_settings(experiment, name))


def pages_to_print(experiment: Experiment) -> Drawings:
    """The tables whose numbers are already in a file."""
    of_families = {f"multiple-comparisons/{name}": partial(family, experiment, name) for name in experiment.families}
    of_matrices = {
        name: partial(matrix, experiment, name, "reports/tables.py:matrix_table") for name in experiment.matrices
    }
    return {"means": partial(means, experiment), **of_families, **of_matrices}


def full_tables(experiment: Experiment) -> Drawings:
    """The tables that hold numbers of their own, which are written at full precision too."""
    of_comparisons = {f"moderators/{name}": partial(moderators, experiment, name) for name in moderated(experiment)}
    return {f"{work}-times": partial(times, experiment, work) for work in WORKS} | of_comparisons


def answers(experiment: Experiment) -> Drawings:
    """The answers of studies of transfer, and the agreement of judges with humans."""
    transferred = {
        name: partial(matrix, experiment, name, "reports/tables.py:matrix_answers") for name in experiment.matrices
    }
    transferred |= {f"curves-{name}": partial(curves, experiment, name) for name in experiment.curves}
    of_judges = {f"judges/{dataset}": partial(judge, experiment, dataset) for dataset in judges_of(experiment)}
    return {f"{study}-answers": how for study, how in transferred.items()} | of_judges


def means(experiment: Experiment) -> Drawing:
    """Systems by tasks, with the letters of multiple comparisons."""
    inputs = {
        "means": [path("means", experiment=experiment.name)],
        "families": family_files(experiment, "family_table", table_format="tsv"),
        "family_records": family_files(experiment, "family"),
    }
    return Drawing("reports/tables.py:write_means", inputs, means_settings(experiment))


def family(experiment: Experiment, name: str) -> Drawing:
    """A multiple comparison: means, letters and differences."""
    fields = {"experiment": experiment.name, "family": name}
    inputs = {"table": [path("family_table", **fields, table_format="tsv")], "record": [path("family", **fields)]}
    return Drawing("reports/tables.py:write_family", inputs, family_exhibit.settings(experiment, name))


def matrix(experiment: Experiment, name: str, script: str) -> Drawing:
    """A matrix of sources and targets, or its answers."""
    inputs = {"matrix": [path("matrix", experiment=experiment.name, matrix=name, table_format="tsv")]}
    return Drawing(script, inputs, matrix_settings(experiment, name))


def curves(experiment: Experiment, name: str) -> Drawing:
    """The answers from curves over the number of training queries."""
    inputs = {"record": [path("curves", experiment=experiment.name, curve=name)]}
    return Drawing("reports/tables.py:curve_answers", inputs, curves_exhibit.labels(experiment, name))


def moderators(experiment: Experiment, name: str) -> Drawing:
    """The coefficients of a comparison's moderators, and its subgroups."""
    inputs = {"moderators": [path("moderators", experiment=experiment.name, comparison=name)]}
    return Drawing("reports/tables.py:write_moderators", inputs, moderator_table_settings(experiment, name))


def times(experiment: Experiment, work: str) -> Drawing:
    """Times of inference or of fine-tuning."""
    inputs = {"costs": [path("costs", experiment=experiment.name)]}
    return Drawing("reports/costs.py:write_times", inputs, {"work": work, **times_settings(experiment)})


def judge(experiment: Experiment, dataset: str) -> Drawing:
    """A language model's judgements of a dataset beside those of humans."""
    inputs = judge_inputs(experiment, dataset)
    return Drawing("reports/judge_tables.py", inputs, judge_settings(experiment, dataset))


def mapping(experiment: Experiment) -> str | None:
    """The user's file that maps the cells of a paper's tables to our results; None without one."""
    return experiment.published.mapping if experiment.published else None


def user_files(experiment: Experiment) -> dict[str, str]:
    """The user's own files with published numbers, by the script's options."""
    published = experiment.published
    places = {"published": published.file, "mapping": published.mapping} if published else {}
    return {option: place for option, place in places.items() if place}


def importances(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of importance of each ranker that can have printed cells of features, by its name, one per seed.

    Raises UserError for a ranker that is learnt from several sources apart: its features have several importances.
    """
    mapping_file, found = mapping(experiment), {}
    for system in _rankers(experiment):
        sources = list(dict.fromkeys(source(system, task.ranked_dataset) for task in experiment.runs_of(system)))
        if len(sources) > 1:
            raise UserError(f"{mapping_file}: features: {system.name} is learnt from {' and from '.join(sources)}")
        fields = {"experiment": experiment.name, "source": sources[0], "system": system.name}
        found[system.name] = [path("ranker_importance", **fields, seed=seed) for seed in system.seeds]
    return found


def _rankers(experiment: Experiment) -> list[System]:
    """The rankers that a mapping of features names and that learn from all their features."""
    if not (mapping_file := mapping(experiment)) or not (mapped := read_mapping(Path(mapping_file))).features:
        return []
    entries = sorted({entry for line in mapped.systems for entry in line.ours})
    meant = [experiment.systems[name] for entry in entries for name in experiment.entries.get(entry, [])]
    return [system for system in meant if system.type == NAME and settings_of(system).columns is None]


def compared_with(experiment: Experiment) -> dict[str, list[str]]:
    """The tables that are compared with: all tables of times with a mapping, comparisons and matrices without one."""
    if mapping(experiment):
        return {"times": times_tables(experiment, ("tsv",)), "effects": [], "meta": [], "matrices": []}
    effects, meta = (job_files.of_comparisons(experiment, name) for name in ("effects", "meta"))
    return {"times": [], "effects": effects, "meta": meta, "matrices": matrix_tables(experiment, ("tsv",))}


def page_as_html(experiment: Experiment) -> str | list[str]:
    """All cells of a paper's tables with verdicts, with a mapping."""
    return path("published_page", experiment=experiment.name, page_format="html") if mapping(experiment) else []


def table(experiment: Experiment) -> str | list[str]:
    """The table of published numbers, if the experiment has any."""
    any_of_them = experiment.published or experiment.references
    return path("published_table", experiment=experiment.name) if any_of_them else []


def published_settings(experiment: Experiment) -> dict:
    """The places of our numbers for the published ones. Raises UserError for an invalid mapping."""
    if not (mapping_file := mapping(experiment)):
        return {"beside": experiment.published.beside if experiment.published else {}}
    meant = {entry for line in read_mapping(Path(mapping_file)).systems for entry in line.ours}
    entries = {
        entry: [_mapped_system(experiment, name) for name in experiment.entries.get(entry, [])]
        for entry in sorted(meant)
    }
    tasks = {task.name: folder for folder, task in tasks_by_folder(experiment).items()}
    rankers = {system: len(tables) for system, tables in importances(experiment).items()}
    return {"entries": entries, "tasks": tasks} | ({"rankers": rankers} if rankers else {})


def _mapped_system(experiment: Experiment, name: str) -> dict[str, str]:
    """The values that distinguish a system from the others of its entry, and the place of its fine-tuning time."""
    system = experiment.systems[name]
    weights = weights_name(experiment.models[system.model].weights) if system.model else ""
    standing = for_times(experiment, system)
    return {"system": name, "weights": weights, "model": standing["model"], "recipe": standing.get("recipe", "")}


def moderated(experiment: Experiment) -> list[str]:
    """The comparisons that have moderators or subgroups."""
    return [name for name, comparison in experiment.comparisons.items() if asked(comparison)]


def moderators_tables(experiment: Experiment) -> list[str]:
    """The tables of moderators of all comparisons."""
    return [
        path("moderators_table", experiment=experiment.name, comparison=name, table_format=table_format)
        for name in moderated(experiment)
        for table_format in TABLE_FORMATS
    ]


def moderator_records(experiment: Experiment) -> list[str]:
    """The records of the moderators of all comparisons that have any."""
    return job_files.of_comparisons(experiment, "moderators", moderated(experiment))


def moderator_table_settings(experiment: Experiment, name: str) -> dict:
    """The labels in the tables of a comparison's moderators."""
    comparison, shown = experiment.comparisons[name], labels_of(experiment, experiment.comparisons[name].tasks)
    every = labels(experiment)["systems"]
    control, treatment = comparison.names()
    title = f"{every.get(treatment, treatment)} against {every.get(control, control)}"
    return {"title": f"{name}, {title}", "labels": shown}


def shown_on_pages(experiment: Experiment) -> dict[str, list[str]]:
    """Comparison with moderators or subgroups -> its bubble plots."""
    figures = bubble.names(experiment).items()
    return {name: [figure for figure, of in figures if of[0] == name] for name in moderated(experiment)}


def matrix_tables(experiment: Experiment, formats: tuple[str, ...] = TABLE_FORMATS) -> list[str]:
    """The tables of all matrices."""
    return [
        path("matrix", experiment=experiment.name, matrix=name, table_format=one)
        for name in experiment.matrices
        for one in formats
    ]


def answer_files(experiment: Experiment, formats: tuple[str, ...] = ANSWERS) -> list[str]:
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


def transfer_tables(experiment: Experiment) -> list[str]:
    """All tables of studies of transfer."""
    return [*matrix_tables(experiment), *curve_tables(experiment), *answer_files(experiment)]


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


def on_pages(experiment: Experiment) -> dict[str, dict]:
    """The matrices, and the curves with their figures, that summary and report show."""
    drawn = curves_exhibit.names(experiment)
    of_curves = {
        name: {
            "names": curves_exhibit.labels(experiment, name),
            "figures": [one for one in drawn if drawn[one][0] == name],
        }
        for name in experiment.curves
    }
    matrices = {name: matrix_settings(experiment, name) for name in experiment.matrices}
    return {"matrices": matrices, "curves": of_curves}


def systems_in_curves(experiment: Experiment) -> set[str]:
    """The systems that curves show."""
    return {point.system for one in experiment.curves.values() for point in one.points}


def table_settings(experiment: Experiment) -> dict[str, dict]:
    """The number format of comparisons in tables."""
    return {
        name: {key: value for key, value in forest.looks(experiment, name).items() if key not in LOOKS}
        for name in experiment.comparisons
    }


def family_files(experiment: Experiment, name: str, **fields: str) -> list[str]:
    """A path of the table for each multiple comparison."""
    return [path(name, experiment=experiment.name, family=family, **fields) for family in experiment.families]


def family_pages(experiment: Experiment) -> list[str]:
    """The tables of all multiple comparisons to read."""
    return [
        file for table_format in PAGES for file in family_files(experiment, "family_table", table_format=table_format)
    ]
