"""Import external values per sample of a task as a metrics file.

Reads a text file: one value per line, or an id and values in columns that tabs or commas separate. Writes
metrics/{task}/{system}/seed-0.tsv (query_id, then the one measure), which is paired with others by the ids or, without
ids, line by line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.tables import write_table
from scripts.ir.scores import read_scores


@dataclass(frozen=True)
class Settings:
    measure: Annotated[str, "what the values are called"]
    column: Annotated[str | None, "the column of the values, by its heading, where the file has several"] = None


def import_scores(source: Path, metrics: Path, measure: str, column: str | None = None) -> None:
    """Check `source` and write `metrics` with the values under the name `measure`. Raises UserError with the line."""
    scores = read_scores(source, column)
    table = pd.DataFrame({"query_id": list(scores), measure: list(scores.values())})
    write_table(metrics, table)


def main() -> None:
    arguments = parser(__doc__, "source", "metrics", settings=Settings).parse_args()
    settings: Settings = arguments.settings
    import_scores(arguments.source, arguments.metrics, settings.measure, settings.column)


if __name__ == "__main__":
    run(main)
