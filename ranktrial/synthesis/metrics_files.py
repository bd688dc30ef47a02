"""The scores of systems from their metrics files, and of two systems paired by query id.

Reads metrics/{task}/{system}/seed-{seed}.tsv; writes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.tables import read_metrics
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.nouns import RETRIEVAL, Nouns
from ranktrial.ir.scores import check_pairs


class Scores(NamedTuple):
    """One system on one task: a measure by query (index query_id) and seed (columns), and Judged@k by query."""

    values: pd.DataFrame
    judged: pd.Series | None

    @property
    def mean_judged(self) -> float | None:
        """The mean of Judged@k; None if it was not measured."""
        return None if self.judged is None else float(self.judged.mean())


def read_scores(paths: list[Path], measure: str) -> Scores:
    """Read a system's metrics files on one task, one per seed. Raises UserError if seeds cover different queries."""
    tables = [read_metrics(path) for path in paths]
    values = pd.concat([table[measure] for table in tables], axis=1, keys=range(len(tables)))
    if values.isna().any(axis=None):
        raise UserError(f"{paths[0].parent}: its seeds cover different queries (folds are joined by folds: true)")
    judged = [name for name in tables[0] if name.startswith("Judged@")]
    return Scores(values, sum(table[judged[0]] for table in tables) / len(tables) if judged else None)


def by_task(paths: list[Path]) -> dict[str, list[Path]]:
    """Metrics files by their task's folder, in the order of first occurrence."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(fields_of("metrics", path)["task"], []).append(path)
    return groups


def seeds_by_task(paths: list[Path], without: str | None = None) -> dict[str, list[str]]:
    """The seeds of a system's metrics files by task; `without` those of another system among them."""
    own = [path for path in paths if fields_of("metrics", path)["system"] != without]
    return {task: [fields_of("metrics", path)["seed"] for path in files] for task, files in by_task(own).items()}


def paired(
    control: Scores, treatment: Scores, task: str, nouns: Nouns = RETRIEVAL
) -> tuple[Scores, Scores, str | None]:
    """Control and treatment on the common queries, in the same order; and a text about unpaired ones.

    Raises UserError if they have no query in common, or have no ids and different numbers of samples.
    """
    check_pairs(list(control.values.index), list(treatment.values.index), task)
    common = control.values.index.intersection(treatment.values.index, sort=False)
    if common.empty:
        raise UserError(f"task {task}: control and treatment have no {nouns.query} in common")
    unmatched = len(control.values) + len(treatment.values) - 2 * len(common)
    are = "is in only one of the systems and is" if unmatched == 1 else "are in only one of the systems and are"
    unpaired = f"{task}: {nouns.of_queries(unmatched)} {are} left out" if unmatched else None
    return on(control, common), on(treatment, common), unpaired


def gain(own: Scores, base: Scores, task: str) -> tuple[Scores, str | None]:
    """A system's values minus those of another on the common queries, seed by seed; and a text about other queries."""
    less, more, unpaired = paired(base, own, task)
    values = more.values.to_numpy() - less.values.to_numpy()  # one without seeds is subtracted from each
    return Scores(pd.DataFrame(values, index=more.values.index), None), unpaired


def on(scores: Scores, queries: pd.Index) -> Scores:
    """A system's scores on these queries."""
    return Scores(scores.values.loc[queries], None if scores.judged is None else scores.judged.loc[queries])


def by_task_and_system(paths: list[Path]) -> dict[str, dict[str, list[Path]]]:
    """Metrics files, one a seed, by the folders of tasks and systems."""
    groups: dict[str, dict[str, list[Path]]] = {}
    for path in paths:
        fields = fields_of("metrics", path)
        groups.setdefault(fields["task"], {}).setdefault(fields["system"], []).append(path)
    return groups


def on_common_queries(
    values: dict[str, pd.Series], task: str, nouns: Nouns = RETRIEVAL
) -> tuple[pd.DataFrame, str | None]:
    """The values by query and system, on the queries that all systems have; and what is left out, as text.

    Raises UserError if they have no query in common, or have no ids and different numbers of samples.
    """
    (first, first_values), *others = values.items()
    for name, other in others:
        try:
            check_pairs(list(first_values.index), list(other.index), task)
        except UserError as error:
            raise UserError(f"{error} (control: {first}, treatment: {name})") from None
    table = pd.concat(values, axis=1)
    common = table.dropna()
    if common.empty:
        raise UserError(f"task {task}: the systems have no {nouns.query} in common")
    left_out = len(table) - len(common)
    said = f"{task}: {nouns.of_queries(left_out)} in only some of the systems, left out" if left_out else None
    return common, said
