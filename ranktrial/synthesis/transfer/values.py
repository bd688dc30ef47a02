"""The values of the systems of a study of transfer: by target, query, system and seed.

Reads metrics/{task}/{system}/seed-{seed}.tsv. A target's systems are compared on the queries that all of them
have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranktrial.experiment.results_paths import fields_of
from ranktrial.statistics.meta_analysis.measure_scale import Range, range_of
from ranktrial.synthesis.metrics_files import by_task_and_system, on_common_queries, read_scores


@dataclass(frozen=True)
class Values:
    """A system on a target: `table` has one row per query and one column per seed, whose names are `seeds`."""

    table: np.ndarray
    seeds: tuple[str, ...]

    @property
    def queries(self) -> np.ndarray:
        """The mean over the seeds of each query."""
        return np.asarray(self.table.mean(axis=1))

    @property
    def samples(self) -> dict[str, float]:
        """The mean over the queries of each seed."""
        return dict(zip(self.seeds, map(float, self.table.mean(axis=0)), strict=True))

    def of_seed(self, seed: int | None) -> Values:
        """The values of one seed; all values for None, and if there is no such seed."""
        if seed is None or str(seed) not in self.seeds:
            return self
        place = self.seeds.index(str(seed))
        return Values(self.table[:, place : place + 1], (str(seed),))

    @property
    def mean(self) -> float:
        """The mean over queries and seeds."""
        return float(self.table.mean())


def range_on(values: Mapping[str, Values], measure: str) -> Range | None:
    """The range of the measure on the scale of the values of a target's systems; None if it is unknown."""
    return range_of(measure, (system.table for system in values.values()))


def reach_on(values: Mapping[str, Values], measure: str) -> float | None:
    """The largest difference that the measure allows on that scale; None if it is unknown."""
    found = range_on(values, measure)
    return found.reach if found else None


def read_values(paths: list[Path], measure: str) -> tuple[dict[str, dict[str, Values]], list[str]]:
    """Target -> system -> values; and a text about queries left out."""
    found: dict[str, dict[str, Values]] = {}
    said = []
    for target, files in by_task_and_system(paths).items():
        tables = {system: read_scores(of_system, measure).values for system, of_system in files.items()}
        common, left_out = on_common_queries({name: table.mean(axis=1) for name, table in tables.items()}, target)
        said += [left_out] if left_out else []
        found[target] = {
            system: Values(
                table.loc[common.index].to_numpy(), tuple(fields_of("metrics", path)["seed"] for path in files[system])
            )
            for system, table in tables.items()
        }
    return found, said
