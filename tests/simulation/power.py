"""Simulate studies and analyse them with the project's own estimators, to check the planned power.

Reads nothing. Prints a table in Markdown, one row per design: the effect that is to be detected with 80% power, the
share of simulated studies whose interval excludes 0, the planned half-width and the mean half-width of these studies.
Each task's variance is estimated from its own queries, as in an experiment. Run it by hand; it takes minutes:

    python -m tests.simulation.power --settings '{"replicates": 10000}'
"""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ranktrial.common.command_line import parser, run
from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.intervals import interval_named
from ranktrial.statistics.power import Components, Design, Question

QUERY = 0.0625  # sd 0.25, of differences in nDCG@10
TAUS = (0.0, 0.02, 0.05)
DESIGNS = ((30, 4), (30, 10), (200, 4), (200, 10), (200, 20))  # queries and collections


class Simulated(NamedTuple):
    """The results of the simulated studies."""

    power: float
    half_width: float


@dataclass(frozen=True)
class Settings:
    """The size of the simulation."""

    replicates: Annotated[int, "studies a design"] = 2000
    seed: int = 1
    estimator: Annotated[str, "of tau2: a file in ranktrial/statistics/estimators"] = "REML"
    interval: Annotated[str, "of the summary: a file in ranktrial/statistics/intervals"] = "equal-weights"


def simulated(components: Components, design: Design, effect: float, settings: Settings) -> Simulated:
    """Analyse `replicates` studies of two untrained systems with normally distributed differences."""
    generator = np.random.default_rng(settings.seed)
    estimator, interval = estimator_named(settings.estimator), interval_named(settings.interval)
    queries, collections = int(design.queries), int(design.collections)
    found, half_width = 0, 0.0
    for _ in range(settings.replicates):
        effects = effect + math.sqrt(components.collection) * generator.standard_normal((collections, 1))
        values = effects + math.sqrt(components.query) * generator.standard_normal((collections, queries))
        estimates, variances = values.mean(axis=1), values.var(axis=1, ddof=1) / queries
        summary = interval.summary(estimates, variances, estimator.tau2(estimates, variances), 0.05)
        found += not summary.ci_low <= 0 <= summary.ci_high
        half_width += (summary.ci_high - summary.ci_low) / 2
    return Simulated(found / settings.replicates, half_width / settings.replicates)


def table(settings: Settings) -> str:
    """The table in Markdown."""
    lines = ["| queries | collections | tau | effect | power | half-width planned | simulated |", "|--:" * 7 + "|"]
    question = Question(0.05, 0.8, settings.interval)
    for tau in TAUS:
        for queries, collections in DESIGNS:
            components, design = Components(QUERY, tau**2), Design(queries, collections, 1)
            planned = question.of_summary(components, design)
            found = simulated(components, design, planned.detectable, settings)
            cells = [
                f"{queries}",
                f"{collections}",
                f"{tau:g}",
                f"{planned.detectable:.4f}",
                f"{100 * found.power:.1f}%",
            ]
            lines.append("| " + " | ".join([*cells, f"{planned.half_width:.4f}", f"{found.half_width:.4f}"]) + " |")
    return "\n".join(lines)


def main() -> None:
    print(table(parser(__doc__, settings=Settings).parse_args().settings))


if __name__ == "__main__":
    run(main)
