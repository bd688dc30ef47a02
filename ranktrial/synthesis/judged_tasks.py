"""Tasks of a comparison that a language model judges: the scores by human judgements and by the model's.

Reads files of probabilities; writes nothing. For queries that humans also judged, the task's scores are by human
judgements; scores by the model's judgements are added for these and all other queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.numerals import finite
from ranktrial.ir.paired_columns import paired_columns
from ranktrial.ir.query_samples import drawn
from ranktrial.statistics.task.paired import queries as counted
from ranktrial.statistics.task.prediction_powered import LEAST, ModelScores
from ranktrial.statistics.task.results import TaskResult
from ranktrial.synthesis.metrics_files import Scores, on

NO_HUMANS = "a language model judged all its queries and humans none, so its errors are unknown"
HOLES = "a language model judged what humans had not, so no interval includes its errors"


@dataclass(frozen=True, kw_only=True)
class JudgedBy:
    """The properties of a task's judge."""

    model: Annotated[str, "the language model"]
    humans: Annotated[str | None, "the task with the humans' judgements; null: there are none"] = None
    queries: Annotated[int | None, "so many of its queries count as judged by humans, a sample; null: all"] = None
    probabilities: Annotated[str | None, "the file of those with which its queries were chosen; null: a sample"] = None
    holes: Annotated[bool, "the model judged only what humans had not"] = False
    relatives: Annotated[list[str], "models behind the compared systems that are of its family"] = field(
        default_factory=list
    )


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
