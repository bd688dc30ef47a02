"""Forest plots: the effects of one control against one or several treatments over the tasks, and their summaries.

Reads nothing; `save` writes a figure as SVG, PDF and PNG. The figure is drawn in points on one blank axes, with the
places that forest_layout measures, so that what is drawn is exact: a square's area is in proportion to its weight and
a diamond's ends are those of its interval. Lewis and Clarke (2001), Forest plots: trying to see the wood and the trees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ranktrial.common.errors import UserError
from ranktrial.common.tables import COMPARISONS, read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.comparison import ComparisonRow, rows_of
from ranktrial.records.facts import Facts
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.notes import caption, notes
from ranktrial.reports.comparison.plot_text import Line, axis_label, lines_of
from ranktrial.reports.comparison.reading import Forest, Found, Looks, read_found
from ranktrial.reports.figures.fonts import width, wrap
from ranktrial.reports.figures.forest_layout import LEADING, MARGIN, PITCH, Layout, common_limits, layout
from ranktrial.reports.figures.marks import INK, draw_line, draw_reference, rule, text
from ranktrial.reports.figures.page import draw_notes, draw_title, drawn_page
from ranktrial.reports.writing.content import listed

Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class Settings(Looks, Typeset):
    """How the figure shows its comparisons, and what is known of them."""

    facts: Facts


def found(
    effects: list[Path], meta: list[Path], family: dict[str, ComparisonRow], moderators: Sequence[Path] = ()
) -> tuple[Found, ...]:
    """The results of comparisons from their files, both in one order, and their places among all comparisons."""
    of_moderators = {path.stem: path for path in moderators}
    return tuple(
        read_found(rows, one, family.get(one.stem), of_moderators.get(one.stem))
        for rows, one in zip(effects, meta, strict=True)
    )


def plotted(
    effects: list[Path],
    meta: list[Path],
    moderators: list[Path],
    comparisons: list[Path],
    axis_effects: list[Path],
    axis_meta: list[Path],
    settings: Settings,
) -> Forest:
    """A forest plot of one comparison, or of several with the same control.

    Reads effects/{comparison}.tsv and meta/{comparison}.json of each, in order, and those of the comparisons with which
    it has its axis in common, if any; tables/comparisons.tsv where p-values are corrected for their number;
    moderators/{comparison}.json of one whose tasks are in subgroups.
    """
    table = rows_of(ComparisonRow, read_table(comparisons[0], *COMPARISONS)) if comparisons else []
    family = {row.comparison: row for row in table}
    plot = Forest(found(effects, meta, family, moderators), settings, settings.facts)
    if not axis_effects:
        return plot
    return replace(plot, axis=common_limits(found(axis_effects, axis_meta, {}), settings, settings.facts))


def of_files(made: Callable[[Forest], Made]) -> Callable[..., Made]:
    """A function of a forest plot as one of the files and settings that `plotted` takes."""

    @wraps(plotted)
    def from_files(**given: Any) -> Made:
        return made(plotted(**given))

    return from_files


def forest_plot(forest: Forest) -> Figure:
    """Draw a forest plot at its final size; its height follows the number of tasks, unless it is given.

    Raises UserError for a height that is too low for the lines.
    """
    figure, place = _drawn(forest)
    if forest.looks.height is None:
        return figure
    closest = PITCH[1] * place.size
    lowest, higher = (_drawn(forest, pitch)[0].get_figheight() for pitch in (closest, 2 * closest))
    if forest.looks.height < lowest:
        problem = f"{forest.looks.height:g} inches are too few for all lines, which need at least {lowest:.2f}"
        raise UserError(f"figure.height: {problem}")
    return _drawn(forest, closest * (1 + (forest.looks.height - lowest) / (higher - lowest)))[0]


def _drawn(forest: Forest, pitch: float | None = None) -> tuple[Figure, Layout]:
    """The figure with this pitch of its lines, or with that which its layout chooses."""
    numbers = form.numbers(forest)
    lines = lines_of(forest, numbers)
    place = layout(forest, lines, numbers, pitch)
    size = place.size

    def draw(ax: Axes) -> float:
        top = _head(ax, forest, place)
        for line in lines:
            line.y += top
        bottom = lines[-1].y + place.height(lines[-1]) / 2
        for of_group in _panels(forest, lines):
            margin = forest.groups[of_group[0].group].margin
            held = [line for line in of_group if line.kind != "heading" and not place.crosses(line)]
            draw_reference(ax, place, held, margin, not forest.of_treatments)
        largest_weight = max((line.weight or 0) for line in lines)
        for number, line in enumerate(lines):
            draw_line(ax, place, line, number, largest_weight)
        y = _axis(ax, forest, place, numbers, bottom + 0.3 * size)
        return _notes(ax, forest, place, y) + MARGIN

    return drawn_page(place.page, draw), place


def _panels(forest: Forest, lines: list[Line]) -> list[list[Line]]:
    """The lines that a line of no effect runs through: those of a treatment, or all where each row is a treatment."""
    if forest.of_treatments:
        return [lines]
    return [[line for line in lines if line.group == number] for number in range(len(forest.groups))]


def shows_p(forest: Forest, place: Layout) -> bool:
    """Whether the p-values of tasks are in the figure."""
    return not forest.of_treatments and ("p" in place.columns or (forest.single and forest.shows("p")))


def noted(forest: Forest) -> list[str]:
    """The notes of a forest plot as it is drawn."""
    numbers = form.numbers(forest)
    return notes(forest, shows_p(forest, layout(forest, lines_of(forest, numbers), numbers)))


def captioned(forest: Forest) -> list[str]:
    """The caption of a forest plot whose notes are not in it: title, an explanation of its marks, and its notes."""
    treatments = listed([group.treatment for group in forest.groups])
    title = f"{forest.looks.title or f'{treatments} against {forest.control}, {forest.measure}'}."
    return [said.replace("\N{NO-BREAK SPACE}", " ") for said in (title, caption(forest), *noted(forest))]


def _head(ax: Axes, forest: Forest, place: Layout) -> float:
    """Draw the title and the headings of the columns; return where the lines begin."""
    size, y = place.size, MARGIN
    if forest.looks.title:
        y = draw_title(ax, forest.looks.title, place.page, size, 1.3, y) + 0.3 * size
    paired = [place.columns[name] for name in ("means", "judged") if name in place.columns]
    rows = max((len(column.heading) for column in place.columns.values()), default=1)
    above = max((len(column.heading) for column in paired), default=0)  # where "control → treatment" stands
    last = y + 0.7 * size + max((rows - 1) * LEADING, above * LEADING + 0.3 if paired else 0) * size
    if paired:
        left, right = paired[0].left, paired[-1].left + paired[-1].width
        label = f"{forest.control} → {forest.groups[0].treatment}"
        if len(forest.groups) > 1 or width(label, size) > right - left:
            label = "control → treatment"
        y = last - above * LEADING * size
        text(ax, (left + right) / 2, y - 0.3 * size, label, size, ha="center")
        rule(ax, left, right, y + 0.35 * size, 0.4)
    text(ax, MARGIN, last, "Treatment" if forest.of_treatments else "Task", size, weight="bold")
    for name, column in place.columns.items():
        for position, line in enumerate(reversed(column.heading)):
            style = "italic" if name in ("n", "p") else "normal"
            y = last - position * LEADING * size
            text(ax, column.centre, y, line, size, ha="center", weight="bold", style=style)
    y = last + 0.9 * size
    rule(ax, MARGIN, place.page - MARGIN, y, 0.8)
    return y + 0.3 * size


def _axis(ax: Axes, forest: Forest, place: Layout, numbers: form.Numbers, y: float) -> float:
    """Draw the axis below the lines, its label, and whom each side favours; return where they end."""
    size = place.size
    rule(ax, place.left, place.right, y, 0.6)
    for value, label in place.ticks:
        ax.plot([place.x(value)] * 2, [y, y + 2.5], color=INK, linewidth=0.6, solid_capstyle="butt")
        text(ax, place.x(value), y + 3.5 + 0.6 * size, label, size, ha="center")
    y += 3.5 + 2.0 * size
    zero, gap = place.x(0), 0.5 * size
    sides = []
    if forest.effect.HAS_DIFFERENCE:
        treatment = forest.groups[0].treatment if len(forest.groups) == 1 else "treatment"
        below, above = (treatment, forest.control) if forest.lower_is_better else (forest.control, treatment)
        below, above = f"←\N{NO-BREAK SPACE}favours {below}", f"favours {above}\N{NO-BREAK SPACE}→"
        sides = [
            ("right", zero - gap, wrap(below, zero - gap - MARGIN, size)),
            ("left", zero + gap, wrap(above, place.page - MARGIN - zero - gap, size)),
        ]
    for ha, x, lines in sides:
        for position, line in enumerate(lines):
            text(ax, x, y + position * LEADING * size, line, size, ha=ha)
    y += max((len(lines) for _, _, lines in sides), default=0) * LEADING * size + 0.2 * size
    middle = (place.left + place.right) / 2
    for line in wrap(axis_label(forest, numbers), place.page - 2 * MARGIN, size):
        half = width(line, size) / 2
        centre = min(max(middle, MARGIN + half), place.page - MARGIN - half)
        text(ax, centre, y, line, size, ha="center")
        y += LEADING * size
    return y


def _notes(ax: Axes, forest: Forest, place: Layout, y: float) -> float:
    """Draw the notes at the foot, unless they are in a caption; return where they end."""
    size = place.size
    y += 0.5 * size
    said = notes(forest, shows_p(forest, place)) if forest.looks.notes == "figure" else []
    return draw_notes(ax, said, place.page, size, LEADING, y)


draw, in_words = of_files(forest_plot), of_files(captioned)
