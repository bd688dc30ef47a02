"""The matrix of sources and targets: each cell's mean, and the tests behind its marks; reads and writes nothing.

Mokrii, Boytsov and Braslavski (2021), table 1: # marks pseudo-labels against the baseline, * a transferred model
against pseudo-labels, both by a paired t-test. Adjusted p-values are Holm's over all tests of one kind in the matrix.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import pandas as pd

from ranktrial.experiment.synthesis_records import ZERO, MatrixCell
from ranktrial.statistics.multiple.corrections import holm
from ranktrial.statistics.task.differences import difference_of
from ranktrial.synthesis.transfer.values import Values, reach_on

SOURCE, BASELINE, PSEUDO = "source", "baseline", "pseudo-labels"
# The test of a zero-shot cell of a kind: the other kind, and the mark of a significant difference.
TESTS = {(PSEUDO, BASELINE): "#", (SOURCE, PSEUDO): "*", (SOURCE, BASELINE): ""}
NUMBERS = ("difference", "ci_low", "ci_high", "t", "df", "p_value")


@dataclass(frozen=True)
class Settings:
    """A matrix: the systems of its cells, and the level of its marks."""

    measure: Annotated[str, "column of the metrics files"]
    alpha: Annotated[float, "a mark: p < alpha; 1 - alpha is the level of the intervals"]
    cells: Annotated[list[MatrixCell], "in the order of the rows"]


def rows(settings: Settings, values: Mapping[str, Mapping[str, Values]]) -> pd.DataFrame:
    """One row per cell, with its tests; cells that do not apply are empty."""
    cells, alpha = settings.cells, settings.alpha
    lines = [_line(cell, values[cell.target][cell.system]) for cell in cells]
    for (kind, against), mark in TESTS.items():
        tested = []
        for cell, line in zip(cells, lines, strict=True):
            other = _zero_shot(cells, against, cell.target)
            if cell.kind == kind and cell.shot == ZERO and other:
                own, its = (values[cell.target][name].queries for name in (cell.system, other.system))
                found = difference_of(own, its, alpha, reach_on(values[cell.target], settings.measure))
                line |= {f"{against}_{name}": value for name, value in asdict(found).items()}
                tested.append((line, found.p_value))
        adjusted = holm([p for _, p in tested])
        for (line, p), p_holm in zip(tested, adjusted, strict=True):
            line[f"{against}_p_holm"] = p_holm
            significant = [value is not None and value < alpha for value in (p, p_holm)]
            line["mark"] += mark * sum(significant)
    columns = [*_line(cells[0], values[cells[0].target][cells[0].system])]
    columns += [f"{against}_{name}" for against in (BASELINE, PSEUDO) for name in (*NUMBERS, "p_holm")]
    return pd.DataFrame(lines, columns=columns)


def _line(cell: MatrixCell, found: Values) -> dict[str, Any]:
    means = list(found.samples.values())
    return {
        "source": cell.row,
        "kind": cell.kind,
        "target": cell.target,
        "shot": cell.shot,
        "system": cell.system,
        "mean": found.mean,
        "sd": statistics.stdev(means) if len(means) > 1 else None,
        "seeds": len(means),
        "n": len(found.table),
        "mark": "",
    }


def _zero_shot(cells: Sequence[MatrixCell], kind: str, target: str) -> MatrixCell | None:
    return next((cell for cell in cells if (cell.kind, cell.target, cell.shot) == (kind, target, ZERO)), None)
