"""The pages of printed cells beside ours, in Markdown and as HTML that sorts and filters; reads and writes nothing."""

from __future__ import annotations

import html

import pandas as pd

from scripts.reports.comparison import number_text as form
from scripts.reports.published_numbers.cells import BETWEEN, EQUAL, MACHINE, NOT_RUN, SPREAD, VERDICTS, WIDTH
from scripts.reports.writing.markdown import markdown

RULES = {
    EQUAL: "ours, rounded to the printed digits (halves away from zero), is the printed number",
    SPREAD: f"not further from it than {WIDTH} standard deviations over seeds: the printed one or, where none is "
    "printed, ours",
    "different": "further away, or nothing is known of the seeds' spread",
    MACHINE: "times, which another machine does not repeat; read the ratio of ours to theirs, and the ratios between "
    "models",
    NOT_RUN: "this experiment has no such number; the reason stands beside it",
}


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many cells of each table, and of all, have each verdict."""
    counts = pd.crosstab(table["table"], table["verdict"]).reindex(index=table["table"].unique(), columns=VERDICTS)
    counts = counts.fillna(0).astype(int)
    counts.loc["all"] = counts.sum()
    counts["cells"] = counts.sum(axis=1)
    return counts.rename_axis("table", axis=0).rename_axis(None, axis=1).reset_index()


def remark_numbers(table: pd.DataFrame, remarks: list[str]) -> dict[str, int]:
    """The remarks that some cell has, numbered."""
    in_cells = {remark for remarks_of_cell in table["remarks"] for remark in remarks_of_cell.split(BETWEEN)}
    used = [remark for remark in dict.fromkeys(remarks) if remark in in_cells]
    return {remark: number for number, remark in enumerate(used, 1)}


def shown(table: pd.DataFrame, numbers: dict[str, int]) -> pd.DataFrame:
    """The cells as text: printed and ours with their spread, difference or ratio, verdict with its remarks, reason."""
    rows = []
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        notes = "".join(f" [{number}]" for remark, number in numbers.items() if remark in row["remarks"].split(BETWEEN))
        rows.append(
            {
                "variant": row["variant"],
                "system": row["system"],
                "training": row["training"],
                "measure": row["measure"] + (f"@{row['cutoff']}" if row["cutoff"] else ""),
                "published": _spread(row["published"], row["published_sd"]),
                "ours": _spread(row["ours"], row["ours_sd"]),
                "difference": _difference(row),
                "verdict": row["verdict"] + notes,
                "reason": row["reason"],
            }
        )
    return pd.DataFrame(rows)


def _spread(value: str | None, sd: str | None) -> str:
    if value is None:
        return ""
    return f"{value} ± {sd}" if sd else value


def _difference(row: dict) -> str:
    if row["ratio"] is not None:
        return f"ratio {row['ratio']:.3g}"
    if row["difference"] is None:
        return ""
    text = form.fixed(row["difference"], len(row["published"].partition(".")[2]) + 1)
    return f"+{text}" if row["difference"] > 0 else text


def _parts(table: pd.DataFrame, remarks: list[str]) -> tuple[pd.DataFrame, dict[str, int], dict[str, int]]:
    numbers = remark_numbers(table, remarks)
    reasons = table.loc[table["verdict"] == NOT_RUN, "reason"].value_counts(sort=True)
    return shown(table, numbers), numbers, {str(reason): int(count) for reason, count in reasons.items()}


def page(table: pd.DataFrame, source: str, remarks: list[str]) -> str:
    """The page in Markdown: the counts, what the verdicts mean, why cells were not run, remarks, then every cell."""
    cells, numbers, reasons = _parts(table, remarks)
    parts = ["# Published numbers and ours", f"The {len(table)} printed cells of {source}.", markdown(counts(table))]
    parts.append("\n".join(f"- **{verdict}**: {rule}." for verdict, rule in RULES.items()))
    if reasons:
        parts += ["## Not run", "\n".join(f"- {count}: {reason}" for reason, count in reasons.items())]
    if numbers:
        parts += ["## Remarks", "\n".join(f"- [{number}] {remark}" for remark, number in numbers.items())]
    for name in table["table"].unique():
        parts += [f"## {name}", markdown(cells[table["table"] == name].replace("", None).dropna(axis=1, how="all"))]
    return "\n\n".join(parts) + "\n"


STYLE = """body{font:14px sans-serif;margin:2em;color:#1a1a1a}table{border-collapse:collapse;margin:1em 0}
th,td{padding:2px 8px;border-bottom:1px solid #ddd;text-align:left}th{position:sticky;top:0;background:#c9d9e8}
#cells th{cursor:pointer}input{width:40em;max-width:90%;padding:4px}"""
# A click on a heading sorts by it, again the other way round; the field keeps the rows that hold all its words.
SCRIPT = """const t=document.getElementById('cells'),b=t.tBodies[0],rows=[...b.rows];
const key=c=>{const s=c.textContent.replace('\\u2212','-').replace('ratio ','');const n=parseFloat(s);
return /^[-+]?[0-9.]/.test(s)&&!isNaN(n)?n:s};
[...t.tHead.rows[0].cells].forEach((h,i)=>h.onclick=()=>{const d=h.dataset.d=h.dataset.d==='1'?-1:1;
rows.sort((x,y)=>{const p=key(x.cells[i]),q=key(y.cells[i]);
return d*(typeof p===typeof q?(p<q?-1:p>q?1:0):typeof p==='number'?-1:1)}).forEach(r=>b.append(r))});
document.getElementById('words').oninput=e=>{const w=e.target.value.toLowerCase().split(/ +/).filter(Boolean);
rows.forEach(r=>{const s=r.textContent.toLowerCase();r.hidden=!w.every(x=>s.includes(x))})};"""


def html_page(table: pd.DataFrame, source: str, remarks: list[str]) -> str:
    """The same in one HTML file that needs nothing else: all cells in one table that sorts and filters."""
    cells, numbers, reasons = _parts(table, remarks)
    cells.insert(0, "table", table["table"].to_numpy())

    def items(lines: list[str]) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>"

    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>Published numbers and ours</title>"]
    parts.append(f"<style>{STYLE}</style><h1>Published numbers and ours</h1>")
    parts.append(f"<p>The {len(table)} printed cells of {html.escape(source)}.</p>" + _table(counts(table)))
    parts.append(items([f"{verdict}: {rule}." for verdict, rule in RULES.items()]))
    parts.append("<h2>Not run</h2>" + items([f"{count}: {reason}" for reason, count in reasons.items()]))
    parts.append("<h2>Remarks</h2>" + items([f"[{number}] {remark}" for remark, number in numbers.items()]))
    parts.append("<h2>Cells</h2><p><input id=words placeholder='words of a row, such as: A.3 different'></p>")
    parts.append(_table(cells, "cells") + f"<script>{SCRIPT}</script></html>")
    return "\n".join(parts) + "\n"


def _table(table: pd.DataFrame, name: str = "counts") -> str:
    head = "".join(f"<th>{html.escape(str(column))}</th>" for column in table)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>\n"
        for row in table.itertuples(index=False)
    )
    return f"<table id={name}><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>"
