"""One comparison of an experiment, through the entry point of the statistics (statistics/comparison.py).

Reads a file of clusters of queries: a table of query ids and the names of their clusters; writes nothing.

Tasks of a comparison that a language model judges: the scores by human judgements and by the model's.

Reads files of probabilities; writes nothing. For queries that humans also judged, the task's scores are by human
judgements; scores by the model's judgements are added for these and all other queries.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.wording import finite
from ranktrial.experiment.results_paths import SELECTED
from ranktrial.experiment.synthesis_records import BORROWED, UNKNOWN, JudgedBy
from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.ir.outside_table import paired_columns
from ranktrial.ir.query_samples import drawn
from ranktrial.statistics.comparison import Comparison, TaskScores, compare
from ranktrial.statistics.method import RANDOM
from ranktrial.statistics.paired import queries as counted
from ranktrial.statistics.prediction_powered import LEAST, ModelScores
from ranktrial.statistics.seeds import CONTROL, DIFFERENCE, TREATMENT, SeedsFrom
from ranktrial.statistics.task_results import TaskResult
from ranktrial.synthesis.metrics_files import Scores, on

HEADINGS = ("cluster", "group")
EXPECTED = "a query id, a tab and the name of its cluster"


def read_clusters(path: Path) -> dict[str, str]:
    """Query id -> cluster. Raises UserError with the line for a line of another form."""
    return {query: cluster for _, query, cluster in paired_columns(path, HEADINGS, EXPECTED)}


NO_HUMANS = "a language model judged all its queries and humans none, so its errors are unknown"
HOLES = "a language model judged what humans had not, so no interval includes its errors"


Pair = tuple[Scores, Scores]  # control and treatment


def with_judges(
    pairs: dict[str, Pair], judges: Mapping[str, JudgedBy], seed: int
) -> tuple[dict[str, Pair], dict[str, ModelScores]]:
    """The scores of both systems by task (for judged tasks, by human judgements of the sample), and the model's scores
    of the judged tasks. Tasks that only supply human judgements are removed.
    """
    scores, models = dict(pairs), {}
    for task, by in judges.items():
        if by.humans is None:
            models[task] = beside(pairs[task], pairs[task][0].values.index, HOLES if by.holes else NO_HUMANS)
            continue
        humans = pairs[by.humans]
        sample = sampled(humans[0].values.index, by.queries, seed, task)
        sample = sample[sample.isin(pairs[task][0].values.index)]  # the model's answers may all be unreadable
        chosen = read_probabilities(Path(by.probabilities), list(sample)) if by.probabilities else None
        few = f"{len(sample)} queries judged by humans; a prediction-powered effect needs {LEAST}"
        models[task] = beside(pairs[task], sample, few if len(sample) < LEAST else None, chosen)
        scores[task] = on(humans[0], sample), on(humans[1], sample)
    only_humans = {by.humans for by in judges.values()}
    return {task: pair for task, pair in scores.items() if task not in only_humans}, models


def sampled(judged: pd.Index, size: int | None, seed: int, task: str) -> pd.Index:
    """The queries treated as judged by humans: all of them, or a sample determined by seed, task and ids."""
    return judged if size is None else pd.Index(drawn(list(judged), size, seed, task), name=judged.name)


def read_probabilities(path: Path, queries: list[str]) -> np.ndarray:
    """The probability of each query, from a table of both. UserError with the line, or for a query without one."""
    expected = "a query, a tab and a probability above 0 and at most 1"
    found: dict[str, float] = {}
    for where, query, text in paired_columns(path, ("probability",), expected):
        value = finite(text)
        if value is None or not 0 < value <= 1:
            raise UserError(f"{where}: expected {expected}")
        found[query] = value
    if missing := [query for query in queries if query not in found]:
        raise UserError(
            f"{path}: no probability for {counted(len(missing))} with human judgements, such as {missing[0]}"
        )
    return np.array([found[query] for query in queries])


def beside(
    model: Pair, sample: pd.Index, undefined: str | None, probabilities: np.ndarray | None = None
) -> ModelScores:
    """The model's scores of the sample, and of all other queries."""
    every = model[0].values.index
    further = every[~every.isin(sample)]
    control, treatment = (on(scores, sample).values.to_numpy() for scores in model)
    further_control, further_treatment = (on(scores, further).values.to_numpy() for scores in model)
    ids = [str(query) for query in further]
    return ModelScores(control, treatment, further_control, further_treatment, undefined, probabilities, ids)


def notes(results: Mapping[str, TaskResult], judges: Mapping[str, JudgedBy]) -> list[str]:
    """A note on the effect of each task that a model judges, as text."""
    said = []
    for task, by in judges.items():
        powered, effect = results[task].observed.powered, results[task].effect
        if powered and effect.estimate is not None:
            said.append(
                f"{task}: prediction-powered, {effect.n} queries judged by humans and {powered.further} more by "
                f"{by.model} alone, whose judgements have the weight {powered.weight:.2f}"
            )
        said += [
            f"{task}: judge and ranker belong to the same model family, {by.model} and {name}" for name in by.relatives
        ]
    return said


Pairs = Mapping[str, tuple[Scores, Scores]]  # control and treatment by task, on the same queries in one order


@dataclass(frozen=True)
class DependenceData:
    """Data about dependence, by task: the documents relevant to each query, and clusters of a file; and by system and
    task, the values (queries, seeds) of systems whose seeds are borrowed.
    """

    relevant: Mapping[str, Mapping[str, Collection[str]]] = field(default_factory=dict)
    clusters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    siblings: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)


def compared(
    pairs: Pairs,
    settings: Settings,
    dependence_data: DependenceData | None = None,
    models: Mapping[str, ModelScores] | None = None,
) -> Comparison:
    """Compare the systems on each task and combine the effects; `models` are the scores by judges' judgements."""
    known = dependence_data or DependenceData()
    return compare(task_scores(pairs, settings, known, models), settings, seeds_from(settings, known.siblings))


def task_scores(
    pairs: Pairs, settings: Settings, known: DependenceData, models: Mapping[str, ModelScores] | None = None
) -> list[TaskScores]:
    """The scores of each task, with what is known of how its queries depend on each other."""
    return [
        TaskScores(
            task,
            control.values.to_numpy(),
            treatment.values.to_numpy(),
            [str(query) for query in control.values.index],
            settings.corpora.get(task),
            known.relevant.get(task),
            known.clusters.get(task),
            (models or {}).get(task),
        )
        for task, (control, treatment) in pairs.items()
    ]


def seeds_from(settings: Settings, siblings: Mapping[str, Mapping[str, np.ndarray]]) -> dict[str, SeedsFrom]:
    """By role, the seeds from which seed variance is estimated, for the roles with a source."""
    found = {}
    for role, seeds in settings.seed_sources.items():
        if seeds.status != UNKNOWN:
            values = siblings[str(seeds.system)] if seeds.status == BORROWED else None
            found[role] = SeedsFrom(seeds.system or role, values, _checkpoints(role, settings))
    return found


def _checkpoints(role: str, settings: Settings) -> dict[str, Hashable]:
    """By task, the trainings of a role's checkpoints, if tasks have separate ones."""
    roles = (CONTROL, TREATMENT) if role == DIFFERENCE else (role,)
    trained = [settings.checkpoints.get(one, {}) for one in roles]
    tasks = dict.fromkeys(task for by_task in trained for task in by_task)
    return {task: tuple(by_task.get(task) for by_task in trained) for task in tasks}


def unknown_seeds(settings: Settings) -> list[str]:
    """The trained systems whose seed variance cannot be estimated in this experiment, as text."""
    if settings.seeds != RANDOM:
        return []
    names = {
        "control": settings.control,
        "treatment": settings.treatment,
        DIFFERENCE: f"{settings.control} and {settings.treatment}, which share checkpoints,",
    }
    verbs = {DIFFERENCE: "were"}
    return [
        f"{names[role]} {verbs.get(role, 'was')} trained once, and the experiment does not show what other seeds "
        "would give: intervals are conditional on this seed and too narrow"
        for role, seeds in settings.seed_sources.items()
        if seeds.status == UNKNOWN
    ]


def mixed_estimands(name: str, seeds: Mapping[str, Sequence[str]]) -> list[str]:
    """Whether a system has the mean of its seeds on some tasks and a selected one on others, as text; seeds by
    task."""
    several = {task: len(of_task) for task, of_task in seeds.items() if len(of_task) > 1}
    selected = [task for task, of_task in seeds.items() if of_task[0] == SELECTED]
    if not (several and selected):
        return []
    return [
        f"{name}: the mean of {next(iter(several.values()))} seeds on {', '.join(several)}, but on "
        f"{', '.join(selected)} the seed that was the best on its selection task: the summary combines two quantities"
    ]
