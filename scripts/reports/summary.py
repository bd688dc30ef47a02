"""The experiment on one page: data, means, comparisons with their sentences and forest plots, costs.

Reads the tables (TSV), the effects and meta files, multiple comparisons, curves, records of mined negatives, and
published numbers beside ours. Writes summary.md, which names figures and tables relative to itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.common.tables import (
    CHOSEN_RECIPES,
    COMPARISONS,
    COSTS,
    DATASETS,
    MEANS,
    SELECTED_SEEDS,
    read_table,
    read_texts,
)
from scripts.experiment.figure_checks import FURTHER
from scripts.ir.zero_runs import zero_runs
from scripts.reports.comparison.adjustment import adjustments
from scripts.reports.comparison.chosen import NOTE, chosen_lines
from scripts.reports.comparison.families import FoundFamily, read_families
from scripts.reports.comparison.family_text import heading, standings_table
from scripts.reports.comparison.family_text import sentence as family_sentence
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.reading import Found, Labels, escaped, read_found
from scripts.reports.comparison.sentence import sentence
from scripts.reports.comparison.table import HOW_TO_READ, TRIED, TRIED_NOTE, as_table, overview
from scripts.reports.family_table import as_markdown
from scripts.reports.figures.cost_data import side_by_side
from scripts.reports.mined_text import mined_lines
from scripts.reports.page.tables import costs_table
from scripts.reports.transfer.studies import Found as FoundStudy
from scripts.reports.transfer.studies import Studies, as_sections, read_studies
from scripts.reports.writing.markdown import escape, markdown

TEXTS = {
    "datasets": DATASETS,
    "means": MEANS,
    "comparisons": COMPARISONS,
    "costs": COSTS,
    "selected": SELECTED_SEEDS,
    "chosen": CHOSEN_RECIPES,
}  # the columns of names and words of each table


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the page says that stands in no table."""

    experiment: str
    measures: Annotated[list[str], "the tables of means, in their order"]
    sources: Annotated[dict[str, dict[str, str]], "dataset: its location and licence"]
    systems: Annotated[dict[str, str], "system: what it is, in words"]
    trained: Annotated[dict[str, list[str]], "system: the tasks on whose training queries it learnt"]
    together: Annotated[dict[str, list[str]], "figure: the comparisons that it shows"]
    charts: Annotated[list[str], "figures with bars of means"]
    costs: Annotated[list[str], "figures of costs"]
    labels: Annotated[Labels, "labels of tasks and systems that have one"]
    comparisons: Annotated[dict[str, Looks], "how each comparison is shown"]
    further: Annotated[list[str], "figures of influence and of queries"] = field(default_factory=list)
    cautions: Annotated[list[str], "of the configuration, to be told"] = field(default_factory=list)
    moderated: Annotated[dict[str, list[str]], "comparison with moderators or subgroups: its bubble plots"] = field(
        default_factory=dict
    )
    transfer: Annotated[Studies, "matrices of sources and targets, curves over training queries"] = field(
        default_factory=Studies
    )


def means_table(means: pd.DataFrame, measure: str, trained: dict[str, list[str]], labels: Labels) -> str:
    """Tasks by systems: mean of one measure, `± sd` over seeds, a star where the system saw the task's dataset."""
    cells = {}
    for row in means[means[measure].notna()].to_dict("records"):
        spread = row[f"{measure} sd"]
        text = f"{row[measure]:.3f}" + (f" ± {spread:.3f}" if pd.notna(spread) else "")
        star = "*" if row["task"] in trained.get(row["system"], []) else ""
        cell = cells.setdefault(row["task"], {"task": labels.task(row["task"]), "queries": row["queries"]})
        cell[labels.system(row["system"])] = text + star
    return markdown(pd.DataFrame(list(cells.values())))


def comparison_sections(results: dict[str, Found], settings: Settings, labels: Labels) -> list[str]:
    """Each comparison's sentence, warnings and figure; those that are drawn together share a heading and the figure."""
    sections = {name: (name,) for name in results}
    for name, members in settings.together.items():
        sections = {title: names for title, names in sections.items() if title not in members} | {name: tuple(members)}
    order = {name: place for place, name in enumerate(results)}
    parts = []
    for name, members in sorted(sections.items(), key=lambda item: order[item[1][0]]):
        alone = members == (name,)
        parts.append(f"### {name}")
        for member in members:
            plot = as_table(results[member], settings.comparisons[member], labels)
            links = f"[table](tables/effects/{member}.md)" + ("" if alone else f", [figure](figures/{member}.svg)")
            links += f", [moderators](tables/moderators/{member}.md)" if member in settings.moderated else ""
            parts.append(f"{sentence(results[member].meta, plot)} ({links})")
            parts += [f"- {warning}" for warning in results[member].meta["warnings"]]
        parts.append(f"![forest plot of {name}](figures/{name}.svg)")
        bubbles = [figure for member in members for figure in settings.moderated.get(member, [])]
        parts += [f"![bubble plot {figure}](figures/{figure}.svg)" for figure in bubbles]
        drawn = [kind + member for member in members for kind in FURTHER if kind + member in settings.further]
        parts += [f"![{figure}](figures/{figure}.svg)" for figure in drawn]
    return parts


def family_sections(families: dict[str, FoundFamily], labels: Labels) -> list[str]:
    """Each multiple comparison's sentence, its systems' means and letters, warnings and diagram."""
    parts = []
    for name, found in families.items():
        link = f"[table](tables/multiple-comparisons/{name}.md)"
        parts += [f"### {name}: {heading(found, labels)}", f"{family_sentence(found)} ({link})"]
        parts.append(as_markdown(standings_table(found)))
        parts += [f"- {warning}" for warning in found.record["warnings"]]
        parts.append(f"![diagram of {name}](figures/multiple-comparisons/{name}.svg)")
    return parts


def published_counts(table: pd.DataFrame) -> str:
    """How many published numbers are reproduced."""
    if "verdict" in table:
        verdicts = table["verdict"].value_counts(sort=False).items()
        return f"Of {len(table)} published numbers: {', '.join(f'{count} {verdict}' for verdict, count in verdicts)}"
    equal = (table["equal"] == "yes").sum()
    return f"{equal} of {len(table)} published numbers are reproduced to their last digit"


def costs_section(costs: pd.DataFrame, labels: Labels) -> list[str]:
    """Costs, one row per system, and how they were measured."""
    table = costs_table(costs, labels)
    headings = [heading for heading, _ in table.columns]
    rows = [[cell.text for cell in row] for row in table.rows]
    how = ["Times exclude loading and a warm-up", f"measured on {', '.join(sorted(set(costs['device'])))}"]
    busy = side_by_side(costs["other_cores"].dropna().tolist())
    return [
        markdown(pd.DataFrame(rows, columns=headings)),
        f"{table.caption} {'; '.join([*how, *filter(None, [busy])])}.",
    ]


def selected_lines(table: pd.DataFrame, labels: Labels) -> list[str]:
    """Which seed of each system is kept for other datasets and how the seeds scored; a warning for test sets."""
    lines = []
    for system, seeds in table.groupby("system", sort=False):
        chosen = seeds[seeds["chosen"] == "yes"].iloc[0]
        scores = ", ".join(f"{row.seed}: {row.score:.4f}" for row in seeds.itertuples())
        task = chosen["task"]
        line = f"- **{labels.system(system)}**: seed {chosen['seed']}, by {chosen['formula']} on {task} ({scores})."
        if chosen["split"] == "test":
            line += f" **Chosen on a test set**, as one does only to reproduce work that did: its values on {task} "
            line += "take part in the choice."
        lines.append(line)
    return lines


def page(
    tables: dict[str, pd.DataFrame],
    results: dict[str, Found],
    families: dict[str, FoundFamily],
    studies: list[FoundStudy],
    mined: list[str],
    settings: Settings,
) -> str:
    """The whole page."""
    datasets, means, comparisons, costs = (tables[name] for name in ("datasets", "means", "comparisons", "costs"))
    labels = escaped(settings.labels)
    parts = [f"# {settings.experiment}"]
    if len(datasets):
        columns = ["dataset", "split", "documents", "mean_document_words", "equal_documents", "queries", "judgements",
                   "relevant", "judged_documents_missing", "mean_query_words", "carved", "unjudged",
                   "sampled_from", "own_documents", "excluded"]  # fmt: skip
        not_empty = datasets[columns].dropna(axis=1, how="all")
        decimals = {"mean_document_words": ".1f", "mean_query_words": ".1f"}
        of_some = ("documents", "equal_documents", "judged_documents_missing", "unjudged", "sampled_from",
                   "own_documents", "excluded")  # fmt: skip
        counts = dict.fromkeys(of_some, ".0f")
        parts += ["## Datasets", markdown(not_empty, decimals | counts)]
        for name, source in settings.sources.items():
            parts.append(f"- {name}: {escape(source['location'])} (licence: {escape(source['licence'])})")
    parts.append("## Systems")
    for name, description in settings.systems.items():
        label = labels.system(name)
        parts.append(f"- **{label}**: {description}" if label == name else f"- **{label}** ({name}): {description}")
    if "selected" in tables:
        parts += ["## Selected seeds", "On datasets other than that of the choice only the selected seed was run."]
        parts.append("\n".join(selected_lines(tables["selected"], labels)))
    if "chosen" in tables:
        parts += ["## Chosen recipes", NOTE, "\n".join(chosen_lines(tables["chosen"], labels))]
    if mined:
        parts += ["## Negatives from systems", "\n".join(mined)]
    parts.append("## Means")
    for measure in settings.measures:
        parts += [f"**{measure}**", means_table(means, measure, settings.trained, labels)]
    parts.append(
        "± is the standard deviation between seeds; * marks a task on whose training questions the system was "
        "fine-tuned, all others are transfer. A judged query that a run lacks counts as 0."
    )
    zeros = [
        one.caution(labels.task(one.task), labels.system(one.system)) for one in zero_runs(means.to_dict("records"))
    ]
    parts += [f"- **Note**: {caution}." for caution in [*zeros, *settings.cautions]]
    parts += [f"![bar chart {name}](figures/{name}.svg)" for name in settings.charts]
    if len(comparisons):
        shown = overview(comparisons, labels)
        parts += ["## Comparisons", markdown(pd.DataFrame(shown)), HOW_TO_READ]
        parts += [TRIED_NOTE] if TRIED in shown else []
        parts += comparison_sections(results, settings, labels)
    if studies:
        parts += ["## Transfer and training queries", *as_sections(studies)]
    if families:
        parts += ["## Many systems at once", *family_sections(families, labels)]
    if "published" in tables:
        counts = published_counts(tables["published"])
        parts += ["## Published numbers", f"{counts}: [all of them](published-versus-ours.md)."]
    if len(costs):
        parts += ["## Costs", *costs_section(costs, labels)]
        links = [f"[{name}](tables/{name}-times.md)" for name in ("inference", "fine-tuning")]
        parts.append(f"Models by tasks: {', '.join(links)}.")
        parts += [f"![effects against costs](figures/{name}.svg)" for name in settings.costs]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    names = ("datasets", "means", "comparisons", "costs")
    arguments = parser(
        __doc__, *names, "published*", "selected*", "chosen*", "effects*", "meta*", "families*", "family-records*",
        "matrices*", "curves*", "mined*", "summary",
        settings=Settings,
    ).parse_args()  # fmt: skip
    tables = {name: read_table(getattr(arguments, name), *TEXTS[name]) for name in names}
    for name in ("selected", "chosen"):
        if getattr(arguments, name):
            tables[name] = read_table(getattr(arguments, name)[0], *TEXTS[name])
    if arguments.published:
        tables["published"] = read_texts(arguments.published[0])
    pairs = zip(arguments.effects, arguments.meta, strict=True)
    adjusted = adjustments(tables["comparisons"])
    results = {meta.stem: read_found(effects, meta, adjusted.get(meta.stem)) for effects, meta in pairs}
    families = read_families(arguments.families, arguments.family_records, escaped(arguments.settings.labels))
    studies = read_studies(arguments.settings.transfer, arguments.matrices, arguments.curves)
    with atomic_text(arguments.summary) as file:
        file.write(page(tables, results, families, studies, mined_lines(arguments.mined), arguments.settings))


if __name__ == "__main__":
    run(main)
