"""Forest plots: the effects of one control against one or several treatments over the tasks, and their summaries.

Reads nothing; `save` writes a figure as SVG, PDF and PNG. The figure is drawn in points on one blank axes, with the
places that forest_layout measures, so that what is drawn is exact: a square's area is in proportion to its weight and
a diamond's ends are those of its interval. Lewis and Clarke (2001), Forest plots: trying to see the wood and the trees.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_path
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison import plot_text
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.reports.comparison.plot_text import Line, lines_of, notes
from ranktrial.reports.figures.fonts import missing_glyphs_reported_once, use_further_fonts, width, wrap
from ranktrial.reports.figures.forest_layout import LEADING, MARGIN, PITCH, Layout, layout
from ranktrial.reports.figures.marks import INK, draw_line, draw_reference, rule, text, text_down

UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}  # the metadata of each format
STYLE = {
    "text.usetex": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "ranktrial",  # the same figure is the same bytes
    "pdf.fonttype": 42,  # TrueType, embedded
    "pdf.compression": 6,
}


def forest_plot(forest: Forest) -> Figure:
    """Draw a forest plot at its final size; its height follows the number of tasks, unless it is given.

    Raises UserError for a height that is too low for the lines.
    """
    figure, place = _drawn(forest)
    if forest.height is None:
        return figure
    closest = PITCH[1] * place.size
    lowest, higher = (_drawn(forest, pitch)[0].get_figheight() for pitch in (closest, 2 * closest))
    if forest.height < lowest:
        problem = f"{forest.height:g} inches are too few for all lines, which need at least {lowest:.2f}"
        raise UserError(f"figure.height: {problem}")
    return _drawn(forest, closest * (1 + (forest.height - lowest) / (higher - lowest)))[0]


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
            draw_reference(ax, place, held, margin.margin if margin else None, not forest.of_treatments)
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


def drawn_page(width_in_points: float, draw: Callable[[Axes], float]) -> Figure:
    """A page drawn in points with y downwards, as high as it needs: `draw` gives its height."""
    with matplotlib.rc_context(STYLE):
        figure = Figure()
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set_axis_off()
        height = draw(ax)
        ax.set(xlim=(0, width_in_points), ylim=(height, 0))
        figure.set_size_inches(width_in_points / 72, height / 72)
    return figure


def shows_p(forest: Forest, place: Layout) -> bool:
    """Whether the p-values of tasks are in the figure."""
    return not forest.of_treatments and ("p" in place.columns or (forest.single and forest.shows("p")))


def noted(forest: Forest) -> list[str]:
    """The notes of a forest plot as it is drawn."""
    numbers = form.numbers(forest)
    return notes(forest, shows_p(forest, layout(forest, lines_of(forest, numbers), numbers)))


def save(figure: Figure, *paths: Path) -> None:
    """Write the figure in the formats of the paths (PNG: 300 dpi), each whole or not at all and without a date."""
    use_further_fonts(figure, paths[0].stem)
    with matplotlib.rc_context(STYLE), missing_glyphs_reported_once():
        for path in paths:
            with atomic_path(path) as temporary:
                figure.savefig(temporary, dpi=300, metadata=UNDATED[path.suffix])


def as_svg(figure: Figure, name: str) -> str:
    """A figure as SVG, as `save` would write it."""
    use_further_fonts(figure, name)
    file = io.StringIO()
    with matplotlib.rc_context(STYLE), missing_glyphs_reported_once():
        figure.savefig(file, format="svg", metadata=UNDATED[".svg"])
    return file.getvalue()


def _head(ax: Axes, forest: Forest, place: Layout) -> float:
    """Draw the title and the headings of the columns; return where the lines begin."""
    size, y = place.size, MARGIN
    if forest.title:
        y = draw_title(ax, forest.title, place.page, size, 1.3, y) + 0.3 * size
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
    for line in wrap(plot_text.axis_label(forest, numbers), place.page - 2 * MARGIN, size):
        half = width(line, size) / 2
        centre = min(max(middle, MARGIN + half), place.page - MARGIN - half)
        text(ax, centre, y, line, size, ha="center")
        y += LEADING * size
    return y


def _notes(ax: Axes, forest: Forest, place: Layout, y: float) -> float:
    """Draw the notes at the foot, unless they are in a caption; return where they end."""
    size = place.size
    y += 0.5 * size
    said = notes(forest, shows_p(forest, place)) if forest.notes == "figure" else []
    return draw_notes(ax, said, place.page, size, LEADING, y)


def draw_title(ax: Axes, title: str, page: float, size: float, leading: float, y: float) -> float:
    """Draw a title, if there is one, in the lines that it needs; return where they end."""
    for line in wrap(title, page - 2 * MARGIN, size + 1, "bold") if title else []:
        text(ax, MARGIN, y + 0.7 * size, line, size + 1, weight="bold")
        y += leading * (size + 1)
    return y


def draw_notes(ax: Axes, notes: Sequence[str], page: float, size: float, leading: float, y: float) -> float:
    """Draw notes at the foot of a page; return where they end."""
    lines = [line for note in notes for line in wrap(note, page - 2 * MARGIN, size)]
    return text_down(ax, MARGIN, y, lines, size, leading * size) - 0.6 * size
