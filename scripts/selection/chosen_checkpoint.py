"""The checkpoint of the recipe that was chosen, under a name of its own.

Reads the record that `choose_recipe` wrote, and, for one seed, the checkpoints of all recipes with their timings and
training logs. Writes those of the chosen one (checkpoints as hard links if the disk supports them).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ranktrial.common.command_line import parser, run
from ranktrial.common.files import atomic_folder, atomic_path
from ranktrial.common.strict_json import read_json
from ranktrial.experiment.results_paths import fields_of
from scripts.selection.select_seed import copy


def of_recipe(name: str, paths: list[Path], recipe: str) -> Path:
    """The path `name`, as in the table of paths, of one recipe."""
    return next(path for path in paths if fields_of(name, path)["recipe"] == recipe)


def main() -> None:
    names = ("choice", "checkpoints*", "timings*", "training-logs*", "checkpoint", "timing", "training-log")
    options = parser(__doc__, *names, settings=False).parse_args()
    chosen = read_json(options.choice)["chosen"]
    with atomic_folder(options.checkpoint) as folder:
        shutil.copytree(
            of_recipe("checkpoint", options.checkpoints, chosen), folder, copy_function=copy, dirs_exist_ok=True,
            ignore=shutil.ignore_patterns(".snakemake_timestamp"),
        )  # fmt: skip
    for name, sources, target in (
        ("checkpoint_timing", options.timings, options.timing),
        ("training_log", options.training_logs, options.training_log),
    ):
        with atomic_path(target) as path:
            shutil.copyfile(of_recipe(name, sources, chosen), path)


if __name__ == "__main__":
    run(main)
