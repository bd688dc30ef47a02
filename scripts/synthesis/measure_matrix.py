"""Measure the cells of a matrix of sources and targets, and compute the tests of its marks.

Reads metrics/{task}/{system}/seed-{seed}.tsv of all systems in it. Writes tables/{matrix}.tsv, one row per cell: mean,
standard deviation over seeds, and differences with their intervals, p-values and Holm's adjusted ones.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.tables import write_table
from ranktrial.synthesis.transfer import MatrixSettings, matrix_rows, read_values


def matrix(metrics: list[Path], table: Path, settings: MatrixSettings) -> None:
    """Measure the cells of a matrix of sources and targets, and compute the tests of its marks."""
    values, said = read_values(metrics, settings.measure)
    for line in said:
        print(line, file=sys.stderr)
    write_table(table, matrix_rows(settings, values))


if __name__ == "__main__":
    job(matrix)
