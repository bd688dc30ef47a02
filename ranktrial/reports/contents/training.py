"""Trainings: the loss over the steps, and a measure over the number of training queries; writes nothing.

Reads the training logs (models/{model}/{recipe}/seed-{seed}.log.tsv) and metrics/{task}/{system}/seed-{seed}.tsv of the
systems that differ in their number of training queries alone. No other page has these figures, so they are drawn here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Annotated

import pandas as pd

from ranktrial.common.files import is_number
from ranktrial.common.tables import read_metrics, read_texts
from ranktrial.experiment.results_paths import fields_of
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.curves import CurvesPlot, Panel, Spot
from ranktrial.reports.figures.losses import Lines
from ranktrial.reports.writing.content import Block, Figure, Section

POINTS = 120  # at most on a line; more are averaged
SIZES, LOSSES = "training-queries.svg", "training-loss.svg"  # names of figures that no file has


@dataclass(frozen=True)
class SizeGroup:
    """Systems that differ in their number of training queries alone."""

    name: str
    systems: Annotated[dict[str, int | str], "system: its number of training queries, or all"]
    train_on: Annotated[str | list[str], "the dataset, or those of one training"]
    untrained: Annotated[str | None, "the same without training, a dashed level where there is one group"]


def trainings(sizes: CurvesPlot, losses: Lines) -> Section:
    """The figures that contain data."""
    blocks: list[Block] = []
    if sizes.panels:
        title = f"{sizes.measure} over the number of training queries."
        blocks.append(Figure(SIZES, title, title))
    if losses:
        caption = "Training loss over the steps, one line per seed (means of neighbouring steps if there are many)."
        caption += " Losses of different kinds have different scales."
        blocks.append(Figure(LOSSES, caption, f"Training loss over the steps: {'; '.join(losses)}."))
    return Section("Learning curves", blocks, anchor="curves")


def thinned(points: list[tuple[float, float]], most: int = POINTS) -> list[tuple[float, float]]:
    """The points, averaged over neighbours so that at most `most` remain."""
    size = math.ceil(len(points) / most)
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    return [(mean(x for x, _ in part), mean(y for _, y in part)) for part in parts]


def losses_of(logs: list[Path]) -> Lines:
    """Model and recipe -> seed -> its losses by step; a training that made no step has none."""
    lines: Lines = {}
    for path in logs:
        fields = fields_of("training_log", path)
        steps = read_texts(path).to_dict("records")
        points = [(float(row["step"]), float(row["loss"])) for row in steps if is_number(row["loss"])]
        if points:
            lines.setdefault(f"{fields['model']}, {fields['recipe']}", {})[f"seed {fields['seed']}"] = thinned(points)
    return lines


def size_curves(
    groups: list[SizeGroup], metrics: list[Path], datasets: pd.DataFrame, measure: str, labels: Labels
) -> CurvesPlot:
    """A panel for each task: the measure over the number of training queries, with the range over the seeds."""
    values: dict[str, dict[str, list[float]]] = {}
    for path in metrics:
        table, fields = read_metrics(path), fields_of("metrics", path)
        if measure in table:
            by_system = values.setdefault(fields["task"], {})
            by_system.setdefault(fields["system"], []).append(float(table[measure].mean()))
    train = datasets[datasets["split"] == "train"].set_index("dataset")["queries"] if len(datasets) else {}
    alone = (groups[0].untrained or "") if len(groups) == 1 else ""
    panels = []
    for task, by_system in values.items():
        curves = {group.name: spots for group in groups if (spots := _spots(group, by_system, train))}
        level = mean(by_system[alone]) if alone in by_system else None
        panels += [Panel(labels.task(task), curves, level)] if curves else []
    baseline = labels.system(alone) if any(panel.baseline is not None for panel in panels) else ""
    said = "Lines join the means over the seeds; bars are the range over the seeds. The axis of queries is logarithmic."
    said += f" Dashed: {baseline}, without training." if baseline else ""
    starts = {group.name: group.name for group in groups}
    return CurvesPlot("", measure, tuple(panels), starts, baseline, (said,))


def _spots(group: SizeGroup, by_system: dict[str, list[float]], train: pd.Series) -> list[Spot]:
    """The points of a group on a task, by their number of training queries."""
    learnt = [group.train_on] if isinstance(group.train_on, str) else group.train_on
    spots = []
    for system, queries in group.systems.items():
        if system in by_system:
            of_seeds = by_system[system]
            size = sum(int(train[name] if queries == "all" else queries) for name in learnt)
            spots.append(Spot(size, mean(of_seeds), min(of_seeds), max(of_seeds)))
    return sorted(spots, key=lambda spot: spot.queries)
