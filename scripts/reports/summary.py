"""The experiment on one page: data, means, comparisons with their forest plots, costs.

Reads the tables (TSV) and, per comparison, its figure (a path) and meta file. Writes summary.md, which names figures
relative to itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from scripts.common.cli import parser
from scripts.common.errors import run
from scripts.common.files import whole_text


def markdown(table: pd.DataFrame, formats: dict[str, str] | None = None) -> str:
    """A table in Markdown; `formats` maps a column to a format such as `.3f`. Empty cells stay empty."""
    shown = table.copy().astype(object)
    for column, spec in (formats or {}).items():
        if column in shown:
            shown[column] = [format(value, spec) if pd.notna(value) else "" for value in table[column]]
    shown = shown.where(shown.notna(), "")
    return shown.to_markdown(index=False, disable_numparse=True)


def means_table(means: pd.DataFrame, measure: str, trained: dict[str, list[str]]) -> str:
    """Tasks by systems: mean of one measure, `± sd` over seeds, a star where the system saw the task's dataset."""
    cells = {}
    for row in means.to_dict("records"):
        spread = row[f"{measure} sd"]
        text = f"{row[measure]:.3f}" + (f" ± {spread:.3f}" if pd.notna(spread) else "")
        seen = row["task"] in trained.get(row["system"], [])
        cells.setdefault(row["task"], {"task": row["task"], "queries": row["queries"]})[row["system"]] = (
            text + "*" * seen
        )
    return markdown(pd.DataFrame(list(cells.values())))


def comparison_sections(comparisons: pd.DataFrame, metas: dict[str, dict], figures: dict[str, str]) -> list[str]:
    """A heading, the figure and the warnings of each comparison."""
    parts = []
    for row in comparisons.to_dict("records"):
        name = row["comparison"]
        parts += [
            f"### {name}: {row['treatment']} against {row['control']}",
            f"![forest plot of {name}]({figures[name]})",
        ]
        parts += [f"- {warning}" for warning in metas[name]["warnings"]]
    return parts


def costs_table(costs: pd.DataFrame) -> str:
    """Costs, a row a system: means over tasks and seeds."""
    kept = ["latency_p50_ms", "latency_p95_ms", "queries_per_second", "encoded_documents_per_second",
            "training_seconds", "peak_rss_mb"]  # fmt: skip
    grouped = costs.groupby("system", sort=False)[kept].mean().reset_index()
    return markdown(grouped, dict.fromkeys(kept, ".1f"))


def page(tables: dict[str, pd.DataFrame], metas: dict[str, dict], figures: dict[str, str], settings: dict) -> str:
    """The whole page."""
    datasets, means, comparisons, costs = (tables[name] for name in ("datasets", "means", "comparisons", "costs"))
    parts = [f"# {settings['experiment']}", "## Datasets"]
    columns = ["dataset", "split", "documents", "mean_document_words", "equal_documents", "queries", "judgements",
               "relevant", "judged_documents_missing", "mean_query_words", "carved"]  # fmt: skip
    parts.append(markdown(datasets[columns], {"mean_document_words": ".1f", "mean_query_words": ".1f"}))
    parts += [
        f"- {name}: {source['location']} (licence: {source['licence']})" for name, source in settings["sources"].items()
    ]
    parts.append("## Systems")
    parts += [f"- **{name}**: {said}" for name, said in settings["systems"].items()]
    parts.append("## Means")
    for measure in settings["measures"]:
        parts += [f"**{measure}**", means_table(means, measure, settings["trained"])]
    parts.append(
        "± is the standard deviation between seeds; * marks a task on whose training questions the system was "
        "fine-tuned, all others are transfer. A judged query that a run lacks counts as 0."
    )
    if len(comparisons):
        shown = ["effect", "ci_low", "ci_high", "prediction_low", "prediction_high"]
        formats = dict.fromkeys(shown, ".4f") | {"p_value": ".3g", "i2": ".1f", "tau2": ".3g"}
        kept = ["comparison", "measure", "effect_type", "k", *shown[:3], "p_value", *shown[3:], "i2", "tau2"]
        parts += ["## Comparisons", markdown(comparisons[kept], formats)]
        parts += comparison_sections(comparisons, metas, figures)
    if len(costs):
        parts += ["## Costs", costs_table(costs)]
        parts.append(
            "Times exclude loading and a warm-up; measured on " + ", ".join(sorted(set(costs["device"]))) + "."
        )
    return "\n\n".join(parts) + "\n"


def main() -> None:
    names = ("datasets", "means", "comparisons", "costs")
    arguments = parser(__doc__, *names, "meta*", "figures*", "summary").parse_args()
    tables = {name: read_table(getattr(arguments, name)) for name in names}
    metas = {path.stem: json.loads(Path(path).read_text()) for path in arguments.meta}
    figures = {path.stem: str(path.relative_to(arguments.summary.parent)) for path in arguments.figures}
    with whole_text(arguments.summary) as file:
        file.write(page(tables, metas, figures, arguments.settings))


def read_table(path: Path) -> pd.DataFrame:
    """A TSV; an empty table has no columns."""
    try:
        return pd.read_csv(path, sep="\t")
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


if __name__ == "__main__":
    run(main)
