"""Plan the next study of one comparison: the precision of each design, from the comparison's variances.

Reads effects/{comparison}.tsv, meta/{comparison}.json, the metrics files of both systems and tables/costs.tsv; nothing
if the configuration assumes the variances. Writes tables/study-designs/{plan}.json: the components of variance, every
design with its smallest detectable effect, its expected interval and its hours, the cheapest for the target, and finer
grids for the figure. docs/formulas.md, "Planning a study", derives the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.settings import read_record, write_record
from ranktrial.common.tables import COSTS, EFFECTS, read_metrics, read_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.records.comparison import MetaRecord
from ranktrial.records.study_design import (
    ComponentsRecord,
    DesignRecord,
    PlanRecord,
    PrecisionRecord,
    Present,
    PresentSummary,
    SeedVarianceRecord,
)
from ranktrial.statistics.power import (
    Components,
    Design,
    Precision,
    Question,
    Row,
    Target,
    cheapest,
    enough_collections,
    rows,
)
from ranktrial.study_design import Assumed, Basis, Systems, Values, assumed_basis, curves, found_basis, trained_values


@dataclass(frozen=True)
class Settings:
    """The designs to plan, and the target."""

    plan: Annotated[str, "its name"]
    alpha: float
    power: float
    queries: Annotated[list[int], "of a collection, in the designs"]
    collections: Annotated[list[int], "in the designs"]
    seeds: Annotated[list[int], "of a trained system, in the designs"]
    effect: Annotated[float | None, "the smallest effect of interest"] = None
    half_width: Annotated[float | None, "of the interval, in place of an effect"] = None
    compared: Systems | None = None
    assumed: Assumed | None = None


def read_values(paths: Sequence[Path], measure: str) -> Values:
    """The values of a system by task, one column per seed, over the queries of all seeds."""
    columns: dict[str, dict[str, pd.Series]] = {}
    for path in paths:
        fields = fields_of("metrics", path)
        columns.setdefault(fields["task"], {})[fields["seed"]] = read_metrics(path)[measure]
    return {task: pd.DataFrame(seeds).dropna() for task, seeds in columns.items()}


def planned(settings: Settings, basis: Basis) -> PlanRecord:
    """The content of the table, the figure and the sentences."""
    target = Target(settings.effect, settings.half_width)
    question = Question(settings.alpha, settings.power, basis.described.interval)
    collections = settings.collections if basis.summary else []
    found = rows(basis.components, question, basis.hours, settings.queries, collections, settings.seeds)
    best = {test: cheapest([row for row in found if row.test == test], target) for test in ("task", "summary")}
    shown_seeds = next((row.design.seeds for row in (best["summary"], best["task"]) if row), None)
    most = Design(settings.queries[-1], settings.collections[-1], settings.seeds[-1])
    return PlanRecord(
        plan=settings.plan,
        basis=basis.described,
        alpha=settings.alpha,
        power=settings.power,
        target=target,
        components=_components(basis.components),
        present=_present(basis, question),
        designs=tuple(_design(row, target) for row in found),
        cheapest={test: _design(row, target) if row else None for test, row in best.items()},
        enough_collections=enough_collections(basis.components, question, most, target) if collections else None,
        curves=curves(basis.components, question, target, settings.queries, collections, settings.seeds, shown_seeds),
    )


def _components(components: Components) -> ComponentsRecord:
    of_seeds = tuple(
        SeedVarianceRecord(of.seed, of.seed_by_collection, of.seed_by_query, _finite(of.df))
        for of in components.seed_variances
    )
    return ComponentsRecord(components.query, components.collection, of_seeds)


def _present(basis: Basis, question: Question) -> Present | None:
    """The precision of the comparison's own design, and its share of variance that only more collections can reduce."""
    if basis.present is None:
        return None
    design, components = basis.present, basis.components
    over_collections = _present_summary(basis, design, question) if basis.summary else None
    return Present(*design, _precision(question.of_task(components, design)), over_collections)


def _present_summary(basis: Basis, design: Design, question: Question) -> PresentSummary:
    components, summary = basis.components, question.of_summary(basis.components, design)
    high = Components(components.query, basis.tau2_high or 0.0, components.seed_variances)
    return PresentSummary(
        summary=_precision(summary),
        summary_with_high_tau2=_precision(question.of_summary(high, design)) if basis.tau2_high else None,
        share_between_collections=components.collection / design.collections / summary.variance,
    )


def _design(row: Row, target: Target) -> DesignRecord:
    meets = target.met_by(row.found) if target != Target() else None
    return DesignRecord(row.test, *row.design, _precision(row.found), row.hours, meets)


def _precision(found: Precision) -> PrecisionRecord:
    return PrecisionRecord(found.variance, _finite(found.df), found.detectable, found.half_width)


def _finite(df: float) -> float | None:
    """Degrees of freedom; None if they are infinite, since the variance is known."""
    return None if math.isinf(df) else df


def study_design(
    effects: list[Path], meta: list[Path], control: list[Path], treatment: list[Path], costs: list[Path], plan: Path,
    settings: Settings,
) -> None:  # fmt: skip
    """Plan the next study of one comparison: the precision of each design, from the comparison's variances."""
    if settings.compared:
        found = read_record(MetaRecord, meta[0])
        of_both = (read_values(files, found.measure) for files in (control, treatment))
        values = trained_values(settings.compared, *of_both)
        tables = read_table(effects[0], *EFFECTS), values, read_table(costs[0], *COSTS)
        basis = found_basis(settings.compared, found, *tables)
    else:
        assert settings.assumed is not None  # planning gives one of both
        basis = assumed_basis(settings.assumed)
    write_record(plan, planned(settings, basis), indent=1)


if __name__ == "__main__":
    job(study_design)
