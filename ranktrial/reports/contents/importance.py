"""The importance of features to learnt rankers: two tables for rankers with the same features; writes nothing.

Reads the tables of importance, one per ranker and seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.experiment.results_paths import fields_of
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.importance_data import mean_importance, read_importance
from ranktrial.reports.writing.content import Block, Cell, Column, Paragraph, Section, Table

DECIMALS = 3
WAYS = {"permutation": "Permutation", "shap": "SHAP", "gain": "Gain"}
INTRODUCTION = (
    "Importance of each ranker's features, on the dev queries on which it was selected; means over its seeds. "
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


def importance(groups: list[Rankers], paths: list[Path], labels: Labels) -> Section:
    """The tables below a sentence that introduces them."""
    means = _means(paths)
    blocks: list[Block] = [Paragraph(INTRODUCTION)]
    for group in groups:
        of_group = {name: means[group.source, name] for name in group.systems}
        whence = f"Learnt from {group.learnt_from}, features {group.features}"
        fall = f"Permutation: fall of {group.measure} on dev. {whence}."
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
