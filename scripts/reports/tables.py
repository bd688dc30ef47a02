"""The tables of an experiment's comparisons, as TSV (full precision), Markdown and LaTeX (booktabs).

Reads effects/{comparison}.tsv and meta/{comparison}.json of each comparison, and tables/comparisons.tsv. Writes, into
the folder of tables, effects/{comparison}.{tsv,md,tex} (tasks, summary, what it depends on, a plain sentence) and
comparisons.{md,tex} (a row a comparison).
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.forest_data import Forest
from scripts.reports.comparison.reading import Found, Labels, escaped, read_found
from scripts.reports.comparison.sentence import sentence
from scripts.reports.comparison.table import as_table, blocks, headings, notes, overview
from scripts.reports.writing.latex import tabular
from scripts.reports.writing.markdown import markdown


def in_full(found: Found, labels: Labels) -> pd.DataFrame:
    """A comparison's table at full precision: the effects file with labels, then the summaries."""
    meta, table = found.meta, found.effects.copy()
    table["task"] = [labels.task(name) for name in table["task"]]
    rows = []
    if meta["summary"]:
        kept = ("effect", "variance", "se", "ci_low", "ci_high", "p_value", "log10_p")
        rows = [{"task": "summary", "weight": 1.0, **{key: meta["summary"][key] for key in kept}}]
        if meta["prediction_interval"]:
            low, high = meta["prediction_interval"]
            rows.append({"task": "prediction interval", "ci_low": low, "ci_high": high})
        rows.append({"task": "fixed effect", **{key: meta["fixed"][key] for key in kept}})
    return pd.concat([table, pd.DataFrame(rows, columns=table.columns, dtype=object)], ignore_index=True)


def dependence(summaries: dict[str, dict], plot: Forest, labels: Labels, heading: str) -> str:
    """The summaries without each task, or with one task more each time, as a Markdown table."""
    numbers = form.numbers(plot)
    rows = []
    for task, one in summaries.items():
        effect, low, high = numbers.of(*(one["summary"][key] for key in ("effect", "ci_low", "ci_high")))
        p, tau2 = one["summary"]["p_value"], one["tau2"]
        rows.append(
            {
                heading: labels.task(task),
                "k": one["k"],
                form.EFFECT_NAMES[plot.effect_type]: effect,
                f"{form.percent(plot.alpha)} CI": f"[{low}, {high}]",
                "p": "" if p is None else form.p_value(p, plot.alpha),
                "τ²": "" if tau2 is None else f"{tau2:.2g}",
                "I²": "" if one["i2"] is None else f"{one['i2']:.1f}%",
            }
        )
    return markdown(pd.DataFrame(rows))


def page(name: str, found: Found, plot: Forest, labels: Labels) -> str:
    """A comparison's table in Markdown, with its sentence, its notes, and how the summary depends on each task."""
    rows = [row for block in blocks(found, plot) for row in block]
    parts = [f"# {name}: {plot.groups[0].treatment} against {plot.control}", sentence(found.meta, plot, labels)]
    parts.append(markdown(pd.DataFrame(rows, columns=list(headings(plot)))))
    parts += [f"- {one}" for one in notes(found, plot)]
    for key, title, heading in (
        ("leave_one_out", "Leaving one task out", "without"),
        ("cumulative", "Adding one task at a time", "up to"),
    ):
        if found.meta.get(key):
            parts += [f"## {title}", dependence(found.meta[key], plot, labels, heading)]
    return "\n\n".join(parts) + "\n"


def write(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with atomic_text(path) as file:
        file.write(text)


def main() -> None:
    arguments = parser(__doc__, "effects*", "meta*", "comparisons", "tables>").parse_args()
    labels = Labels(**arguments.settings["labels"])
    in_markdown = escaped(labels)
    for effects, meta in zip(arguments.effects, arguments.meta, strict=True):
        name, found = meta.stem, read_found(effects, meta)
        plot, marked = (as_table(found, arguments.settings["comparisons"][name], one) for one in (labels, in_markdown))
        stem = arguments.tables / "effects" / name
        write(stem.with_name(f"{name}.tsv"), in_full(found, labels).to_csv(sep="\t", index=False))
        write(stem.with_name(f"{name}.md"), page(name, found, marked, in_markdown))
        comments = ["\\usepackage{booktabs}", sentence(found.meta, plot, labels), *notes(found, plot)]
        write(stem.with_name(f"{name}.tex"), tabular(headings(plot), blocks(found, plot), comments))
    comparisons = pd.read_csv(arguments.comparisons, sep="\t")
    shown = overview(comparisons, labels)
    write(arguments.tables / "comparisons.md", markdown(pd.DataFrame(overview(comparisons, in_markdown))) + "\n")
    words = ("Comparison", "Control", "Treatment", "Measure", "Effect")
    aligned = {name: "l" if name in words else "r" for name in shown}
    rows = [list(row) for row in zip(*shown.values(), strict=True)]
    write(arguments.tables / "comparisons.tex", tabular(aligned, [rows], ["\\usepackage{booktabs}"]))


if __name__ == "__main__":
    run(main)
