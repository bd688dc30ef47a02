"""Tables of the plans of a further study: every design as TSV, and a page with a sentence, a table and a figure a plan.

Reads tables/study-designs/{plan}.json; the page shows figures/study-design-{plan}.svg. Writes tables/study-design.tsv,
.md and .tex (booktabs), and prints the sentences.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.reports.comparison.reading import Labels
from scripts.reports.study_design_text import number, remarks, sentence
from scripts.reports.writing.latex import BOOKTABS, aligned, document, tabular
from scripts.reports.writing.markdown import escape, markdown

COLUMNS = ("test", "queries", "collections", "seeds", "variance", "df", "detectable", "half_width", "hours",
           "meets_target")  # fmt: skip
HOW_TO_READ = (
    "A cell is the smallest true effect that is detected with the power asked for ({powers}), or the expected "
    "half-width of the interval where that is the target. Columns are numbers of collections: for one the paired "
    "t-test, for several the random-effects summary. {marked} meet the target. Queries are those of each "
    "collection, seeds those of each trained system. docs/statistics.md, Planning a study, has the formulas."
)


@dataclass(frozen=True)
class Settings:
    """The names on the page."""

    labels: Annotated[dict[str, str], "labels of systems that have one"]


def designs(plans: list[dict[str, Any]]) -> pd.DataFrame:
    """Every design of every plan, a row each; of those that meet the target the cheapest in each test is marked."""
    rows = []
    for plan in plans:
        best = [row for row in plan["cheapest"].values() if row]
        for row in plan["designs"]:
            marked = "yes" if row in best else "no"
            rows.append({"plan": plan["plan"], **{key: row[key] for key in COLUMNS}, "cheapest": marked})
    table = pd.DataFrame(rows, columns=["plan", *COLUMNS, "cheapest"])
    table["meets_target"] = table["meets_target"].map({True: "yes", False: "no"})
    return table


def grid(plan: dict[str, Any], seeds: int, marked: str) -> pd.DataFrame:
    """Queries by collections, with so many seeds; `marked` is the template of a cell that meets the target."""
    quantity = plan["curves"]["quantity"]
    cells: dict[int, dict[str, str]] = {}
    for row in plan["designs"]:
        if row["seeds"] == seeds:
            line = cells.setdefault(row["queries"], {"Queries": f"{row['queries']}"})
            k = row["collections"]
            text = number(row[quantity])
            line["1 collection" if k == 1 else f"{k}"] = marked.format(text) if row["meets_target"] else text
    return pd.DataFrame(list(cells.values()))


def page(plans: list[dict[str, Any]], figures: dict[str, str], labels: Labels) -> str:
    """The whole page; `figures` are where the page finds the drawing of each plan."""
    parts = ["# Planning the next study"]
    for plan in plans:
        parts += [f"## {escape(plan['plan'])}", escape(sentence(plan))]
        if listed := remarks(plan, labels):
            parts.append("\n".join(f"- {escape(remark)}" for remark in listed))
        counts = list(dict.fromkeys(row["seeds"] for row in plan["designs"]))
        for seeds in counts:
            if len(counts) > 1:
                parts.append("One seed:" if seeds == 1 else f"{seeds} seeds:")
            parts.append(markdown(grid(plan, seeds, "**{}**")))
        parts.append(f"![study designs of {escape(plan['plan'])}]({figures[plan['plan']]})")
    parts.append(how_to_read(plans, "Cells in bold"))
    return "\n\n".join(parts) + "\n"


def how_to_read(plans: list[dict[str, Any]], marked: str) -> str:
    """What a cell is; `marked` is how those look that meet the target."""
    powers = sorted({f"{plan['power']:.10g}" for plan in plans})
    return HOW_TO_READ.format(powers=", ".join(powers), marked=marked)


def latex(plans: list[dict[str, Any]], labels: Labels) -> str:
    """A table a plan, with a block for each number of seeds; a star marks what meets the target."""
    tables = []
    for plan in plans:
        blocks, headings = [], ["Seeds", "Queries"]
        for seeds in dict.fromkeys(row["seeds"] for row in plan["designs"]):
            rows = grid(plan, seeds, "{}*")
            headings = ["Seeds", *rows.columns]
            blocks.append([[f"{seeds}", *row] for row in rows.fillna("").to_numpy().tolist()])
        said = [BOOKTABS, f"{plan['plan']}: {sentence(plan)}", *remarks(plan, labels)]
        said.append(how_to_read([plan], "Cells with a star"))
        tables.append(tabular(aligned(headings, words=0), blocks, said))
    return document(tables)


def main() -> None:
    arguments = parser(__doc__, "plans*", "figures*", "table", "page", "tex", settings=Settings).parse_args()
    plans = [json.loads(path.read_text()) for path in arguments.plans]
    labels = Labels({}, arguments.settings.labels)
    drawings = [path for path in arguments.figures if path.suffix == ".svg"]
    figures = {
        plan["plan"]: Path(os.path.relpath(drawing, arguments.page.parent)).as_posix()
        for plan, drawing in zip(plans, drawings, strict=True)
    }
    with atomic_text(arguments.table) as file:
        designs(plans).to_csv(file, sep="\t", index=False)
    with atomic_text(arguments.page) as file:
        file.write(page(plans, figures, labels))
    with atomic_text(arguments.tex) as file:
        file.write(latex(plans, labels))
    for plan in plans:
        print(f"{plan['plan']}: {sentence(plan)}")


if __name__ == "__main__":
    run(main)
