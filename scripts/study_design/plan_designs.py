"""Plan the next study of one comparison: what each design can show, from the variances that the comparison shows.

Reads effects/{comparison}.tsv, meta/{comparison}.json, the metrics files of both systems and tables/costs.tsv; nothing
where the configuration assumes the variances. Writes tables/study-designs/{plan}.json: the components of variance, every
design with its smallest detectable effect, its expected interval and its hours, the cheapest for the target, and finer
grids for the figure. docs/statistics.md, "Planning a study", derives the formulas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_text
from scripts.experiment.results_paths import fields_of
from scripts.study_design.components import Task, components_of, luck_of, tasks_of
from scripts.study_design.costs import devices, hours_of
from scripts.study_design.curves import curves
from scripts.study_design.designs import (
    Components,
    Design,
    Hours,
    Luck,
    Question,
    Row,
    Target,
    cheapest,
    enough_collections,
    rows,
)
from scripts.synthesis.effects import effect_named

Values = dict[str, pd.DataFrame]  # by task: query x seed


@dataclass(frozen=True)
class Assumed:
    """Standard deviations and hours that the configuration takes for true."""

    query_sd: float
    collection_sd: float
    trained: int
    seed_sd: float
    seed_by_collection_sd: float
    seed_by_query_sd: float
    measure: str = "effect"
    training_hours: float | None = None
    collection_hours: float | None = None
    query_hours: float | None = None


@dataclass(frozen=True)
class Settings:
    """What is planned, and for which target."""

    plan: Annotated[str, "its name"]
    alpha: float
    power: float
    queries: Annotated[list[int], "of a collection, in the designs"]
    collections: Annotated[list[int], "in the designs"]
    seeds: Annotated[list[int], "of a trained system, in the designs"]
    effect: Annotated[float | None, "the smallest effect of interest"] = None
    half_width: Annotated[float | None, "of the interval, in place of an effect"] = None
    control: Annotated[str, "the control's name in paths"] = ""
    treatment: Annotated[str, "the treatment's name in paths"] = ""
    treatment_on: Annotated[dict[str, str], "task: the task on which the treatment is scored instead"] = field(
        default_factory=dict
    )
    trained: Annotated[list[str], "the systems whose seeds vary"] = field(default_factory=list)
    given: Annotated[list[str], "the systems whose runs come from elsewhere"] = field(default_factory=list)
    assumed: Assumed | None = None


class Basis(NamedTuple):
    """What a plan is computed from; `present` is the design of the comparison, `unknown` names trained systems that have
    one seed, and `tau2_high` is the upper end of the interval of tau2."""

    components: Components
    hours: list[Hours]
    described: dict[str, Any]
    present: Design | None = None
    tau2_high: float | None = None
    summary: bool = True


def read_values(paths: Sequence[Path], measure: str) -> Values:
    """The values of a system by task, a column a seed, over the queries of all seeds."""
    columns: dict[str, dict[str, pd.Series]] = {}
    for path in paths:
        fields = fields_of("metrics", path)
        table = pd.read_csv(path, sep="\t", dtype={"query_id": str}, keep_default_na=False, index_col="query_id")
        columns.setdefault(fields["task"], {})[fields["seed"]] = table[measure].astype(float)
    return {task: pd.DataFrame(seeds).dropna() for task, seeds in columns.items()}


def trained_values(settings: Settings, control: Values, treatment: Values) -> dict[str, Values]:
    """The values of each trained system by the comparison's tasks.

    A system that is compared with itself, in other words of the queries, has the same luck on both sides: its values are
    the differences of each seed.
    """
    treatment = {task: treatment[settings.treatment_on.get(task, task)] for task in control}
    if settings.control == settings.treatment:
        differences = {task: (treatment[task] - control[task]).dropna() for task in control}
        return {settings.control: differences} if settings.trained else {}
    by_system = {settings.control: control, settings.treatment: treatment}
    return {name: values for name, values in by_system.items() if name in settings.trained}


def assumed_basis(assumed: Assumed) -> Basis:
    """What the configuration assumes."""
    sds = (assumed.seed_sd, assumed.seed_by_collection_sd, assumed.seed_by_query_sd)
    luck = Luck(*(sd**2 for sd in sds), math.inf)
    costs = (assumed.training_hours, assumed.collection_hours, assumed.query_hours)
    training = costs[0] or 0.0 if assumed.trained else None
    hours = [Hours(training, costs[1] or 0.0, costs[2] or 0.0)] * max(1, assumed.trained)
    described = {"axis": assumed.measure, "interval": "knapp-hartung"}
    components = Components(assumed.query_sd**2, assumed.collection_sd**2, (luck,) * assumed.trained)
    return Basis(components, hours if any(cost is not None for cost in costs) else [], described)


def found_basis(settings: Settings, meta: Mapping[str, Any], effects: pd.DataFrame, values: dict[str, Values],
                costs: pd.DataFrame) -> Basis:  # fmt: skip
    """What a finished comparison shows; `values` by the trained system. Raises UserError where no task has an effect."""
    effect = effect_named(meta["effect_type"])
    tasks = tasks_of(effects, effect.IN_UNITS_OF_MEASURE, meta["ddof"])
    if not tasks:
        raise UserError(f"{settings.plan}: no task has an effect, so its variance is unknown; state it (plan_study.assumed)")
    components = components_of(tasks, meta["tau2"] or 0.0, list(values.values()))
    unknown = [name for name, of_tasks in values.items() if luck_of(tasks, of_tasks) is None]
    seeds = max((of_tasks[task.name].shape[1] for of_tasks in values.values() for task in tasks), default=1)
    systems = [settings.control, settings.treatment]
    timed = {name: hours for name in systems if (hours := hours_of(costs, name))}
    if settings.control == settings.treatment:  # it is trained once and ranks each collection's queries in both words
        timed = {name: Hours(hours.training, 2 * hours.collection, 2 * hours.query) for name, hours in timed.items()}
    described = {key: meta[key] for key in ("control", "treatment", "interval")} | {
        "axis": effect.AXIS.format(measure=meta["measure"]),
        "unknown_luck": unknown,
        "given": settings.given,
        "untimed": [name for name in dict.fromkeys(systems) if name not in timed],
        "devices": devices(costs, list(timed)),
    }
    present = Design(_harmonic_mean(tasks), len(tasks), seeds)
    high = meta["tau2_ci"][1] if meta["tau2_ci"] else None
    return Basis(components, list(timed.values()), described, present, high, len(tasks) > 1)


def _harmonic_mean(tasks: Sequence[Task]) -> float:
    return len(tasks) / math.fsum(1 / task.queries for task in tasks)


def plan(settings: Settings, basis: Basis) -> dict[str, Any]:
    """All that the table, the figure and the sentence say."""
    target = Target(settings.effect, settings.half_width)
    question = Question(settings.alpha, settings.power, basis.described["interval"] == "normal")
    collections = settings.collections if basis.summary else []
    found = rows(basis.components, question, basis.hours, settings.queries, collections, settings.seeds)
    by_test = {test: [row for row in found if row.test == test] for test in ("task", "summary")}
    best = {test: cheapest(of_test, target) for test, of_test in by_test.items()}
    shown_seeds = next((row.design.seeds for row in (best["summary"], best["task"]) if row), None)
    most = Design(settings.queries[-1], settings.collections[-1], settings.seeds[-1])
    return {
        "plan": settings.plan,
        **basis.described,
        "alpha": settings.alpha,
        "power": settings.power,
        "target": {key: value for key, value in vars(target).items() if value is not None},
        "components": _components(basis.components),
        "present": _present(basis, question),
        "designs": [_row(row, target) for row in found],
        "cheapest": {test: _row(row, target) if row else None for test, row in best.items()},
        "enough_collections": enough_collections(basis.components, question, most, target) if collections else None,
        "curves": curves(
            basis.components, question, target, settings.queries, collections, settings.seeds, shown_seeds
        ),
    }


def _components(components: Components) -> dict[str, Any]:
    lucks = [{**vars(luck), "df": None if math.isinf(luck.df) else luck.df} for luck in components.luck]
    return {"query": components.query, "collection": components.collection, "luck": lucks}


def _present(basis: Basis, question: Question) -> dict[str, Any] | None:
    """What the comparison's own design shows; and its share of variance that only more collections can lower."""
    if basis.present is None:
        return None
    design, components = basis.present, basis.components
    found = {**design._asdict(), "task": _precision(question.of_task(components, design))}
    if basis.summary:
        summary = question.of_summary(components, design)
        high = Components(components.query, basis.tau2_high or 0.0, components.luck)
        found |= {
            "summary": _precision(summary),
            "summary_with_high_tau2": _precision(question.of_summary(high, design)) if basis.tau2_high else None,
            "share_between_collections": components.collection / design.collections / summary.variance,
        }
    return found


def _row(row: Row, target: Target) -> dict[str, Any]:
    meets = target.met_by(row.found) if target != Target() else None
    return {"test": row.test, **row.design._asdict(), **_precision(row.found), "hours": row.hours, "meets_target": meets}


def _precision(found: Any) -> dict[str, Any]:
    return {**found._asdict(), "df": None if math.isinf(found.df) else found.df}


def main() -> None:
    arguments = parser(
        __doc__, "effects*", "meta*", "control*", "treatment*", "costs*", "plan", settings=Settings
    ).parse_args()
    settings: Settings = arguments.settings
    if settings.assumed:
        basis = assumed_basis(settings.assumed)
    else:
        meta = json.loads(arguments.meta[0].read_text())
        effects = pd.read_csv(arguments.effects[0], sep="\t", dtype={"task": str})
        roles = {"control": arguments.control, "treatment": arguments.treatment}
        read = {role: read_values(files, meta["measure"]) for role, files in roles.items()}
        values = trained_values(settings, read["control"], read["treatment"])
        basis = found_basis(settings, meta, effects, values, read_costs(arguments.costs[0]))
    with atomic_text(arguments.plan) as file:
        json.dump(plan(settings, basis), file, indent=1, allow_nan=False)
        file.write("\n")


def read_costs(path: Path) -> pd.DataFrame:
    """The table of costs; empty where nothing was timed."""
    try:
        return pd.read_csv(path, sep="\t", dtype={"system": str, "seed": str})
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


if __name__ == "__main__":
    run(main)
