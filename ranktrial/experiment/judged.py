"""Tasks judged by a language model: checks of their comparisons, and the settings about judges for the jobs.

Reads and writes nothing. A model prefers what models of its own family write or rank (Balog, Metzler and Qin 2025,
Rankers, Judges, and Assistants), so rankers of the judge's family are reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ranktrial.common.urls import shown
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.comparison import ComparisonEntry
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.datasets.formats.judge import Judge
from ranktrial.experiment.model_checks import check_chat
from ranktrial.experiment.records import Comparison, Experiment, System, Task
from ranktrial.experiment.synthesis_records import JudgedBy
from ranktrial.experiment.system_types import behind
from ranktrial.models.chat_settings import WindowSettings
from ranktrial.models.endpoint_keys import url_of

_LETTERS = re.compile("[a-z]+")


def check_judges(check: Checker, entries: dict[str, list[str]], systems: dict[str, System]) -> None:
    """Raise UserError for a judge with unknown systems, a refused endpoint or a missing file of probabilities."""
    for name, dataset in check.config.datasets.items():
        judge: Judge | None = getattr(dataset, "judge", None)
        if judge is None:
            continue
        check_chat(check, f"datasets.{name}.judge.endpoint", judge.endpoint)
        if judge.probabilities and not Path(judge.probabilities).is_file():
            raise check.fail(f"datasets.{name}.judge.probabilities", f"no file {judge.probabilities!r}")
        for system in judge.of:
            if system not in entries:
                check.known(f"datasets.{name}.judge.of", system, "systems")


def check_judged(check: Checker, key: str, entry: ComparisonEntry, tasks: Sequence[Task], on_other_tasks: bool) -> None:
    """Raise UserError unless a comparison can include the prediction-powered effects of tasks that a model judges."""
    judged = [task for task in tasks if task.judge]
    if judged and entry.effect != "MD":
        problem = f"{judged[0].name!r} is judged by a language model, whose effects are mean differences"
        raise check.fail(f"{key}.effect", f"{problem}; expected MD")
    if judged and on_other_tasks:
        raise check.fail(f"{key}.treatment_on", f"not valid with {judged[0].name!r}, which a language model judges")
    seen = {(task.dataset, task.split): task.name for task in tasks if not task.judge}
    for task in judged:
        other = seen.setdefault((task.ranked_dataset, task.split), task.name)
        if other != task.name:
            problem = "have the same queries, which would count twice: a judged task holds the human judgements as well"
            raise check.fail(f"{key}.tasks", f"{other!r} and {task.name!r} {problem}; leave one out")


def judges_of(experiment: Experiment) -> dict[str, Judge]:
    """Return dataset -> judge, for datasets of tasks that a language model judges."""
    entries = {name: getattr(dataset, "judge", None) for name, dataset in experiment.datasets.items()}
    used = {task.dataset for task in experiment.tasks.values()}
    return {name: judge for name, judge in entries.items() if judge and name in used}


def ranked_by(experiment: Experiment, dataset: str) -> Task:
    """Return the task whose runs a dataset's judge judges."""
    owner, judge = experiment.datasets[dataset].runs_of, judges_of(experiment)[dataset]
    assert owner is not None  # checked when the configuration is read
    return experiment.task_of_split(owner, judge.split)


def origin(dataset: Dataset) -> str:
    """Return the origin of a dataset: its location without secrets, or the model that judges."""
    judge: Judge | None = getattr(dataset, "judge", None)
    return f"judged by {judge.endpoint.model} at {url_of(judge.endpoint)}" if judge else shown(str(dataset.location))


def human_tasks(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Return the tasks whose metrics contain the human judgements for tasks that a model judges."""
    judged = [experiment.tasks[task] for task in comparison.tasks]
    return [experiment.ranked_task(task).name for task in judged if task.judge and task.judge.humans]


def probabilities(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Return the files of the probabilities with which queries were sampled for human judgement."""
    judged = [judge for task in comparison.tasks if (judge := experiment.tasks[task].judge)]
    return [judge.probabilities for judge in judged if judge.probabilities]


def judges(experiment: Experiment, comparison: Comparison) -> dict[str, JudgedBy]:
    """Return the judges of a comparison's tasks, by the tasks' folders; empty if no model judges."""
    judged = {task: judge for name in comparison.tasks if (judge := (task := experiment.tasks[name]).judge)}
    return {
        task.folder: JudgedBy(
            model=judge.endpoint.model,
            humans=experiment.ranked_task(task).folder if judge.humans else None,
            queries=judge.human_queries or None,
            probabilities=judge.probabilities or None,
            holes=judge.fill == "holes",
            relatives=related(experiment, comparison, judge),
        )
        for task, judge in judged.items()
    }


def related(experiment: Experiment, comparison: Comparison, judge: Judge) -> list[str]:
    """Return the names of the models behind the compared systems that belong to the judge's family."""
    sides = [experiment.systems[name] for name in (comparison.control, comparison.treatment)]
    systems = [system for side in sides for system in behind(side, experiment.systems)]
    names = dict.fromkeys(name for system in systems for name in models_of(experiment, system))
    return [name for name in names if family(name) == family(judge.endpoint.model)]


def models_of(experiment: Experiment, system: System) -> list[str]:
    """Return the names of the models with which a system ranks: its weights, or the model at its endpoint."""
    if isinstance(system.settings, WindowSettings):
        return [system.settings.model]
    return [experiment.models[system.model].weights] if system.model else []


def family(name: str) -> str:
    """Return the family of a model: the initial letters of its name.

    It is the same for gpt-4o and GPT-5, and for Qwen/Qwen3-8B and qwen2.
    """
    letters = _LETTERS.search(name.rstrip("/").rsplit("/", 1)[-1].lower())
    return letters[0] if letters else name
