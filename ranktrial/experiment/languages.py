"""Consequences of the language of a dataset's texts: the analyser of its index, and whether they can be split.

A corpus and the queries of all datasets that share it have the same analyser.
"""

from __future__ import annotations

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.sections.configuration import Configuration
from ranktrial.ir.languages import ENGLISH, WITH_SENTENCES

ENGLISH_ANALYZER = "english"  # Anserini's default
OF_LANGUAGE = "language"  # stands for the analyser of each dataset's language


def usual_analyzer(config: Configuration) -> str:
    """Return the default analyser: English if all datasets are English, otherwise that of each dataset's language."""
    languages = {dataset.language for dataset in config.datasets.values()}
    return ENGLISH_ANALYZER if languages <= {ENGLISH} else OF_LANGUAGE


def analyzer_on(experiment: Experiment, dataset: str, analyzer: str = OF_LANGUAGE) -> str:
    """Return the analyser of a dataset's index and queries: english, standard or a language code."""
    if analyzer != OF_LANGUAGE:
        return analyzer
    language = experiment.datasets[experiment.corpus_owner(dataset)].language
    return ENGLISH_ANALYZER if language == ENGLISH else language


def check_sentences(check: Checker, experiment: Experiment) -> None:
    """Raise UserError if texts must be split into passages in a language without sentence splitting."""
    split = [
        (f"systems.{system.name}.long_documents", task.ranked_dataset)
        for system in experiment.systems.values()
        if system.passage_length
        for task in experiment.runs_of(system)
    ]
    split += [
        (f"recipes.{name}.long_documents", dataset)
        for name, recipe in experiment.recipes.items()
        for dataset in recipe.datasets
        if recipe.long_documents == "passages"
    ]
    for key, dataset in split:
        for name in dict.fromkeys([dataset, experiment.corpus_owner(dataset)]):
            language = experiment.datasets[name].language
            if language not in WITH_SENTENCES:
                problem = f"sentences of {name} cannot be found in its language, {language}"
                raise check.fail(key, f"{problem}; expected one of {', '.join(WITH_SENTENCES)}, or truncated texts")
