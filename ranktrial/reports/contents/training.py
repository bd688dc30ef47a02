"""Trainings: the loss over the steps, a measure over the number of training queries, mined negatives, learnt features.

Reads the training logs (models/{model}/{recipe}/seed-{seed}.log.tsv), metrics/{task}/{system}/seed-{seed}.tsv of the
systems that differ in their number of training queries alone, the records that mining writes beside mined and filtered
negatives, and the tables of importance, one per ranker and seed; writes nothing. No other page has the figures of
trainings, so they are drawn here. Rankers with the same features share two tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Annotated

import pandas as pd

from ranktrial.common.files import is_number
from ranktrial.common.settings import read_record
from ranktrial.common.tables import read_metrics, read_texts
from ranktrial.experiment.results_paths import fields_of
from ranktrial.records.facts import Labels
from ranktrial.records.mining import MiningRecord
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.curves import CurvesPlot, Lines, Panel, Spot, curves_plot, losses
from ranktrial.reports.figures.importance import mean_importance, read_importance
from ranktrial.reports.figures.page import as_svg
from ranktrial.reports.writing.content import (
    Block,
    Cell,
    Column,
    Figure,
    Paragraph,
    Section,
    Span,
    Table,
    Text,
    counted,
)

POINTS = 120  # at most on a line; more are averaged
SIZES, LOSSES = "training-queries.svg", "training-loss.svg"  # names of figures that no file has


@dataclass(frozen=True)
class SizeGroup:
    """Systems that differ in their number of training queries alone."""

    name: str
    systems: Annotated[dict[str, int | str], "system: its number of training queries, or all"]
    train_on: Annotated[str | list[str], "the dataset, or those of one training"]
    untrained: Annotated[str | None, "the same without training, a dashed level where there is one group"]


@dataclass(frozen=True)
class Sizes:
    """What curves over the number of training queries show."""

    sizes: Annotated[list[SizeGroup], "systems that differ in their number of training queries"]


def trainings(sizes: CurvesPlot, lines: Lines) -> Section:
    """The figures that contain data, drawn."""
    blocks: list[Block] = []
    if sizes.panels:
        title = f"{sizes.measure} over the number of training queries."
        blocks.append(Figure(SIZES, title, title, svg=as_svg(curves_plot(sizes), SIZES)))
    if lines:
        caption = "Training loss over the steps, one line per seed (means of neighbouring steps if there are many)."
        caption += " Losses of different kinds have different scales."
        shows = f"Training loss over the steps: {'; '.join(lines)}."
        blocks.append(Figure(LOSSES, caption, shows, svg=as_svg(losses(lines), LOSSES)))
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


SUFFIX = ".mining.json"


def mined(paths: list[Path]) -> list[Text]:
    """A line for each dataset's negatives: the candidates that each rule removed, and the queries with too few."""
    names = [f"{path.parent.name}, {path.name.removesuffix(SUFFIX)}" for path in paths]
    records = [read_record(MiningRecord, path) for path in paths]
    return [(Span(name, "strong"), f": {_as_text(record)}.") for name, record in zip(names, records, strict=True)]


def _as_text(record: MiningRecord) -> str:
    negatives = ", ".join(f"{count:,} from {source}" for source, count in record.negatives.items())
    words = [f"{negatives}, of {record.candidates:,} candidates of {record.queries:,} queries"]
    by = f" (scores of {record.cross_encoder})" if record.cross_encoder else ""
    words += [f"{count:,} filtered by {rule} {record.rules[rule]:g}{by}" for rule, count in record.filtered.items()]
    if record.equal_texts:
        words.append(
            f"{record.equal_texts:,} left out because their text equals that of the query or of a relevant document"
        )
    if record.queries_without_positive_score:
        words.append(f"{_queries(record.queries_without_positive_score)} with a positive that the run lacks")
    if record.queries_not_found:
        words.append(
            f"not used for training: {_queries(record.queries_not_found)} whose relevant document is not found"
        )
    if record.queries_without_negatives:
        words.append(f"not used for training: {_queries(record.queries_without_negatives)} without a negative left")
    if record.queries_with_fewer_negatives:
        words.append(f"{_queries(record.queries_with_fewer_negatives)} with fewer negatives than asked for")
    return "; ".join(words)


def _queries(number: int) -> str:
    return counted(number, "query", "queries")


DECIMALS = 3
WAYS = {"permutation": "Permutation", "shap": "SHAP", "gain": "Gain"}
INTRODUCTION = (
    "Importance of each ranker's features, on the queries on which it was selected; means over its seeds and folds. "
    "Permutation: the decrease of the mean of the measure when the feature's values are shuffled over all "
    "candidates. SHAP: the mean |SHAP value|, in units of the ranker's own scores, so it cannot be compared "
    "between rankers. Gain: the share of the feature's splits in the gain of all splits in training. A learner "
    "without such a number has no such column. The figures (figures/importance) also show the standard deviation "
    "over shuffles."
)


@dataclass(frozen=True)
class Rankers:
    """Rankers with the same features, training queries and measure."""

    source: Annotated[str, "what stands in paths for the datasets that they learn from"]
    learnt_from: Annotated[str, "the labels of these datasets"]
    features: Annotated[str, "the name of the features"]
    measure: Annotated[str, "the measure that falls when a feature is shuffled"]
    systems: Annotated[list[str], "their names"]


@dataclass(frozen=True)
class Ranked:
    """The rankers of an experiment."""

    rankers: Annotated[list[Rankers], "rankers by what they are learnt from"]


def importance(groups: list[Rankers], paths: list[Path], labels: Labels) -> Section:
    """The tables below a sentence that introduces them."""
    means = _means(paths)
    blocks: list[Block] = [Paragraph(INTRODUCTION)]
    for group in groups:
        of_group = {name: means[group.source, name] for name in group.systems}
        whence = f"Learnt from {group.learnt_from}, features {group.features}"
        fall = f"Permutation: fall of {group.measure}. {whence}."
        blocks += [_table(of_group, ["permutation"], fall, labels)]
        blocks += [_table(of_group, ["shap", "gain"], f"SHAP and gain. {whence}.", labels)]
    return Section("Importance of features", blocks, anchor="importance")


def _means(paths: list[Path]) -> dict[tuple[str, str], pd.DataFrame]:
    """By source and ranker, the means over its seeds."""
    tables: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in paths:
        fields = fields_of("ranker_importance", path)
        tables.setdefault((fields["source"], fields["system"]), []).append(read_importance(path))
    return {ranker: mean_importance(of_seeds) for ranker, of_seeds in tables.items()}


def _table(means: dict[str, pd.DataFrame], ways: list[str], caption: str, labels: Labels) -> Table:
    """One row per feature, in the order of the mean fall over all rankers; columns of each way together."""
    falls = pd.concat([table["permutation"] for table in means.values()], axis=1).mean(axis=1)
    shown = [(way, name) for way in ways for name, table in means.items() if table[way].notna().all()]
    columns = [Column("Feature"), *(Column(labels.system(name), "r", WAYS[way]) for way, name in shown)]
    rows = [
        [feature, *(_cell(means[name].at[feature, way]) for way, name in shown)]
        for feature in falls.sort_values(ascending=False, kind="stable").index
    ]
    return Table(columns, [rows], caption=caption)


def _cell(number: float) -> Cell:
    return Cell(form.fixed(number, DECIMALS), float(number))
