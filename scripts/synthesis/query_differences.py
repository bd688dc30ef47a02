"""The differences of single queries: treatment minus control of each task, paired by query id as in compare.py.

Reads metrics files; writes nothing. Several seeds of a system are averaged query by query first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from scripts.synthesis.compare import by_task, paired, read_scores


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is compared on the queries, as settings of a job."""

    measure: Annotated[str, "column of the metrics files"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    lower_is_better: Annotated[bool, "of the measure: a query is won by the lower value"] = False
    treatment_on: Annotated[dict[str, str], "task: the task on which the treatment is scored instead"] = field(
        default_factory=dict
    )


def query_differences(
    control: Sequence[Path], treatment: Sequence[Path], measure: str, treatment_on: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """The differences of each task's queries, shape (n,), in the order of the control's tasks and queries."""
    of_control, of_treatment = by_task(list(control)), by_task(list(treatment))
    differences = {}
    for task, files in of_control.items():
        scores = read_scores(files, measure), read_scores(of_treatment[treatment_on.get(task, task)], measure)
        y, x, _ = paired(*scores, task)
        differences[task] = x.values.to_numpy().mean(axis=1) - y.values.to_numpy().mean(axis=1)
    return differences
