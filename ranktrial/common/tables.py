"""The one place that reads and writes tables of results (TSV).

pandas reads 01, 1e3 and 2019 as numbers, and NA, null, nan and None as missing values; tasks, systems and queries may
have such names. So every cell is read as text, and all columns except those that the caller names are converted to
numbers. Types are never guessed from the values.
"""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_text

# The text columns of tables that several scripts read.
EFFECTS = ("task", "undefined")
MEANS = ("task", "system")
DATASETS = ("dataset", "split", "carved", "tokenizer", "grades")
COMPARISONS = ("comparison", "control", "treatment", "measure", "effect_type", "family", "estimator", "interval")
COSTS = ("task", "system", "seed", "device", "precision")
INFERENCE_TIMES = ("task", "system", "model", "texts", "candidates", "device", "column")
FINE_TUNING_TIMES = ("model", "recipe", "column", "device")
SELECTED_SEEDS = ("system", "task", "split", "formula", "chosen")
CHOSEN_RECIPES = ("system", "entry", "task", "split", "measure", "recipe", "chosen", "by_seed")
IMPORTANCE = ("feature",)
METRICS = ("query_id",)
EXTREME_QUERIES = ("comparison", "task", "query_id", "text")


def read_texts(source: Path | TextIO) -> pd.DataFrame:
    """All cells as text; an empty cell is an empty text, and a file without a heading has no columns."""
    try:
        return pd.read_csv(source, sep="\t", dtype=str, keep_default_na=False)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def read_table(path: Path, *texts: str) -> pd.DataFrame:
    """The columns `texts` as text, all others as numbers: integers if every cell is one, else floats, to the last
    bit. Empty cells are missing values.

    Raises UserError for a cell of the other columns that is not a number.
    """
    table = read_texts(path)
    for name, column in table.items():
        table[name] = column.where(column != "", None) if name in texts else _numbers(column, path)
    return table


def read_metrics(path: Path) -> pd.DataFrame:
    """A metrics file: index query_id, a column of floats for each measure. Raises UserError for a missing value."""
    table = read_table(path, *METRICS).set_index("query_id").astype(float)
    if table.isna().any(axis=None):
        raise UserError(f"{path}: was changed or damaged: a query lacks a value")
    return table


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write the columns of a table; floats to the last bit, missing values as empty cells."""
    write_text(path, table.to_csv(sep="\t", index=False))


def _numbers(column: pd.Series, path: Path) -> pd.Series:
    filled = column[column != ""]
    try:
        if len(filled) == len(column) and len(filled) and filled.str.fullmatch("-?[0-9]{1,18}").all():
            return filled.astype("int64")
        return filled.map(float).astype(float).reindex(column.index)
    except ValueError as error:
        raise UserError(f"{path}: column {column.name}: {error}") from None
