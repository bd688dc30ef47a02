"""Draw the figure of costs: each treatment's effect over one control against latency, training time and size.

Reads meta/{comparison}.json of the comparisons with that control, and the timing.json of the systems' runs and of all
that is behind them. Writes figures/cost-{name}.svg, .pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ranktrial.common.command_line import run
from ranktrial.common.settings import read_record
from ranktrial.experiment.drawing import Typeset
from ranktrial.experiment.results_paths import fields_of
from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.cost_data import ALONE, point, side_by_side
from ranktrial.reports.figures.costs import Shown, cost_figure
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save
from scripts.reports.costs import Beside, row

END_TO_END = "Times are end to end: including those of first stages and fused systems."


@dataclass(frozen=True)
class Settings(Typeset):
    """The systems that the figure compares, and the timing files of each."""

    control: Annotated[str, "the control of all comparisons"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    labels: Annotated[dict[str, str], "labels of systems that have one"]
    beside: Annotated[dict[str, Beside], "timing file of a run: those of what is behind it"]
    sizes: Annotated[list[str], "of index_mb and weights_mb those that are drawn"] = field(default_factory=list)
    exclusive: Annotated[bool, "searches and rankings ran one at a time"] = False


def notes(settings: Settings, rows: dict[str, list[dict]]) -> list[str]:
    """The notes on the times: which steps they include, and whether other work ran at the same time."""
    several = any(beside.parts for beside in settings.beside.values())
    cores = [row["other_cores"] for of_system in rows.values() for row in of_system if row["other_cores"] is not None]
    busy = side_by_side(cores)
    alone = [ALONE] if settings.exclusive else []
    return [*([END_TO_END] if several else []), *alone, *([f"{busy}."] if busy else [])]


def main() -> None:
    arguments = figure_arguments(__doc__, "meta*", "timing*", settings=Settings)
    settings: Settings = arguments.settings
    labels = Labels({}, settings.labels)
    rows: dict[str, list[dict]] = {}
    for path in arguments.timing:
        if str(path) in settings.beside:  # a run's timing; the others are those of what is behind it
            system = fields_of("run_timing", path)["system"]
            rows.setdefault(system, []).append(row(path, settings.beside[str(path)]))
    metas = [read_record(MetaRecord, path) for path in arguments.meta]
    points = []
    if settings.control in rows:
        points.append(point(labels.system(settings.control), rows[settings.control], None))
    for meta in metas:
        if meta.summary:
            points.append(point(labels.system(meta.treatment), rows[meta.treatment], meta.summary))
    shown = Shown(metas[0].effect_type, metas[0].measure, settings.alpha, notes(settings, rows))
    figure = cost_figure(points, shown, settings.sizes)
    save(figure, arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
