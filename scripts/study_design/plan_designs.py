"""Plan the next study of one comparison: the precision of each design, from the comparison's variances.

Reads effects/{comparison}.tsv, meta/{comparison}.json, the metrics files of both systems and tables/costs.tsv; nothing
if the configuration assumes the variances. Writes tables/study-designs/{plan}.json: the components of variance, every
design with its smallest detectable effect, its expected interval and its hours, the cheapest for the target, and finer
grids for the figure. docs/formulas.md, "Planning a study", derives the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.settings import read_record, write_record
from ranktrial.common.tables import COSTS, EFFECTS, read_metrics, read_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.records.comparison import MetaRecord
from ranktrial.study_design import Settings, Values, assumed_basis, found_basis, planned, trained_values


def read_values(paths: Sequence[Path], measure: str) -> Values:
    """The values of a system by task, one column per seed, over the queries of all seeds."""
    columns: dict[str, dict[str, pd.Series]] = {}
    for path in paths:
        fields = fields_of("metrics", path)
        columns.setdefault(fields["task"], {})[fields["seed"]] = read_metrics(path)[measure]
    return {task: pd.DataFrame(seeds).dropna() for task, seeds in columns.items()}


def study_design(
    effects: list[Path], meta: list[Path], control: list[Path], treatment: list[Path], costs: list[Path], plan: Path,
    settings: Settings,
) -> None:  # fmt: skip
    """Plan the next study of one comparison: the precision of each design, from the comparison's variances."""
    if settings.compared:
        found = read_record(MetaRecord, meta[0])
        of_both = (read_values(files, found.measure) for files in (control, treatment))
        values = trained_values(settings.compared, *of_both)
        tables = read_table(effects[0], *EFFECTS), values, read_table(costs[0], *COSTS)
        basis = found_basis(settings.compared, found, *tables)
    else:
        assert settings.assumed is not None  # planning gives one of both
        basis = assumed_basis(settings.assumed)
    write_record(plan, planned(settings, basis), indent=1)


if __name__ == "__main__":
    job(study_design)
