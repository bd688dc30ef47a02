"""Selection on dev: the seed of a system that is kept for other datasets, the best recipe of an entry with `choose`.

Both compare runs on one task by means of measures over its judged queries; of equal candidates, the first is the best.
The best one's checkpoint gets a name of its own (hard links if the disk supports them). `collect` writes the table of
the selected seeds, or of the recipes that systems chose among: one row per candidate, with its score.
"""

from __future__ import annotations

import os
import shutil
import sys
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_path, write_json
from ranktrial.common.strict_json import read_json
from ranktrial.common.tables import write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir import choosing
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels, read_run

NO_QUERY = "{}: no judged query to {} by; give the dataset this split (splits: …)"


def select_seed(
    runs: list[Path], qrels: Path, checkpoints: list[Path], timings: list[Path],
    checkpoint: Path, timing: Path, selection: Path,
    system: Annotated[str, "the system that selects"], task: Annotated[str, "the task that decides"],
    split: Annotated[str, "of that task"], score: Annotated[dict[str, float], "the weight of each measure"],
    formula: Annotated[str, "formula of the score"],
) -> None:  # fmt: skip
    """Keep the best of a system's seeds; write a record (JSON: the settings, chosen, seeds: score and measures)."""
    grades, seeds = read_qrels(qrels), []
    queries = len(choosing.judged(grades, NO_QUERY.format(qrels, "select a seed")))
    for seed, run in sorted((int(fields_of("run", run)["seed"]), run) for run in runs):
        means = evaluate(read_run(run), grades, list(score)).mean().to_dict()
        seeds.append({"seed": seed, "score": weighted_mean(means, score), **means})
    chosen = choosing.best(seeds, itemgetter("score"))["seed"]
    keep("checkpoint", checkpoints, checkpoint, seed=chosen)
    keep("checkpoint_timing", timings, timing, seed=chosen)
    settings = {"formula": formula, "score": score, "split": split, "system": system, "task": task}
    write_json(selection, settings | {"chosen": chosen, "seeds": seeds}, indent=2)
    say(system, "seed", chosen, seeds, f"{formula} on {task}", split, queries)


def choose_recipe(
    runs: list[Path], qrels: Path, choice: Path,
    system: Annotated[str, "the system that chooses"], recipe: Annotated[str, "the entry of whose recipes it chooses"],
    task: Annotated[str, "the task that decides"], split: Annotated[str, "of that task"],
    measure: Annotated[str, "whose mean counts"],
    members: Annotated[list[list[str]], "each system whose runs are compared and its recipe, in their order"],
) -> None:  # fmt: skip
    """Choose one of an entry's recipes by the means over their seeds; write a record as `select_seed` does."""
    grades, reached = read_qrels(qrels), {member: {} for member, _ in members}
    queries = len(choosing.judged(grades, NO_QUERY.format(qrels, "choose a recipe")))
    for run in runs:
        fields = fields_of("run", run)
        reached[fields["system"]][int(fields["seed"])] = choosing.mean(read_run(run), grades, measure)
    recipes = [
        {"recipe": one, "score": fmean(reached[member].values()), "seeds": dict(sorted(reached[member].items()))}
        for member, one in members
    ]
    chosen = choosing.best(recipes, itemgetter("score"))["recipe"]
    settings = {"system": system, "recipe": recipe, "task": task, "split": split, "measure": measure}
    write_json(choice, settings | {"members": members, "chosen": chosen, "recipes": recipes}, indent=2)
    say(system, "recipe", chosen, recipes, f"{measure} on {task}", split, queries)


def chosen_checkpoint(
    choice: Path, checkpoints: list[Path], timings: list[Path], training_logs: list[Path],
    checkpoint: Path, timing: Path, training_log: Path,
) -> None:  # fmt: skip
    """Keep the checkpoint of the chosen recipe, for one seed, with its timing and training log."""
    chosen = read_json(choice)["chosen"]
    keep("checkpoint", checkpoints, checkpoint, recipe=chosen)
    keep("checkpoint_timing", timings, timing, recipe=chosen)
    keep("training_log", training_logs, training_log, recipe=chosen)


def weighted_mean(values: dict[str, float], weights: dict[str, float]) -> float:
    """The mean of the values weighted by `weights`, which need not sum to 1."""
    return sum(weight * values[name] for name, weight in weights.items()) / sum(weights.values())


def keep(name: str, paths: list[Path], target: Path, **field: object) -> None:
    """Copy that of the paths `name` (as in the table of paths) whose field has the value."""
    ((key, value),) = field.items()
    source = next(path for path in paths if fields_of(name, path)[key] == str(value))
    with atomic_path(target) as path:
        if source.is_dir():
            hidden = shutil.ignore_patterns(".snakemake_timestamp")
            shutil.copytree(source, path, copy_function=link, ignore=hidden)
        else:
            shutil.copyfile(source, path)


def link(source: str, target: str) -> None:
    """Make a hard link, or a copy if the disk does not support links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def say(system: str, what: str, chosen: object, candidates: list[dict], how: str, split: str, queries: int) -> None:
    """Print the choice with all scores, and a warning if it was made on a test set or by few queries."""
    ranked = ", ".join(f"{one[what]}: {one['score']:.4f}" for one in candidates)
    named = f"seed {chosen}" if what == "seed" else chosen
    choosing.report(f"{system}: {named} of {ranked} ({how})", system, queries, split, "chosen")
    if split == "test":
        print(f"{system}: the {what} is chosen on a test set; for reproduction only", file=sys.stderr)


def collect(records: list[Path], table: Path) -> None:
    """Write the rows of all records of `select_seed`, or of `choose_recipe`, as a TSV."""
    write_table(table, pd.DataFrame([row for path in records for row in rows(read_json(path))]))


def rows(record: dict) -> list[dict]:
    """A record's candidates: seeds with the means of measures, or recipes with the mean of each seed (by_seed)."""
    what = "recipe" if "recipes" in record else "seed"
    same = {"entry": record["recipe"]} if what == "recipe" else {}
    same = {"system": record["system"]} | same | {key: record[key] for key in ("task", "split")}
    same |= {"measure": record["measure"]} if what == "recipe" else {"formula": record["formula"]}
    made = []
    for one in record[f"{what}s"]:
        row = same | {what: one[what], "chosen": "yes" if one[what] == record["chosen"] else "no"} | one
        if what == "recipe":
            each = ", ".join(f"{seed}: {value:.4f}" for seed, value in one["seeds"].items())
            row |= {"seeds": len(one["seeds"]), "by_seed": each}
        made.append(row)
    return made


if __name__ == "__main__":
    job(select_seed, choose_recipe, chosen_checkpoint, collect)
