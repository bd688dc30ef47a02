"""The inputs of the feature jobs: paths and settings derived from the experiment (for rules/features.smk)."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, plain, stated
from ranktrial.common.plugins import source
from ranktrial.configuration.sections.features import Tagger
from ranktrial.experiment import job_files
from ranktrial.experiment.datasets import analyzer_on
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.records import UNTRAINED, Experiment, Task
from ranktrial.experiment.results_paths import path

FAMILIES = "ranktrial.features.families"
MODEL_TYPES = "ranktrial.models.types"
WHOLE = "together"  # a single field of title and text
APART = "best"  # separate fields
ENGLISH_WHOLE = ("english", WHOLE)  # Pyserini's index, whose name has no suffix


def asked(experiment: Experiment) -> list[str]:
    """All feature files of the configuration."""
    return [
        path("features", experiment=experiment.name, features=name, task=experiment.tasks[task].folder)
        for name, features in experiment.features.items()
        for task in features.tasks
    ]


def computed(experiment: Experiment) -> list[str]:
    """The names of the feature sets that are computed here."""
    return [name for name, features in experiment.features.items() if not features.files]


def given(experiment: Experiment) -> list[str]:
    """The names of the feature sets that are given as files."""
    return [name for name, features in experiment.features.items() if features.files]


def file_of_others(experiment: Experiment, features: str, task: str) -> str:
    """The user's own feature file for a task."""
    return experiment.features[features].files[task_in(experiment, task).name]


def queries(experiment: Experiment, task: str) -> str | list[str]:
    """The queries of a task, which state what is excluded for them; empty for a task without documents."""
    its = task_in(experiment, task)
    return job_files.queries(experiment, its) if its.has_documents else []


def own_files(experiment: Experiment) -> list[str]:
    """The user's own feature files."""
    return [file for features in experiment.features.values() for file in features.files.values()]


def families(experiment: Experiment, features: str) -> list[str]:
    """The files of the families that a feature job loads by name, relative to scripts/."""
    names = dict.fromkeys(entry.family for entry in experiment.features[features].of if entry.family)
    return [source(FAMILIES, name) for name in names]


def tagged(experiment: Experiment) -> list[str]:
    """The names of the feature sets for which a model labels texts."""
    return [name for name, features in experiment.features.items() if features.tagger]


def _tagger(experiment: Experiment, features: str) -> Tagger:
    found = experiment.features[features].tagger
    assert found is not None  # only called for feature sets with a tagger
    return found


def tagging_settings(experiment: Experiment, features: str) -> JsonObject:
    """The settings of the job that labels texts."""
    chosen, by = experiment.features[features], _tagger(experiment, features)
    model = experiment.models[by.model]
    labels = {"labels": stated(by.labels)} if by.labels else {}
    return {
        **{key: getattr(model, key) for key in ("type", "max_length", "batch_size")},
        "depth": chosen.depth,
        **labels,
    }


def term_counts(experiment: Experiment, features: str, task: str) -> list[str]:
    """The term counts of title and text together and, if a feature uses a single field, also of both separately."""
    chosen = experiment.features[features]
    if chosen.files:
        return []
    dataset = experiment.corpus_owner(task_in(experiment, task).dataset)
    analyzer = analyzer_on(experiment, dataset, chosen.analyzer)
    how = [(analyzer, WHOLE), *([(analyzer, APART)] if any(one.field for one in chosen.of) else [])]
    words = ["" if one == ENGLISH_WHOLE else f"-{'-'.join(one)}" for one in how]
    return [path("term_counts", experiment=experiment.name, dataset=dataset, how=one) for one in words]


def compute_inputs(experiment: Experiment, features: str, task: str) -> dict[str, str | list[str]]:
    """The inputs of computing features; a system whose scores are one has the run of its first seed."""
    chosen, its = experiment.features[features], task_in(experiment, task)
    fields = {"experiment": experiment.name, "dataset": its.dataset, "split": its.split}
    analyzer = analyzer_on(experiment, its.dataset, chosen.analyzer)
    tagged = [path("structures", experiment=experiment.name, features=features, task=task)] if chosen.tagger else []
    return {
        "candidates": _run(experiment, str(chosen.first_stage), its),
        "query_terms": path("query_terms", **fields, analyzer=analyzer),
        "qrels": job_files.qrels(experiment, its),
        "terms": term_counts(experiment, features, task),
        "runs": [_run(experiment, entry.system, its) for entry in chosen.of if entry.system],
        "texts": _texts(experiment, features, its),
        "structures": tagged,
    }


def compute_settings(experiment: Experiment, features: str) -> JsonObject:
    """The features to compute, and for which candidates."""
    chosen = experiment.features[features]
    return {"of": plain(chosen.of), "first_stage": chosen.first_stage, "depth": chosen.depth}


def tagging_inputs(experiment: Experiment, features: str, task: str) -> dict[str, str | list[str]]:
    """The inputs of the model that labels texts."""
    its, fields = task_in(experiment, task), {"model": _tagger(experiment, features).model, "recipe": UNTRAINED}
    return {
        "checkpoint": path("checkpoint", experiment=experiment.name, **fields, seed=0),
        "candidates": _run(experiment, str(experiment.features[features].first_stage), its),
        "texts": _texts(experiment, features, its),
    }


def tagger_files(experiment: Experiment, features: str) -> list[str]:
    """The file of the adapter of this model, which its job loads by name."""
    return [source(MODEL_TYPES, experiment.models[_tagger(experiment, features).model].type)]


def _texts(experiment: Experiment, features: str, task: Task) -> list[str]:
    """The queries and the corpus, if there is a text feature."""
    if not any(one.texts for one in experiment.features[features].of):
        return []
    return [job_files.queries(experiment, task), job_files.corpus(experiment, task.dataset)]


def _run(experiment: Experiment, system: str, task: Task) -> str:
    return job_files.runs(experiment, experiment.systems[system], task)[0]
