"""What the report says, as plain data: comparisons in sections, with their questions, answers and figures.

Reads and writes nothing; labels are plain text here, and the template escapes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from markupsafe import Markup

from scripts.reports.comparison.forest_data import Forest
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.reading import Found, Labels, forest
from scripts.reports.comparison.sentence import sentence
from scripts.reports.comparison.table import as_table
from scripts.reports.figures.forest import forest_plot
from scripts.reports.page.svg import inline, svg_of
from scripts.reports.page.tables import Table, comparison_table

FOLDED = 8  # comparisons; an experiment with more shows them folded


@dataclass(frozen=True)
class Picture:
    """A forest plot twice: as the experiment's figure, and narrow, for a phone."""

    wide: Markup
    narrow: Markup
    caption: str


@dataclass(frozen=True)
class Shown:
    """A comparison as the page shows it. `answer` is one of the words that `answer` gives."""

    name: str
    anchor: str
    question: str
    answer: str
    kind: str
    sentence: str
    warnings: list[str]
    table: Table
    picture: Picture


@dataclass(frozen=True)
class Section:
    """Comparisons that are drawn together, with their common figure; or one comparison, whose own figure serves."""

    name: str
    anchor: str
    title: str
    heading: str
    members: list[Shown]
    picture: Picture


def anchor(prefix: str, place: int, name: str) -> str:
    """An id for a part of the page: unique through `place`, readable through `name`."""
    return f"{prefix}{place}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}".strip("-")


def question(plot: Forest) -> str:
    """What a comparison asks."""
    treatment = plot.groups[0].treatment
    return plot.effect.QUESTION.format(treatment=treatment, control=plot.control, measure=plot.measure)


def answer(plot: Forest) -> tuple[str, str]:
    """What its summary says in a word or two, and which kind of answer that is: better, worse, open."""
    summary = plot.groups[0].summary
    if summary is None:
        return "cannot be said", "open"
    if summary.ci_low == summary.ci_high:
        return "cannot be said", "open"
    if summary.ci_low <= 0 <= summary.ci_high:
        return "may be chance", "open"
    if not summary.beyond_chance(plot.alpha):
        return f"may be chance, as one of {summary.family}", "open"
    above, below = plot.effect.ANSWERS
    return (above, "better") if summary.effect > 0 else (below, "worse")


def caption(plot: Forest, hedges: bool) -> str:
    """How to read a forest plot: what is what in it. `hedges`: corrected for small samples."""
    percent = f"{100 * (1 - plot.alpha):g}%"
    square = plot.effect.caption(plot.measure, hedges)
    text = f"Each row is a task: the square is the {square}, its area the task's weight, the line its {percent} "
    text += "confidence interval. The diamond is the summary effect and spans its interval"
    if any(group.summary and group.summary.prediction_interval for group in plot.groups):
        text += "; the bar below it is the prediction interval, where the effect in a new collection is expected"
    return f"{text}."


def picture(figure: str, comparisons: list[Found], looks: Looks, labels: Labels, name: str) -> Picture:
    """The figure of one comparison or of several; `figure` is the SVG that the experiment drew of them."""
    plot = forest(comparisons, replace(looks, title="", width="single column"), labels)
    treatments = ", ".join(group.treatment for group in plot.groups)
    label = f"Forest plot of {treatments} against {plot.control}. The table below it holds its numbers."
    narrow = inline(svg_of(forest_plot(plot)), f"{name}-narrow", label)
    return Picture(inline(figure, name, label), narrow, caption(plot, comparisons[0].meta["hedges"]))


def shown(name: str, place: int, comparison: Found, looks: Looks, labels: Labels, figure: str) -> Shown:
    """One comparison."""
    plot = as_table(comparison, looks, labels)
    words, kind = answer(plot)
    own = anchor("c", place, name)
    return Shown(
        name=name,
        anchor=own,
        question=question(plot),
        answer=words,
        kind=kind,
        sentence=sentence(comparison.meta, plot, labels),
        warnings=comparison.meta["warnings"],
        table=comparison_table(name, comparison, plot),
        picture=picture(figure, [comparison], looks, labels, own),
    )


def sections(
    comparisons: dict[str, Found],
    looks: dict[str, Looks],
    together: dict[str, list[str]],
    labels: Labels,
    figures: dict[str, str],
) -> list[Section]:
    """All comparisons in the configuration's order; `figures` are the SVGs by name.

    `together` names figures and the comparisons that each of them shows.
    """
    single = {
        name: shown(name, place, comparison, looks[name], labels, figures[name])
        for place, (name, comparison) in enumerate(comparisons.items(), 1)
    }
    groups = {(members[0], *members): name for name, members in together.items()}
    heads = {key[0]: (name, list(key[1:])) for key, name in groups.items()}
    drawn = {member for _, members in heads.values() for member in members}
    made = []
    for name in comparisons:
        if name in heads and len(heads[name][1]) > 1:
            title, members = heads[name]
            control = labels.system(comparisons[name].meta["control"])
            own = anchor("s", len(made) + 1, title)
            several = picture(figures[title], [comparisons[member] for member in members], looks[name], labels, own)
            heading = f"{len(members)} systems against {control}"
            made.append(Section(title, own, heading, heading, [single[member] for member in members], several))
        elif name not in drawn or name in heads:
            meta = comparisons[name].meta
            heading = f"{labels.system(meta['treatment'])} against {labels.system(meta['control'])}"
            own, alone = anchor("s", len(made) + 1, name), single[name]
            made.append(Section(name, own, heading, alone.question, [alone], alone.picture))
    titles = [part.title for part in made]
    return [
        part if titles.count(part.title) == 1 else replace(part, title=f"{part.title}: {part.name}") for part in made
    ]
