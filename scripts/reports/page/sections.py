"""What the report says, as plain data: comparisons in sections, with their questions, answers and figures.

Reads and writes nothing; labels are plain text here, and the template escapes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from markupsafe import Markup

from scripts.experiment.figure_checks import INFLUENCE, QUERIES
from scripts.reports.comparison.forest_data import Forest
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.moderation import between_groups, plain, statement
from scripts.reports.comparison.reading import Found, Labels, forest
from scripts.reports.comparison.sentence import Answer, answers, remarks
from scripts.reports.comparison.table import as_table
from scripts.reports.figures.forest import forest_plot
from scripts.reports.figures.forest_axis import common_limits
from scripts.reports.page.svg import inline, svg_of
from scripts.reports.page.tables import Table, comparison_table, moderators_table

FURTHER = {  # beginning of a figure's name -> what it shows, and where its numbers stand
    INFLUENCE: ("Influence of each task", "The table of influence holds its numbers."),
    QUERIES: ("Differences of all queries", "The table of queries holds how many each system wins."),
}
FOLDED = 8  # comparisons; an experiment with more shows them folded


@dataclass(frozen=True)
class Picture:
    """A forest plot twice: as the experiment's figure, and narrow, for a phone."""

    wide: Markup
    narrow: Markup
    caption: str


@dataclass(frozen=True)
class Moderation:
    """What explains the differences between a comparison's tasks: sentences, coefficients and bubble plots by name."""

    statements: list[str]
    table: Table | None
    bubbles: list[tuple[str, Markup]]


@dataclass(frozen=True)
class Drawn:
    """How a forest plot looks, and the comparisons with which it has its axis in common, if any."""

    looks: Looks
    on_axis: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Further:
    """A further figure of a comparison and what it shows."""

    title: str
    drawing: Markup


@dataclass(frozen=True)
class Shown:
    """A comparison as the page shows it: its answers by scope, and what qualifies them."""

    name: str
    anchor: str
    question: str
    answers: list[Answer]
    remarks: list[str]
    warnings: list[str]
    table: Table
    picture: Picture
    further: list[Further]
    moderation: Moderation | None = None


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


def caption(plot: Forest, hedges: bool) -> str:
    """How to read a forest plot: what is what in it. `hedges`: corrected for small samples."""
    percent = f"{100 * (1 - plot.alpha):g}%"
    square = plot.effect.caption(plot.measure, hedges)
    text = f"Each row is a task: the square is the {square}, its area the task's weight, the line its {percent} "
    text += "confidence interval. "
    if any(group.heterogeneity for group in plot.groups):
        text += (
            "The hollow diamond is the mean on these collections, the filled one the mean over collections like these "
        )
        text += "(random effects); each spans its interval"
    else:
        text += "The diamond is the effect of the only task and spans its interval"
    if any(group.summary and group.summary.prediction_interval for group in plot.groups):
        text += "; the bar below it is the prediction interval, where the effect in a new collection is expected"
    if any(group.fixed for group in plot.groups):
        text += "; the diamond below is the fixed-effect summary"
    if any(group.posterior for group in plot.groups):
        text += "; the pale diamond is the Bayesian summary with its credible interval"
    return f"{text}."


def picture(
    figure: str, comparisons: list[Found], looks: Looks, labels: Labels, name: str, on_axis: Sequence[Found] = ()
) -> Picture:
    """The figure of one comparison or of several; `figure` is the SVG that the experiment drew of them.

    `on_axis`: the comparisons with which it has its axis in common, if any.
    """
    plot = forest(comparisons, replace(looks, title="", width="single column"), labels)
    if on_axis:
        plot = replace(plot, limits=common_limits(on_axis, looks, labels))
    treatments = ", ".join(group.treatment for group in plot.groups)
    label = f"Forest plot of {treatments} against {plot.control}. The table below it holds its numbers."
    narrow = inline(svg_of(forest_plot(plot)), f"{name}-narrow", label)
    return Picture(inline(figure, name, label), narrow, caption(plot, comparisons[0].meta["hedges"]))


def moderation(name: str, comparison: Found, bubbles: dict[str, str], own: str) -> Moderation | None:
    """What the record of a comparison's moderators says, if any; `bubbles` are its bubble plots' SVGs by name."""
    if (record := comparison.moderation) is None:
        return None
    statements = [plain(statement(model, record["alpha"])) for model in record["models"]]
    statements += [plain(between_groups(record))] if "subgroups" in record else []
    drawings = [
        (figure, inline(svg, f"{own}-bubble{place}", f"Bubble plot {figure}. The table holds its numbers."))
        for place, (figure, svg) in enumerate(bubbles.items(), 1)
    ]
    return Moderation(statements, moderators_table(name, record) if record["models"] else None, drawings)


def shown(
    name: str, anchor: str, comparison: Found, looks: Looks, labels: Labels, drawn: Picture, further: list[Further]
) -> Shown:
    """One comparison, with its figure and what else is drawn of it."""
    plot = as_table(comparison, looks, labels)
    return Shown(
        name=name,
        anchor=anchor,
        question=question(plot),
        answers=answers(comparison.meta, plot),
        remarks=remarks(comparison.meta, plot),
        warnings=comparison.meta["warnings"],
        table=comparison_table(name, comparison, plot),
        picture=drawn,
        further=further,
    )


def further_figures(name: str, prefix: str, figures: dict[str, str]) -> list[Further]:
    """The figures of a comparison beside its forest plot that the experiment drew."""
    return [
        Further(title, inline(figures[kind + name], f"{prefix}-{kind.strip('-')}", f"{title} of {name}. {where}"))
        for kind, (title, where) in FURTHER.items()
        if kind + name in figures
    ]


def sections(
    comparisons: dict[str, Found],
    looks: dict[str, Looks],
    together: dict[str, list[str]],
    labels: Labels,
    figures: dict[str, str],
    drawn_as: dict[str, Drawn] | None = None,
    moderated: Mapping[str, list[str]] = MappingProxyType({}),
) -> list[Section]:
    """All comparisons in the configuration's order; `figures` are the SVGs by name.

    `together` names figures and the comparisons that each of them shows; `drawn_as` says how the forest plots look
    where that is not as in the tables; `moderated` are the names of bubble plots by comparison.
    """

    def figure_of(name: str, members: list[str], prefix: str) -> Picture:
        how = (drawn_as or {}).get(name) or Drawn(looks[members[0]])
        found, on_axis = ([comparisons[member] for member in names] for names in (members, how.on_axis))
        return picture(figures[name], found, how.looks, labels, prefix, on_axis)

    single = {}
    for place, (name, comparison) in enumerate(comparisons.items(), 1):
        own = anchor("c", place, name)
        drawings = figure_of(name, [name], own), further_figures(name, own, figures)
        bubbles = {bubble: figures[bubble] for bubble in moderated.get(name, [])}
        one = shown(name, own, comparison, looks[name], labels, *drawings)
        single[name] = replace(one, moderation=moderation(name, comparison, bubbles, own))
    groups = {(members[0], *members): name for name, members in together.items()}
    heads = {key[0]: (name, list(key[1:])) for key, name in groups.items()}
    drawn = {member for _, members in heads.values() for member in members}
    made = []
    for name in comparisons:
        if name in heads and len(heads[name][1]) > 1:
            title, members = heads[name]
            control = labels.system(comparisons[name].meta["control"])
            own = anchor("s", len(made) + 1, title)
            several = figure_of(title, members, own)
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
