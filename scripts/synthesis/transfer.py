"""Transfer studies: the cells of a matrix of sources and targets, and curves over the number of training queries.

Both read metrics/{task}/{system}/seed-{seed}.tsv of all their systems. `matrix` writes tables/{matrix}.tsv, one row per
cell: mean, standard deviation over seeds, and differences with their intervals, p-values and Holm's adjusted ones.
`curves` compares the points with baseline and start. For trainings with all queries of a target, it reads
models/{model}/{recipe}/seed-{seed}.timing.json, which has the number of training queries, else tables/datasets.tsv. It
writes curves/{curve}.json and tables/curves-{curve}.tsv, one row per point.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.settings import write_record
from ranktrial.common.tables import DATASETS, read_table, write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.records.curves import ALL
from ranktrial.synthesis.transfer import (
    CurvesSettings,
    MatrixSettings,
    curves_record,
    curves_rows,
    matrix_rows,
    read_values,
)


def matrix(metrics: list[Path], table: Path, settings: MatrixSettings) -> None:
    """Measure the cells of a matrix of sources and targets, and compute the tests of its marks."""
    values, said = read_values(metrics, settings.measure)
    for line in said:
        print(line, file=sys.stderr)
    write_table(table, matrix_rows(settings, values))


def trained_queries(timings: list[Path]) -> dict[str, int]:
    """{model}/{recipe} -> the number of queries of its training, the maximum over its seeds."""
    found: dict[str, int] = {}
    for path in timings:
        fields = fields_of("checkpoint_timing", path)
        if queries := json.loads(path.read_text(encoding="utf-8")).get("queries"):
            checkpoint = f"{fields['model']}/{fields['recipe']}"
            found[checkpoint] = max(found.get(checkpoint, 0), int(queries))
    return found


def sizes_of_all(
    settings: CurvesSettings, trained: dict[str, int], datasets: pd.DataFrame
) -> dict[tuple[str, str], int]:
    """The number of queries in `all`, by target and start. Raises UserError if it is unknown."""
    train = datasets[datasets["split"] == "train"].set_index("dataset")["queries"].to_dict()
    sizes = {}
    for point in settings.points:
        if point.queries == ALL:
            size = trained.get(point.checkpoint) or train.get(settings.datasets[point.target])
            if not size:
                raise UserError(
                    f"{point.system}: neither its training nor tables/datasets.tsv records its training queries"
                )
            sizes[point.target, point.start] = int(size)
    return sizes


def curves(
    metrics: list[Path], timings: list[Path], datasets: Path, table: Path, record: Path, settings: CurvesSettings,
) -> None:  # fmt: skip
    """Measure the points of curves over the number of training queries, and compare them with baseline and start."""
    values, said = read_values(metrics, settings.measure)
    for line in said:
        print(line, file=sys.stderr)
    sizes = sizes_of_all(settings, trained_queries(timings), read_table(datasets, *DATASETS))
    found = curves_record(settings, values, sizes)
    write_table(table, curves_rows(found))
    write_record(record, found)


if __name__ == "__main__":
    job(matrix, curves)
