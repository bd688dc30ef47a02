"""Tables of the plans of a further study: every design as TSV, and a page with one sentence, table and figure per plan.

Reads tables/study-designs/{plan}.json; the page shows figures/study-design-{plan}.svg. Writes tables/study-design.tsv,
.md and .tex (booktabs), and prints the sentences.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.common.settings import read_record
from ranktrial.common.tables import write_table
from ranktrial.ir.nouns import RETRIEVAL
from ranktrial.records.facts import Labels
from ranktrial.records.study_design import PlanRecord
from ranktrial.reports.study_design_text import designs, number, remarks, sentence
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Block, Figure, Paragraph, Section, Span, Table, bulleted, columns

HOW_TO_READ = (
    "A cell is the smallest true effect that is detected with the requested power ({powers}), or the expected "
    "half-width of the interval if that is the target. Columns are numbers of collections: for one, the paired "
    "t-test; for several, the random-effects summary. Cells in bold meet the target. Queries are those of each "
    "collection, seeds those of each trained system. For the formulas, see docs/formulas.md, Planning a study."
)


def grid(plan: PlanRecord, seeds: list[int]) -> Table:
    """Queries by collections, a block for each of the numbers of `seeds`; bold is what meets the target."""
    numbers = list(dict.fromkeys(row.collections for row in plan.designs))
    cells: dict[int, dict[float, dict[float, Span]]] = {}
    for row in plan.designs:
        line = cells.setdefault(row.seeds, {}).setdefault(row.queries, {})
        line[row.collections] = Span(number(plan.shown(row.precision)), "strong" if row.meets_target else "")
    blocks = [
        [[f"{count}", f"{queries}", *(line.get(k, "") for k in numbers)] for queries, line in cells[count].items()]
        for count in seeds
    ]
    heads = [
        "Seeds",
        plan.nouns.say("Queries"),
        *(plan.nouns.say("1 collection") if k == 1 else f"{k}" for k in numbers),
    ]
    return Table(columns(heads, words=0), blocks)


def content(plan: PlanRecord, labels: Labels) -> list[Block]:
    """The sentence of a plan, and its designs."""
    counts = list(dict.fromkeys(row.seeds for row in plan.designs))
    return [Paragraph(sentence(plan)), *bulleted(remarks(plan, labels)), grid(plan, counts)]


def how_to_read(plans: list[PlanRecord]) -> Paragraph:
    """The explanation of a cell."""
    powers = sorted({f"{plan.power:.10g}" for plan in plans})
    of_all, *others = {plan.nouns for plan in plans}
    return Paragraph((RETRIEVAL if others else of_all).say(HOW_TO_READ.format(powers=", ".join(powers))))


def whole_page(plans: list[PlanRecord], figures: dict[str, str], labels: Labels) -> list[Block]:
    """The whole page; `figures` are where the page finds the drawing of each plan."""
    sections: list[Block] = []
    for plan in plans:
        name = plan.plan
        figure = Figure(figures[name], name, f"study designs of {name}")
        sections.append(Section(name, [*content(plan, labels), figure]))
    return [*sections, how_to_read(plans)]


def write_designs(
    plans: list[Path], figures: list[Path], table: Path, page: Path, tex: Path,
    labels: Annotated[dict[str, str], "labels of systems that have one"],
) -> None:  # fmt: skip
    """Write the tables of all plans, and print the sentences."""
    every, names = [read_record(PlanRecord, path) for path in plans], Labels({}, labels)
    drawings = [Path(os.path.relpath(path, page.parent)).as_posix() for path in figures if path.suffix == ".svg"]
    drawn = {plan.plan: drawing for plan, drawing in zip(every, drawings, strict=True)}
    write_table(table, designs(every))
    write_text(page, printed.markdown_document("Planning the next study", whole_page(every, drawn, names)))
    parts = {plan.plan: [Paragraph(plan.plan), *content(plan, names), how_to_read([plan])] for plan in every}
    write_text(tex, "\n".join(printed.latex_document(name, part) for name, part in parts.items()))
    for plan in every:
        print(f"{plan.plan}: {sentence(plan)}")


if __name__ == "__main__":
    job(write_designs)
