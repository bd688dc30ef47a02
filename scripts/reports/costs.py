"""The table of costs: latency per query, throughput, memory, training, energy, size of index and weights.

Reads the timing.json of each run and of the steps before it. Writes a TSV, one row per task, system and seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import parser, run
from ranktrial.common.tables import write_table
from ranktrial.reports.figures.cost_data import Beside, row


@dataclass(frozen=True)
class Settings:
    """Which timing files belong together."""

    beside: Annotated[dict[str, Beside], "timing file of a run: those of what is behind it"]


def main() -> None:
    arguments = parser(__doc__, "timing*", "beside*", "table", settings=Settings).parse_args()
    beside = arguments.settings.beside
    table = pd.DataFrame([row(path, beside.get(str(path), Beside())) for path in arguments.timing])
    write_table(arguments.table, table)


if __name__ == "__main__":
    run(main)
