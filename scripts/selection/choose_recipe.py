"""Choose among recipes the one whose runs are best on a task, mostly a dev split.

Reads the runs of the systems that represent the recipes, one per seed, and the qrels. Writes a record (JSON: the
settings, chosen, recipes: each with its score and that of each seed). A recipe's score is the mean over its seeds
of the measure's mean over the judged queries; of equal scores the first recipe is chosen.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import Qrels, read_qrels, read_run, relevant
from scripts.selection.select_seed import EQUAL


@dataclass(frozen=True)
class Settings:
    """The record begins with these, in this order."""

    system: Annotated[str, "the system that chooses"]
    recipe: Annotated[str, "the entry of whose recipes it chooses one"]
    task: Annotated[str, "the task that decides"]
    split: Annotated[str, "of that task"]
    measure: Annotated[str, "whose mean counts"]
    members: Annotated[list[list[str]], "each system whose runs are compared and its recipe, in their order"]


def reached(runs: list[Path], qrels: Qrels, settings: Settings) -> list[dict]:
    """The result of each recipe: recipe, score, and the mean of the measure by seed."""
    by_member: dict[str, dict[int, float]] = {}
    for path in runs:
        fields = fields_of("run", path)
        mean = evaluate(read_run(path), qrels, [settings.measure])[settings.measure].mean()
        by_member.setdefault(fields["system"], {})[int(fields["seed"])] = float(mean)
    return [
        {"recipe": recipe, "score": fmean(by_member[member].values()), "seeds": dict(sorted(by_member[member].items()))}
        for member, recipe in settings.members
    ]


def best(recipes: list[dict]) -> str:
    """The recipe with the highest score, the first of equal ones."""
    highest = max(one["score"] for one in recipes)
    return next(one["recipe"] for one in recipes if one["score"] >= highest - EQUAL)


def main() -> None:
    options = parser(__doc__, "runs*", "qrels", "choice", settings=Settings).parse_args()
    settings: Settings = options.settings
    judged = read_qrels(options.qrels)
    if not any(relevant(judged, query) for query in judged):
        message = "no judged query to choose a recipe by; give the dataset this split (splits: …)"
        raise UserError(f"{options.qrels}: {message}")
    recipes = reached(options.runs, judged, settings)
    chosen = best(recipes)
    write_json(options.choice, asdict(settings) | {"chosen": chosen, "recipes": recipes}, indent=2)
    ranked = ", ".join(f"{one['recipe']}: {one['score']:.4f}" for one in recipes)
    print(f"{settings.system}: {chosen} of {ranked} ({settings.measure} on {settings.task})", file=sys.stderr)
    if settings.split == "test":
        print(f"{settings.system}: the recipe is chosen on a test set; for reproduction only", file=sys.stderr)


if __name__ == "__main__":
    run(main)
