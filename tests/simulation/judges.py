"""Simulated tasks judged partly by humans and fully by a model, with a known true effect; reads and writes nothing.

With probability `agreement`, the model has the true difference of a query, and else one with a larger mean. There are
three intervals of one task: prediction-powered, from the humans' queries alone, and from the model's judgements of all
queries.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ranktrial.statistics.observed_tasks import ObservedTask, with_model
from ranktrial.statistics.prediction_powered import ModelScores, prediction_powered
from tests.simulation.worlds import (
    MEAN,
    Differences,
    Experiment,
    Generator,
    World,
    bounded,
    in_clusters,
    normal,
    one_task,
)

BIASED = 0.12  # the mean difference if the model is wrong
POWERED, HUMANS, MODEL = ANALYSES = ("prediction-powered", "humans alone", "the model alone")


def powered_task(
    human: np.ndarray, model: np.ndarray, further: np.ndarray, units: Sequence[int] | None = None
) -> ObservedTask:
    """The task with these differences, for the queries that humans judged and the further ones, of these clusters."""
    n, own = len(human), range(len(human) + len(further)) if units is None else units
    columns = [values[:, None] for values in (human, model, further)]
    zeros = [0 * values for values in columns]
    scores = ModelScores(zeros[1], columns[1], zeros[2], columns[2])
    control, treatment, powered = prediction_powered(zeros[0], columns[0], scores)
    return with_model(one_task(treatment[:, 0] - control[:, 0], own[:n], units is not None), powered, None, own)


def judged(
    generator: Generator, n: int, further: int, agreement: float, differences: Differences = normal
) -> Experiment:
    """One task, of which humans judge n queries and the model these and the further ones, in three analyses."""
    human = differences(generator, MEAN, n + further)
    otherwise = differences(generator, BIASED, n + further)
    model = np.where(generator.random(n + further) < agreement, human, otherwise)
    tasks = {
        POWERED: powered_task(human[:n], model[:n], model[n:]),
        HUMANS: one_task(human[:n]),
        MODEL: one_task(model),
    }
    return Experiment(tasks, MEAN, MEAN)


def judged_in_clusters(
    generator: Generator, n: int, sizes: Sequence[int], agreement: float, correlation: float
) -> Experiment:
    """The same of queries in clusters, of which humans judge a random sample of n."""
    total = sum(sizes)
    order, units = generator.permutation(total), np.arange(len(sizes)).repeat(sizes)
    values, otherwise = (in_clusters(generator, sizes, correlation)[order] for _ in range(2))
    model = np.where(generator.random(total) < agreement, values, otherwise + BIASED - MEAN)
    own = units[order].tolist()
    tasks = {
        POWERED: powered_task(values[:n], model[:n], model[n:], own),
        HUMANS: one_task(values[:n], own[:n], True),
        MODEL: one_task(model, own, True),
    }
    return Experiment(tasks, MEAN, MEAN)


IN_CLUSTERS = tuple(
    World(
        f"{n} of {groups * size} queries by humans, {agreement:.0%} agreement, {groups} clusters of {size}",
        partial(judged_in_clusters, n=n, sizes=[size] * groups, agreement=agreement, correlation=0.8),
    )
    for n, groups, size in ((100, 100, 5), (50, 60, 5), (50, 40, 20))
    for agreement in (0.9, 0.5)
)
JUDGED = tuple(
    World(
        f"{n} of {n + further} queries by humans, {agreement:.0%} agreement{words}",
        partial(judged, n=n, further=further, agreement=agreement, differences=differences),
    )
    for differences, words in ((normal, ""), (bounded, ", bounded differences"))
    for n, further in ((30, 270), (50, 250), (100, 400))
    for agreement in (1.0, 0.9, 0.5)
)
