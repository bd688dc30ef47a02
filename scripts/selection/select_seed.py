"""Select the seed of a system that is kept for other datasets.

Reads the system's runs on one task, one a seed, its qrels and the seeds' checkpoints with their timings. Writes the
checkpoint of the best seed under a name of its own (hard links where the disk has them), its timing, and a record
(JSON: what the settings say, chosen, seeds: each with its measures and score). A seed's score is the mean of the
measures weighted by the settings' `score`; of equal scores the smallest seed is chosen.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_folder, atomic_path, atomic_text
from scripts.ir.measures import evaluate
from scripts.ir.trec import Qrels, read_qrels, read_run, relevant

EQUAL = 1e-12  # scores nearer than this are equal: sums of the same values in another order


def seed_of(path: Path) -> int:
    """The seed in a file's or folder's name."""
    return int(path.name.removeprefix("seed-").split(".")[0])


def weighted_mean(values: dict[str, float], weights: dict[str, float]) -> float:
    """The mean of the values weighted by `weights`, which need not sum to 1."""
    return sum(weight * values[name] for name, weight in weights.items()) / sum(weights.values())


def scores(runs: list[Path], qrels: Qrels, weights: dict[str, float]) -> list[dict]:
    """What each seed reaches, by ascending seed: seed, score, and the mean of each measure over the judged queries."""
    found = []
    for path in sorted(runs, key=seed_of):
        means = evaluate(read_run(path), qrels, list(weights)).mean().to_dict()
        found.append({"seed": seed_of(path), "score": weighted_mean(means, weights), **means})
    return found


def best(found: list[dict]) -> int:
    """The seed with the highest score; of equal ones the smallest."""
    highest = max(one["score"] for one in found)
    return min(one["seed"] for one in found if one["score"] >= highest - EQUAL)


def copy(source: str, target: str) -> None:
    """A hard link, or a copy where the disk has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def main() -> None:
    names = ("checkpoints*", "timings*", "runs*", "qrels", "checkpoint", "timing", "selection")
    options = parser(__doc__, *names).parse_args()
    settings = options.settings
    judged = read_qrels(options.qrels)
    if not any(relevant(judged, query) for query in judged):
        said = "no judged query to select a seed by; give the dataset this split (splits: …)"
        raise UserError(f"{options.qrels}: {said}")
    found = scores(options.runs, judged, settings["score"])
    chosen = best(found)
    checkpoints = {seed_of(path): path for path in options.checkpoints}
    timings = {seed_of(path): path for path in options.timings}
    with atomic_folder(options.checkpoint) as folder:
        shutil.copytree(
            checkpoints[chosen], folder, copy_function=copy, dirs_exist_ok=True,
            ignore=shutil.ignore_patterns(".snakemake_timestamp"),
        )  # fmt: skip
    with atomic_path(options.timing) as path:
        shutil.copyfile(timings[chosen], path)
    with atomic_text(options.selection) as file:
        json.dump(settings | {"chosen": chosen, "seeds": found}, file, indent=2)
        file.write("\n")
    ranked = ", ".join(f"{one['seed']}: {one['score']:.4f}" for one in found)
    how = f"{settings['formula']} on {settings['task']}"
    print(f"{settings['system']}: seed {chosen} of {ranked} ({how})", file=sys.stderr)
    if settings["split"] == "test":
        print(f"{settings['system']}: the seed is chosen on a test set; for reproduction only", file=sys.stderr)


if __name__ == "__main__":
    run(main)
