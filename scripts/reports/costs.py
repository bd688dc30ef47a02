"""The table of costs: latency per query, throughput, memory, training, energy, size of index and weights.

Reads the timing.json of each run and of the steps before it. Writes a TSV, one row per task, system and seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.tables import write_table
from ranktrial.reports.figures.cost_data import Beside, row


def write_costs(
    timing: list[Path],
    table: Path,
    beside: list[Path],
    behind: Annotated[dict[str, Beside], "run: what is behind it"],
) -> None:
    """Write the table, one row per run."""
    write_table(table, pd.DataFrame([row(path, behind.get(str(path), Beside())) for path in timing]))


if __name__ == "__main__":
    job(write_costs)
