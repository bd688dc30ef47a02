"""Learning curves of the report: the loss over a training's steps, and a measure over the number of training queries.

Reads the training logs (models/{model}/{recipe}/seed-{seed}.log.tsv) and metrics/{task}/{system}/seed-{seed}.tsv of the
systems that differ in their number of training queries alone. Writes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Annotated

import pandas as pd
from markupsafe import Markup

from scripts.common.files import is_number
from scripts.common.tables import read_metrics, read_texts
from scripts.experiment.results_paths import fields_of
from scripts.reports.comparison.reading import Labels
from scripts.reports.page.line_chart import Line, chart

POINTS = 120  # at most on a line; more are averaged
COLOURS = 6  # that the page has


@dataclass(frozen=True)
class SizeGroup:
    """Systems that differ in their number of training queries alone."""

    name: str
    systems: Annotated[dict[str, int | str], "system: its number of training queries, or all"]
    train_on: Annotated[str | list[str], "the dataset, or those of one training"]
    untrained: Annotated[str | None, "the same without training, a dashed level where there is one group"]


@dataclass(frozen=True)
class Curve:
    """A chart with what it shows; `legend` names its lines with their colours where there are several kinds."""

    title: str
    drawing: Markup
    legend: list[tuple[str, int]]
    note: str = ""


def thinned(points: list[tuple[float, float]], most: int = POINTS) -> list[tuple[float, float]]:
    """The points, or the means of as many neighbours as bring their number to at most `most`."""
    size = math.ceil(len(points) / most)
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    return [(mean(x for x, _ in part), mean(y for _, y in part)) for part in parts]


def loss_curves(logs: list[Path]) -> list[Curve]:
    """A chart for each model and recipe, a line for each seed; a training that made no step has none."""
    lines_of: dict[str, list[Line]] = {}
    for path in logs:
        fields = fields_of("training_log", path)
        steps = read_texts(path).to_dict("records")
        points = [(float(row["step"]), float(row["loss"])) for row in steps if is_number(row["loss"])]
        if points:
            lines = lines_of.setdefault(f"{fields['model']}, {fields['recipe']}", [])
            lines.append(Line(f"seed-{fields['seed']}", thinned(points), colour=len(lines) % COLOURS))
    return [
        Curve(
            name,
            chart(lines, f"Training loss over the steps: {name}", "Step", "Loss"),
            [(line.label, line.colour) for line in lines],
        )
        for name, lines in lines_of.items()
    ]


def size_curves(groups: list[SizeGroup], metrics: list[Path], datasets: pd.DataFrame, measure: str,
                labels: Labels) -> list[Curve]:  # fmt: skip
    """A chart for each task: the measure over the number of training queries, with the range over the seeds."""
    values: dict[str, dict[str, list[float]]] = {}
    for path in metrics:
        table = read_metrics(path)
        if measure in table:
            fields = fields_of("metrics", path)
            by_system = values.setdefault(fields["task"], {})
            by_system.setdefault(fields["system"], []).append(float(table[measure].mean()))
    train = datasets[datasets["split"] == "train"].set_index("dataset")["queries"] if len(datasets) else {}
    curves = []
    for task, by_system in values.items():
        lines, sizes = [], set()
        for colour, group in enumerate(groups):
            points, ranges = [], []
            for system, queries in group.systems.items():
                if system in by_system:
                    learnt = [group.train_on] if isinstance(group.train_on, str) else group.train_on
                    size = float(sum(train[name] if queries == "all" else int(queries) for name in learnt))
                    points.append((size, mean(by_system[system])))
                    ranges.append((min(by_system[system]), max(by_system[system])))
            if points:
                order = sorted(range(len(points)), key=lambda place: points[place])
                pairs = [points[place] for place in order], [ranges[place] for place in order]
                lines.append(Line(group.name, *pairs, colour=colour % COLOURS))
                sizes |= {size for size, _ in points}
        if not lines:
            continue
        untrained = by_system.get(groups[0].untrained or "") if len(groups) == 1 else None
        level = mean(untrained) if untrained else None
        name = labels.task(task)
        title = f"{measure} on {name} over the number of training queries"
        drawing = chart(lines, title, "Training queries", measure, level, sorted(sizes))
        note = f"Dashed: {labels.system(groups[0].untrained)}, without training." if untrained else ""
        curves.append(Curve(name, drawing, [(line.label, line.colour) for line in lines], note))
    return curves
