"""Choose the weights of a weighted sum of runs on a dev split.

Reads the dev runs of the fused systems, in the order of the settings' `systems`, and the dev qrels. Fuses them with all
weights that are multiples of `step` and sum to 1. Writes a table (TSV: the weight of each system, the mean measure) and
the chosen weights (JSON: weights, measure, value, queries). The best mean wins; of equal ones the first in the table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text, write_json
from ranktrial.common.progress import track
from ranktrial.ir.few_queries import few_queries
from ranktrial.ir.fusion import fused, normalised, weighted_sum, weightings
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import Qrels, Run, read_qrels, read_run, relevant


@dataclass(frozen=True)
class Settings:
    systems: Annotated[list[str], "the systems whose runs are fused"]
    normalise: Annotated[Literal["min-max", "z-score", "rank"], "how scores are made comparable"]
    step: Annotated[float, "the weights tried are multiples of it"]
    measure: Annotated[str, "the measure whose mean decides"]
    depth: Annotated[int, "documents per query that the measure looks at"]


class Trial(NamedTuple):
    """The weights of the systems, in their order, and the mean of the measure that they reached."""

    weights: tuple[float, ...]
    value: float


def judged(qrels: Qrels, name: str) -> Qrels:
    """The judgements of the queries with a relevant document (`name` in messages). Raises UserError if none has one."""
    usable = {query: grades for query, grades in qrels.items() if relevant(qrels, query)}
    if not usable:
        raise UserError(
            f"{name}: no judged dev query to tune on: give the dataset a dev split (splits: {{dev: 0.1}}), "
            "or the system weights instead of tune: true"
        )
    return usable


def try_all(runs: list[Run], qrels: Qrels, settings: Settings) -> list[Trial]:
    """The mean measure over the queries of the qrels for all weights, in ascending order of the weights."""
    comparable = [
        normalised({query: member[query] for query in qrels if query in member}, settings.normalise) for member in runs
    ]
    tried = list(weightings(round(1 / settings.step), len(runs)))
    trials = []
    for weights in track(tried, "tuned", len(tried), "weighting"):
        ranked = fused(comparable, lambda lists, given=list(weights): weighted_sum(lists, given), settings.depth)
        trials.append(Trial(weights, float(evaluate(ranked, qrels, [settings.measure])[settings.measure].mean())))
    return trials


def best(trials: list[Trial]) -> Trial:
    """The trial with the highest value; of equal ones the first."""
    return max(trials, key=lambda trial: trial.value)


def write(table: Path, weights: Path, trials: list[Trial], settings: Settings, queries: int) -> None:
    """Write the table of all trials and the file of the chosen one."""
    with atomic_text(table) as file:
        file.write("\t".join([*settings.systems, settings.measure]) + "\n")
        file.writelines("\t".join(map(repr, [*trial.weights, trial.value])) + "\n" for trial in trials)
    chosen = best(trials)
    record = {
        "weights": dict(zip(settings.systems, chosen.weights, strict=True)),
        "measure": settings.measure,
        "value": chosen.value,
        "queries": queries,
    }
    write_json(weights, record, indent=2)


def main() -> None:
    options = parser(__doc__, "runs*", "qrels", "weights", "table", settings=Settings).parse_args()
    settings = options.settings
    if len(options.runs) != len(settings.systems):
        raise UserError(f"--runs: expected {len(settings.systems)} files, one per system, not {len(options.runs)}")
    qrels = judged(read_qrels(options.qrels), str(options.qrels))
    trials = try_all([read_run(path) for path in options.runs], qrels, settings)
    write(options.table, options.weights, trials, settings, len(qrels))
    chosen = best(trials)
    weights = ", ".join(f"{name} {weight:g}" for name, weight in zip(settings.systems, chosen.weights, strict=True))
    print(f"{weights}: {settings.measure} {chosen.value:.4f} on {len(qrels)} dev queries", file=sys.stderr)
    if caution := few_queries(len(qrels)):
        print(f"{options.weights.name}: warning: {caution}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
