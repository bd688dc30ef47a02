"""The tables of an experiment's comparisons, as TSV (full precision), Markdown and LaTeX (booktabs).

Reads effects/{comparison}.tsv and meta/{comparison}.json of each comparison, and tables/comparisons.tsv. Writes, into
the folder of tables, effects/{comparison}.{tsv,md,tex} (tasks, summary, what it depends on, a plain sentence) and
comparisons.{md,tex} (a row a comparison).
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scripts.common.cli import parser
from scripts.common.errors import run
from scripts.common.files import whole_text
from scripts.reports import forest_format as form
from scripts.reports.comparison_data import Found, Labels, forest, read_found
from scripts.reports.forest_data import Diamond, Forest
from scripts.reports.forest_lines import Line, lines_of
from scripts.reports.latex import tabular
from scripts.reports.markdown import escaped, markdown
from scripts.reports.sentence import sentence

FIXED = "Fixed effect (for reference)"


def as_table(found: Found, settings: dict, labels: Labels) -> Forest:
    """The forest plot that a table prints as text: without a title, with all columns."""
    return forest([found], settings | {"title": "", "width": "double column"}, labels)


def pairs(plot: Forest) -> dict[str, str]:
    """The cells that hold a number of control and treatment, and what it is; a gold standard has its own scale."""
    found = {"means": plot.measure} if plot.effect_type != "CORR" else {}
    return found | ({"judged": plot.judged} if plot.judged else {})


def headings(plot: Forest) -> dict[str, str]:
    """The columns of a comparison's table and how LaTeX aligns them; those that no row has are left out."""
    shown = {"Task": "l", "n": "r"} | dict.fromkeys(pairs(plot).values(), "c")
    unit = form.numbers(plot).factor
    effect = form.EFFECT_NAMES[plot.effect_type] + (f" ({unit})" if unit else "")
    return shown | {effect: "r", f"{form.percent(plot.alpha)} CI": "r", "Weight": "r", "p": "r"}


def cells(line: Line, plot: Forest) -> list[str]:
    """A line of the forest plot as the cells of its table; a task without an effect gives its reason."""
    found = [
        line.label,
        "".join(line.cells.get("n", "")),
        *(" ".join(line.cells.get(name, "")) for name in pairs(plot)),
    ]
    effect, low, high = line.cells.get("effect", (line.reason, "", ""))
    weight, p = ("".join(line.cells.get(name, "")) for name in ("weight", "p"))
    return [*found, effect, f"{low} {high}".strip(), weight, p]


def blocks(found: Found, plot: Forest) -> list[list[list[str]]]:
    """The rows of a comparison's table: tasks, then the summary, its prediction interval and the fixed effect."""
    numbers = form.numbers(plot)
    lines = lines_of(plot, numbers)
    below = [line for line in lines if line.kind in ("summary", "prediction")]
    if found.meta["summary"] and found.meta["k"] > 1:
        fixed = found.meta["fixed"]
        text = numbers.of(fixed["effect"], fixed["ci_low"], fixed["ci_high"])
        p = (form.p_value(fixed["p_value"], plot.alpha), "*" if fixed["p_value"] < plot.alpha else "")
        below.append(Line("fixed", FIXED, 0, cells={"effect": (text[0], f"[{text[1]},", f"{text[2]}]"), "p": p}))
    above = [line for line in lines if line.kind in ("task", "undefined")]
    return [[cells(line, plot) for line in part] for part in (above, below) if part]


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


def notes(found: Found, plot: Forest) -> list[str]:
    """What stands below a comparison's table: heterogeneity, what p is, what was left out."""
    group, said = plot.groups[0], []
    if shown := " and ".join(pairs(plot).values()):
        said.append(f"{shown}: {plot.control} → {group.treatment}.")
    if group.heterogeneity:
        said.append(f"Heterogeneity: {form.heterogeneity(group.heterogeneity, plot.alpha)}.")
    said.append(f"p of tasks: {plot.p_note}. * p < {plot.alpha:g}.")
    return [*(one.replace("\N{NO-BREAK SPACE}", " ") for one in said), *found.meta["warnings"]]


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


def overview(table: pd.DataFrame, labels: Labels) -> dict[str, list[str]]:
    """The rows of all comparisons as text, by column."""
    found: dict[str, list[str]] = {}
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        cell = {"Comparison": row["comparison"], "Control": labels.system(row["control"])}
        cell |= {"Treatment": labels.system(row["treatment"]), "Measure": row["measure"], "Effect": row["effect_type"]}
        cell |= {"k": str(row["k"]), "Summary": "", "CI": "", "Prediction interval": "", "p": "", "p (Holm)": ""}
        cell |= {"I²": "" if row["i2"] is None else f"{row['i2']:.1f}%", "τ²": ""}
        if row["effect"] is not None:
            diamond = Diamond(*(row[key] for key in ("effect", "ci_low", "ci_high")))
            half = (diamond.ci_high - diamond.ci_low) / 2
            numbers = form.Numbers(0, form.decimals_for(half))
            cell["Summary"], low, high = numbers.of(diamond.effect, diamond.ci_low, diamond.ci_high)
            cell["CI"] = f"[{low}, {high}]"
            p_values = [None if row[p] is None else form.p_value(row[p], row["alpha"]) for p in ("p_value", "p_holm")]
            cell["p"], cell["p (Holm)"] = (p or "" for p in p_values)
            cell["τ²"] = "" if row["tau2"] is None else f"{row['tau2']:.2g}"
            if row["prediction_low"] is not None:
                _, low, high = numbers.of(None, row["prediction_low"], row["prediction_high"])
                cell["Prediction interval"] = f"[{low}, {high}]"
        for column, text in cell.items():
            found.setdefault(column, []).append(text)
    return found


def write(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_text(path) as file:
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
