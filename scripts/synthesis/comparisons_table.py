"""Table of the comparisons: one row each, with the summary effect, its heterogeneity and adjusted p-values.

Reads meta/{comparison}.json. Writes a TSV at full precision (ranktrial/synthesis/all_comparisons.py).
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.settings import read_record
from ranktrial.common.tables import write_table
from ranktrial.records.comparison import MetaRecord
from ranktrial.synthesis.all_comparisons import Settings, comparisons


def comparisons_table(meta: list[Path], table: Path, settings: Settings) -> None:
    """Table of the comparisons: one row each, with the summary effect, its heterogeneity and adjusted p-values."""
    metas = {path.stem: read_record(MetaRecord, path) for path in meta}
    write_table(table, comparisons(metas, settings))


if __name__ == "__main__":
    job(comparisons_table)
