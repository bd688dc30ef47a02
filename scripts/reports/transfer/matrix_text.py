"""The matrix of sources and targets in Markdown and in LaTeX (booktabs); reads and writes nothing."""

from __future__ import annotations

import pandas as pd

from scripts.reports.transfer.matrix_table import SHOTS, Entry, Matrix, Row
from scripts.reports.writing import latex
from scripts.reports.writing.markdown import escape, markdown


def as_markdown(rows: list[Row], names: Matrix) -> str:
    """The table: a column a target and shot."""
    lines = []
    for row in rows:
        cells = {
            f"{escape(names.targets[target])} {SHOTS[shot]}": entry.text + escape(entry.mark)
            for (target, shot), entry in row.cells.items()
        }
        lines.append({"Source ↓ target →": escape(row.label), **cells})
    return markdown(pd.DataFrame(lines))


def as_page(name: str, rows: list[Row], names: Matrix, notes: list[str]) -> str:
    """The table with its notes, as a page."""
    parts = [f"# {escape(names.title or name)}", as_markdown(rows, names), *(f"- {escape(note)}" for note in notes)]
    return "\n\n".join(parts[:2]) + "\n\n" + "\n".join(parts[2:]) + "\n"


def as_latex(rows: list[Row], names: Matrix, notes: list[str]) -> str:
    """The table as a tabular: targets above their two columns, a rule before baseline and pseudo-labelling."""
    columns = 2 * len(names.targets)
    lines = [f"% {' '.join(note.splitlines())}" for note in notes]
    lines += [rf"\begin{{tabular}}{{l{'l' * columns}}}", r"\toprule"]
    heads = [rf"\multicolumn{{2}}{{c}}{{{latex.escape(label)}}}" for label in names.targets.values()]
    lines.append(" & ".join([r"Target $\rightarrow$", *heads]) + r" \\")
    lines.append(" ".join(rf"\cmidrule(lr){{{place}-{place + 1}}}" for place in range(2, columns + 2, 2)))
    lines.append(" & ".join([r"Source $\downarrow$", *(list(SHOTS.values()) * len(names.targets))]) + r" \\")
    before = ""
    for row in rows:
        group = "source" if row.kind == "source" else "others"
        lines += [r"\midrule"] if group != before else []
        before = group
        lines.append(" & ".join([latex.escape(row.label), *map(_in_latex, row.cells.values())]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _in_latex(entry: Entry) -> str:
    mark = entry.mark.replace("#", r"\#")
    return latex.escape(entry.text) + (f"$^{{{mark}}}$" if mark else "")
