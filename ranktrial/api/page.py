"""The page of findings, and the folder that holds it with everything that it links to.

The content is that of the workflow's report (ranktrial/reports/contents), for comparisons that are in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

import pandas as pd
from matplotlib.figure import Figure

from ranktrial.api.explorer import Texts, explorer_of
from ranktrial.api.found import FAMILY, LABELS, TOGETHER, Parts
from ranktrial.common.files import atomic_text, write_text
from ranktrial.common.settings import write_record
from ranktrial.common.tables import write_table
from ranktrial.common.version import VERSION
from ranktrial.records.comparison import table_of
from ranktrial.reports.comparison.families import FoundFamily
from ranktrial.reports.comparison.reading import Forest
from ranktrial.reports.comparison.table import content, dependences, family_content, in_full
from ranktrial.reports.contents import comparisons as contents
from ranktrial.reports.contents import data
from ranktrial.reports.figures.family import diagram, filled
from ranktrial.reports.figures.forest import forest_plot
from ranktrial.reports.figures.page import as_svg, save
from ranktrial.reports.writing import html_page, printed
from ranktrial.reports.writing.content import EXPLORER, Block, Paragraph, Section, captions_once, without_files

FORMATS = (".svg", ".pdf", ".png")
QUERY_COLUMNS = ["task", "system", "seed", "query", "measure", "value"]
COMPUTED_WITH = ("numpy", "scipy", "pandas", "matplotlib")


def figures_of(found: Parts) -> dict[str, Figure]:
    """All figures by their names: one for each comparison, one for several together, one for a multiple comparison."""
    several, how = tuple(found.comparisons.values()), (found.looks, found.facts)
    drawn = {name: forest_plot(Forest((one,), *how)) for name, one in found.comparisons.items()}
    if len(several) > 1:
        drawn[TOGETHER] = forest_plot(Forest(several, *how))
    if found.family is not None:
        drawn[f"multiple-comparisons/{FAMILY}"] = diagram(filled(found.family, ""))
    return drawn


@dataclass(frozen=True)
class Beside:
    """What lies beside a page: the names of files, and the explorer with the queries that are won and lost most."""

    files: Container[str] = ()
    explorer: str = EXPLORER
    extremes: pd.DataFrame | None = None


def page(found: Parts, title: str, beside: Beside, drawn: Mapping[str, Figure]) -> str:
    """The page as HTML, which links to those files that lie beside it."""
    shown = captions_once(without_files(blocks_of(found, beside), beside.files))
    svg = {f"figures/{name}.svg": as_svg(figure, name) for name, figure in drawn.items()}
    return html_page.document(title or title_of(found), shown, svg)


def write_page(found: Parts, path: Path, title: str, texts: Texts) -> None:
    """Write the page alone, with its explorer in a folder that is called as the page is."""
    folder = f"{path.stem}-explorer"
    explored = explorer_of(found, title or title_of(found), path.name, texts)
    link = f"{quote(folder)}/{Path(EXPLORER).name}"
    beside = Beside([link], link, explored.extremes) if explored else Beside()
    made = page(found, title, beside, figures_of(found))
    if explored:
        explored.write(path.parent / folder)
    write_text(path, made)


def title_of(found: Parts) -> str:
    """What is compared."""
    if not found.comparisons:
        return found.heading(FAMILY)
    meta = next(iter(found.comparisons.values())).meta
    several = len(found.comparisons)
    return f"{meta.treatment if several == 1 else f'{several} systems'} against {meta.control}"


def blocks_of(found: Parts, beside: Beside) -> list[Block]:
    """The content: the first figure with its answers, all questions, means, each comparison, many systems at once."""
    names = list(found.comparisons)
    together = {TOGETHER: names} if len(names) > 1 else {}
    looks = dict.fromkeys([*names, *together], found.looks)
    figures = contents.Figures(together, looks, {}, beside.extremes, beside.explorer)
    compared = contents.compared(found.comparisons, dict.fromkeys(names, found.looks), found.facts)
    means = found.means()
    families: dict[str, FoundFamily] = {} if found.family is None else {FAMILY: found.family}
    of_pairs = {name for one in found.comparisons.values() for name in (one.meta.control, one.meta.treatment)}
    systems = {row.system for row in means} or of_pairs
    tasks = {row.task for row in means} or {row.task for one in found.comparisons.values() for row in one.effects}
    blocks: list[Block] = [contents.lead(len(systems), len(tasks), len(compared), found.facts.measures)]
    if compared:
        explored = (
            [contents.to_explorer(found.facts.nouns, beside.explorer)] if any(map(figures.explored, compared)) else []
        )
        table = contents.questions(found.summary, compared, found.facts)
        blocks += [contents.first(compared, figures), *explored, *table]
    of_family = [contents.families(families, [*compared.values()])] if families else []
    blocks += [] if compared else of_family  # the answer comes first
    if means:
        files = data.Beside([], bool(found.scored and found.scored.runs), data.ALL_QUERIES in beside.files)
        blocks.append(data.means(means, found.facts, families, files))
    if compared:
        blocks += [*contents.comparisons(compared, figures), *of_family]
    return [*blocks, made(found)]


def made(found: Parts) -> Section:
    """How the page was made: versions, and the statistics that differ from the defaults."""
    versions = ", ".join(f"{name} {version(name)}" for name in COMPUTED_WITH)
    stated = ", ".join(f"{name}={value!r}" for name, value in found.stated.items() if not isinstance(value, Mapping))
    said = f"ranktrial {VERSION}, with Python {sys.version.split()[0]}, {versions}. "
    said += f"Statistics: {stated}; all others by default." if stated else "Statistics: all by default."
    return Section("How it was made", [Paragraph(said)], anchor="made")


def write(found: Parts, folder: Path, title: str, texts: Texts) -> list[Path]:
    """Write the page and all that it links to, below a folder; return the files, and the page of the explorer.

    Effects and records are the files of the workflow (docs/results.md): effects/{comparison}.tsv, meta/…, tables/….
    """
    written: list[Path] = []

    def place(name: str) -> Path:
        written.append(folder / name)
        return written[-1]

    figures = figures_of(found)
    for name, figure in figures.items():
        save(figure, *(place(f"figures/{name}{ending}") for ending in FORMATS))
    for name, one in found.comparisons.items():
        plot = found.as_table(one)
        write_table(place(f"effects/{name}.tsv"), table_of(one.effects))
        write_record(place(f"meta/{name}.json"), one.meta)
        write_table(place(f"tables/effects/{name}.tsv"), in_full(one, LABELS))
        text = [*content(one, plot), *dependences(one.meta, plot, LABELS)]
        write_text(place(f"tables/effects/{name}.md"), printed.markdown_document(found.heading(name), text))
        write_text(place(f"tables/effects/{name}.tex"), printed.latex_document(name, content(one, plot)))
    if found.comparisons:
        write_table(place("tables/comparisons.tsv"), found.summary)
    if found.family is not None and found.differences is not None:
        stem = f"tables/multiple-comparisons/{FAMILY}"
        write_table(place(f"{stem}.tsv"), found.differences)
        said = family_content(found.family)
        printed.write_printed(found.heading(FAMILY), said, place(f"{stem}.md"), place(f"{stem}.tex"))
        write_record(place(f"multiple-comparisons/{FAMILY}.json"), found.family.record)
    if found.scored is not None:
        with atomic_text(place(data.ALL_QUERIES)) as file:
            every_query(found).to_csv(file, sep="\t", index=False)
    extremes = None
    if explored := explorer_of(found, title or title_of(found), "report.html", texts):
        extremes = explored.extremes
        write_table(place("tables/extreme-queries.tsv"), extremes)
        explored.write(place(EXPLORER).parent)
    files = {path.relative_to(folder).as_posix() for path in written}
    write_text(place("report.html"), page(found, title, Beside(files, extremes=extremes), figures))
    return written


def every_query(found: Parts) -> pd.DataFrame:
    """Every value, one row per task, system, seed and query."""
    assert found.scored is not None
    rows = [
        pd.DataFrame({"task": task, "system": system, "seed": seed, "query": values.index, "value": values[seed]})
        for task, of_task in found.scored.tables.items()
        for system, values in of_task.items()
        for seed in values
    ]
    return pd.concat(rows, ignore_index=True).assign(measure=found.measure)[QUERY_COLUMNS]
