"""Tables of costs: of all runs, and of inference or fine-tuning times, models by tasks or training sets, in seconds.

`write_costs` reads the timing.json of each run and of the steps before it. It writes a TSV, one row per task, system
and seed: latency per query, throughput, memory, training, energy, size of index and weights.

`write_times` reads tables/costs.tsv. It writes inference-times or fine-tuning-times as TSV (one row per system and
task, or per model and recipe, full precision), Markdown and LaTeX (one row per model, as in a paper).

Inference is all that a model does between the texts and the ranking of a task's queries: encoding the corpus and the
queries and searching, or scoring the pairs. Loading, a warm-up, BM25's index and a first stage's search are not in it.
It does not depend on what the weights are, so all runs of one model that rank in one way make one cell. Nor does the
time of fine-tuning depend on where the negatives are from: recipes that differ in this alone make one column.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.tables import COSTS, read_table, write_table
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.cost_data import ALONE, Beside, row, side_by_side
from ranktrial.reports.writing.content import Block, Paragraph, Table
from ranktrial.reports.writing.content import columns as heads
from ranktrial.reports.writing.printed import write_printed

NOTES = {
    "inference": "Seconds for all queries of a task: a bi-encoder encodes the corpus and the queries and searches, a "
    "cross-encoder scores its pairs. Excluded are loading, a warm-up, BM25's index and a first stage's search.",
    "fine-tuning": "Seconds of training, without loading, a warm-up and the preparation of the examples.",
}


@dataclass(frozen=True)
class TimedSystem:
    """The place of a system in the tables."""

    model: Annotated[str, "a name to print"]
    candidates: Annotated[str, "which documents it ranks"]
    texts: Annotated[str, "how it takes long texts; empty: it truncates them"]
    recipe: Annotated[str, "empty: not trained"] = ""
    column: Annotated[str, "of the fine-tuning times"] = ""
    note: Annotated[str, "what its type says of its times, below the table of inference"] = ""


@dataclass(frozen=True)
class Settings:
    """The names in the tables."""

    work: Annotated[Literal["inference", "fine-tuning"], "of which the times are"]
    systems: dict[str, TimedSystem]
    tasks: Annotated[dict[str, str], "labels of tasks that have one"]
    exclusive: Annotated[bool, "searches and rankings ran one at a time"] = False


def write_costs(
    timing: list[Path],
    table: Path,
    beside: list[Path],
    behind: Annotated[dict[str, Beside], "run: what is behind it"],
) -> None:
    """Write the table, one row per run."""
    write_table(table, pd.DataFrame([row(path, behind.get(str(path), Beside())) for path in timing]))


def inference_times(costs: pd.DataFrame, systems: dict[str, TimedSystem]) -> pd.DataFrame:
    """One row per system and task: model, runs, mean and sd of inference over the seeds, and the means of its parts."""
    rows = []
    for (task, system), runs in costs.groupby(["task", "system"], sort=False):
        encoding = runs["encoding_seconds"].fillna(0.0).astype(float)
        seconds = runs["seconds"].astype(float) + encoding
        rows.append(
            {
                "task": task,
                "system": system,
                "model": systems[system].model,
                "texts": systems[system].texts,
                "candidates": systems[system].candidates,
                **_spread(seconds),
                "ranking_seconds": runs["seconds"].astype(float).mean(),
                "encoding_seconds": encoding.mean() if runs["encoding_seconds"].notna().any() else None,
                "device": ", ".join(sorted(set(runs["device"].astype(str)))),
            }
        )
    return pd.DataFrame(rows)


def fine_tuning_times(costs: pd.DataFrame, systems: dict[str, TimedSystem]) -> pd.DataFrame:
    """One row per model and recipe: its column, trainings, their mean and sd over the seeds.

    A checkpoint that ranks several tasks, or for several systems, was trained once and counts once.
    """
    trained = costs[costs["training_seconds"].notna()].copy()
    for key in ("model", "recipe", "column"):
        trained[key] = [getattr(systems[system], key) for system in trained["system"]]
    trained = trained.drop_duplicates(["model", "recipe", "training_seconds"])
    rows = []
    for (model, recipe), runs in trained.groupby(["model", "recipe"], sort=False):
        spread = _spread(runs["training_seconds"].astype(float))
        device = ", ".join(sorted(set(runs["device"].astype(str))))
        rows.append({"model": model, "recipe": recipe, "column": runs["column"].iloc[0], **spread, "device": device})
    return pd.DataFrame(rows)


def _spread(seconds: pd.Series) -> dict:
    return {"runs": len(seconds), "mean": seconds.mean(), "sd": seconds.std(ddof=1) if len(seconds) > 1 else None}


def pooled(runs: int, mean: float, sd: float | None) -> tuple[float, float]:
    """The sum and the sum of squares of `runs` values of this mean and sample standard deviation."""
    return runs * mean, (runs - 1) * (sd or 0.0) ** 2 + runs * mean**2


def wide(table: pd.DataFrame, column: str) -> tuple[list[str], list[list[str]]]:
    """The headings and rows of a paper's table: one row per model; a cell is the mean ± sd of all its runs."""
    if table.empty:
        return ["Model"], []
    headings = list(dict.fromkeys(table[column]))
    rows = []
    for model, model_rows in table.groupby("model", sort=False):
        rows.append([str(model), *(cell(model_rows[model_rows[column] == heading]) for heading in headings)])
    return ["Model", *headings], rows


def columns(table: pd.DataFrame, tasks: dict[str, str]) -> list[str]:
    """The column of each row of the inference times: the task's label and how its texts are cut.

    The candidates are named if one model has several types of them in the same column.
    """
    if table.empty:
        return []
    most_candidates = table.groupby(["task", "texts", "model"])["candidates"].nunique().groupby(["task", "texts"]).max()
    headings = []
    for task, texts, candidates in zip(table["task"], table["texts"], table["candidates"], strict=True):
        shown = candidates if most_candidates[task, texts] > 1 else ""
        headings.append(", ".join(filter(None, [tasks.get(task, task), texts, shown])))
    return headings


def cell(rows: pd.DataFrame) -> str:
    """The mean of all runs of these rows, ± the sd over them if there are several; empty if there is none."""
    if rows.empty:
        return ""
    shown = rows.astype(object).where(rows.notna(), None)
    sums = [pooled(*spread) for spread in zip(shown["runs"], shown["mean"], shown["sd"], strict=True)]
    runs, total, squares = sum(shown["runs"]), sum(total for total, _ in sums), sum(squares for _, squares in sums)
    mean = total / runs
    text = form.fixed(mean, 2)
    if runs == 1:
        return text
    return f"{text} ± {form.fixed((max(0.0, squares - runs * mean**2) / (runs - 1)) ** 0.5, 2)}"


def how_alone(costs: pd.DataFrame, exclusive: bool) -> list[str]:
    """Whether other work ran beside what was timed, in a sentence or two."""
    busy = side_by_side(costs["other_cores"].dropna().tolist()) if "other_cores" in costs else ""
    return [*([ALONE] if exclusive else []), *([f"{busy}."] if busy else [])]


def notes_on_inference(costs: pd.DataFrame, settings: Settings) -> str:
    """What the inference times include, and how they were measured."""
    notes = [NOTES["inference"], *dict.fromkeys(system.note for system in settings.systems.values() if system.note)]
    return " ".join([*notes, *how_alone(costs, settings.exclusive)])


def content(table: pd.DataFrame, note: str) -> list[Block]:
    """Models by the table's `column`."""
    headings, rows = wide(table, "column")
    devices = sorted({device for names in table.get("device", []) for device in names.split(", ")})
    note = f"{note} ± is the standard deviation over runs. Measured on {', '.join(devices) or 'nothing'}."
    return [Table(heads(headings), [rows]), Paragraph(note)]


def write_times(costs: Path, table: Path, page: Path, tex: Path, settings: Settings) -> None:
    """Write the times of inference or of fine-tuning."""
    timed = read_table(costs, *COSTS)
    if settings.work == "inference":
        times, note = inference_times(timed, settings.systems), notes_on_inference(timed, settings)
        times["column"] = columns(times, settings.tasks)
    else:
        times, note = fine_tuning_times(timed, settings.systems), NOTES[settings.work]
    write_table(table, times)
    write_printed(f"{settings.work.capitalize()} times", content(times, note), page, tex)


if __name__ == "__main__":
    job(write_costs, write_times)
