"""Every value of every query in one long table, for other programs: task, system, seed, query, measure, value.

Reads the metrics files (metrics/{task}/{system}/seed-{seed}.tsv). Writes a packed TSV with values to the last bit; one
file is in memory at a time.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_text
from ranktrial.common.tables import read_metrics
from ranktrial.experiment.results_paths import fields_of

COLUMNS = ("task", "system", "seed", "query", "measure", "value")


def all_queries(metrics: list[Path], table: Path) -> None:
    """Write the long table, in the order of the files and of their queries."""
    with atomic_text(table) as file:
        file.write("\t".join(COLUMNS) + "\n")
        for path in metrics:
            fields = fields_of("scored", path)
            where = [fields["task"], fields["system"], str(fields["seed"])]
            values = read_metrics(path)
            long = values.rename_axis(columns="measure").stack().rename("value").reset_index()
            for place, (name, cell) in enumerate(zip(COLUMNS[:3], where, strict=True)):
                long.insert(place, name, cell)
            file.write(long.to_csv(sep="\t", index=False, header=False))


if __name__ == "__main__":
    job(all_queries)
