"""Select the seed of a system that is kept for other datasets.

Reads the system's runs on one task, one per seed, its qrels and the seeds' checkpoints with their timings. Writes the
checkpoint of the best seed under a name of its own (hard links if the disk supports them), its timing, and a record
(JSON: the settings, chosen, seeds: each with its measures and score). A seed's score is the mean of the
measures weighted by the settings' `score`; of equal scores the smallest seed is chosen.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, atomic_path, write_json
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import Qrels, read_qrels, read_run, relevant

EQUAL = 1e-12  # scores nearer than this are equal: sums of the same values in another order


def by_seed(name: str, paths: list[Path]) -> dict[int, Path]:
    """The paths `name`, as in the table of paths, by their seed."""
    return {int(fields_of(name, path)["seed"]): path for path in paths}


@dataclass(frozen=True)
class Settings:
    """The record begins with these, in this order."""

    formula: Annotated[str, "formula of the score"]
    score: Annotated[dict[str, float], "the weight of each measure"]
    split: Annotated[str, "of the task that decides"]
    system: Annotated[str, "the system that selects"]
    task: Annotated[str, "the task that decides"]


def weighted_mean(values: dict[str, float], weights: dict[str, float]) -> float:
    """The mean of the values weighted by `weights`, which need not sum to 1."""
    return sum(weight * values[name] for name, weight in weights.items()) / sum(weights.values())


def scores(runs: list[Path], qrels: Qrels, weights: dict[str, float]) -> list[dict]:
    """The result of each seed, by ascending seed: seed, score, and the mean of each measure over the judged queries."""
    reached = []
    for seed, path in sorted(by_seed("run", runs).items()):
        means = evaluate(read_run(path), qrels, list(weights)).mean().to_dict()
        reached.append({"seed": seed, "score": weighted_mean(means, weights), **means})
    return reached


def best(reached: list[dict]) -> int:
    """The seed with the highest score; of equal ones the smallest."""
    highest = max(of_seed["score"] for of_seed in reached)
    return min(of_seed["seed"] for of_seed in reached if of_seed["score"] >= highest - EQUAL)


def copy(source: str, target: str) -> None:
    """Make a hard link, or a copy if the disk does not support links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def main() -> None:
    names = ("checkpoints*", "timings*", "runs*", "qrels", "checkpoint", "timing", "selection")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    settings = options.settings
    judged = read_qrels(options.qrels)
    if not any(relevant(judged, query) for query in judged):
        message = "no judged query to select a seed by; give the dataset this split (splits: …)"
        raise UserError(f"{options.qrels}: {message}")
    reached = scores(options.runs, judged, settings.score)
    chosen = best(reached)
    checkpoints = by_seed("checkpoint", options.checkpoints)
    timings = by_seed("checkpoint_timing", options.timings)
    with atomic_folder(options.checkpoint) as folder:
        shutil.copytree(
            checkpoints[chosen], folder, copy_function=copy, dirs_exist_ok=True,
            ignore=shutil.ignore_patterns(".snakemake_timestamp"),
        )  # fmt: skip
    with atomic_path(options.timing) as path:
        shutil.copyfile(timings[chosen], path)
    write_json(options.selection, asdict(settings) | {"chosen": chosen, "seeds": reached}, indent=2)
    ranked = ", ".join(f"{of_seed['seed']}: {of_seed['score']:.4f}" for of_seed in reached)
    how = f"{settings.formula} on {settings.task}"
    print(f"{settings.system}: seed {chosen} of {ranked} ({how})", file=sys.stderr)
    if settings.split == "test":
        print(f"{settings.system}: the seed is chosen on a test set; for reproduction only", file=sys.stderr)


if __name__ == "__main__":
    run(main)
