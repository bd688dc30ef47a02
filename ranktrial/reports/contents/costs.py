"""Costs of the systems, as a table and figures; reads and writes nothing."""

from __future__ import annotations

import math

import pandas as pd

from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.cost_data import ALONE, side_by_side
from ranktrial.reports.writing.content import Block, Cell, Figure, Folded, Paragraph, Section, Table, columns

COLUMNS = {
    "end_to_end_p50_ms": "Median latency (ms)",
    "end_to_end_queries_per_second": "Queries per second",
    "end_to_end_encoding_seconds": "Encoding (s)",
    "end_to_end_training_seconds": "Training (s)",
    "end_to_end_peak_rss_mb": "Peak memory (MB)",
    "end_to_end_peak_gpu_mb": "Peak GPU memory (MB)",
    "end_to_end_index_mb": "Index (MB)",
    "end_to_end_weights_mb": "Weights (MB)",
}
RANGED = ("end_to_end_p50_ms", "end_to_end_training_seconds")
CAPTION = (
    "Cost of each system, end to end: each number includes the systems whose runs a system uses. Means over tasks and "
    "seeds, with the lowest and highest values in parentheses; blank: there is none. Latency is that of one query at a "
    "time, queries per second that of all queries in batches; memory is the most that a step takes except training. "
    "Not included: tuning on dev and building Lucene's index (their seconds are in benchmarks/)."
)
SOURCE = "tables/costs.tsv"
FRONT = (
    "Each figure plots the effects over one control against their cost. The dashed line is the Pareto front of the "
    "means. Filled systems are on it, or off it only by noise: no other system costs no more and gains no less, "
    "with one of the two differing by more than noise (disjoint intervals of effects, or ranges of costs at least "
    "a tenth apart). Overlap is a cautious rule: the effects are paired, over one control and the same queries, so "
    "systems whose intervals overlap may still differ significantly."
)


def costs(table: pd.DataFrame, controls: dict[str, str], labels: Labels, exclusive: bool = False) -> Section:
    """Costs, one row per system, how they were measured, and a figure for each control (`controls`: by figure).

    `exclusive`: searches and rankings ran one at a time.
    """
    said = ["Times exclude loading and a warm-up", f"measured on {', '.join(sorted(set(table['device'])))}"]
    said += filter(None, [side_by_side(table["other_cores"].dropna().tolist())])
    alone = [Paragraph(ALONE)] if exclusive else []
    blocks: list[Block] = [Paragraph(f"{'; '.join(said)}."), *alone, costs_table(table, labels)]
    for work in ("inference", "fine-tuning"):
        blocks.append(Folded(f"Models by tasks: {work} times", [], f"tables/{work}-times.md"))
    blocks += [Paragraph(FRONT)] if controls else []
    for name, control in controls.items():
        title = f"Effects over {labels.system(control)}, and what they cost"
        blocks.append(Figure(f"figures/{name}.svg", f"{title}.", f"{title}. The tables have the numbers."))
    return Section("Costs", blocks, anchor="costs")


def costs_table(costs: pd.DataFrame, labels: Labels) -> Table:
    """One row per system: times and memory, means over tasks and seeds; what was never measured is left out."""
    shown = [name for name in COLUMNS if name in costs and costs[name].fillna(0).any()]
    rows = [
        [labels.system(str(system)), *(_measured(runs[name].dropna().tolist(), name in RANGED) for name in shown)]
        for system, runs in costs.groupby("system", sort=False)
    ]
    return Table(
        columns(["System", *(COLUMNS[name] for name in shown)]), [rows], caption=CAPTION, source="tables/costs.tsv"
    )


def _measured(values: list[float], ranged: bool) -> str | Cell:
    """The mean of the measured values and, if `ranged` and they differ, their range; empty where there is none."""
    if not any(values):
        return ""
    mean = sum(values) / len(values)
    form = f",.{0 if not math.isfinite(mean) or abs(mean) >= 100 else 1}f"
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return Cell(f"{mean:{form}} ({low} to {high})" if ranged and low != high else f"{mean:{form}}", mean)
