"""The drawing of docs/architecture.md: the rooms of scripts/ and which imports from which (`make architecture`).

The rooms and the imports are those that tests/workflow/test_rooms.py reads from the code. An arrow that a way through
other rooms replaces is left out.
"""

from itertools import pairwise
from pathlib import Path

from markupsafe import Markup

from tests.support.layers import GAP, breadth, centres, layered, ordered, reduced, ways
from tests.workflow.test_rooms import MODULES, ROOMS, imports, room

DRAWING = Path(__file__).parents[2] / "docs" / "architecture.svg"
BOX, PITCH, MARGIN = 30.0, 78.0, 12.0  # heights of a box and of a layer with its edges; around the drawing
BEND = 26.0  # how far an edge runs straight down before it bends
STYLE = """\
text { font: 12px sans-serif; text-anchor: middle; fill: #1a1a1a }
rect { fill: #eef3f8; stroke: #7a93ad }
path { fill: none; stroke: #7d7d7d }
"""
ARROW = Markup(
    '<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" style="fill:#7d7d7d;stroke:none"/></marker>'
)


def labels() -> dict[str, str]:
    """What stands in the box of each room that has modules: its name."""
    inhabited = {room(name) for name, path in MODULES.items() if path.name != "__init__.py"}
    return {name: name for name in ROOMS if name in inhabited}


def edges() -> list[tuple[str, str]]:
    """The pairs of rooms of which the first imports from the second."""
    pairs = {(room(name), room(other)) for name in MODULES for other in imports()[name] if other in MODULES}
    return sorted((importer, imported) for importer, imported in pairs if importer != imported)


def draw() -> str:
    """The drawing: rooms above those that they import from."""
    label = labels()
    kept = reduced((label[a], label[b]) for a, b in edges() if a in label and b in label)
    rows = layered(label.values(), kept)
    paths = ways(kept, rows)
    rows = ordered(rows, paths)
    width = max(sum(map(breadth, row)) + GAP * (len(row) - 1) for row in rows) + 2 * MARGIN
    height = PITCH * (len(rows) - 1) + BOX + 2 * MARGIN
    spots = {
        node: (width / 2 + x, MARGIN + PITCH * layer)
        for layer, row in enumerate(rows)
        for node, x in zip(row, centres(row), strict=True)
    }
    parts = []
    for path in paths:
        x, y = spots[path[0]]
        line = f"M{x:.1f} {y + BOX:.1f}"
        for first, second in pairwise(path):
            (x, y), (next_x, next_y) = spots[first], spots[second]
            line += f"C{x:.1f} {y + BOX + BEND:.1f} {next_x:.1f} {next_y - BEND:.1f} {next_x:.1f} {next_y:.1f}"
            if not isinstance(second, str):  # the edge passes this layer
                line += f"V{next_y + BOX:.1f}"
        parts.append(Markup('<path d="{}" marker-end="url(#arrow)"/>').format(line))
    box = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" rx="5"/><text x="{:.1f}" y="{:.1f}">{}</text>')
    for name in label.values():
        x, y = spots[name]
        parts.append(box.format(x - breadth(name) / 2, y, breadth(name), BOX, x, y + 19, name))
    start = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}">'
    )
    title = Markup("<title>The rooms of ranktrial/ and scripts/: an arrow leads to what a room imports from</title>")
    background = Markup('<rect width="100%" height="100%" style="fill:white;stroke:none"/>')
    head = [
        start.format(width, height),
        title,
        Markup(f"<style>{STYLE}</style>"),
        Markup("<defs>{}</defs>").format(ARROW),
    ]
    return "\n".join([*head, background, *parts, "</svg>", ""])


if __name__ == "__main__":
    DRAWING.write_text(draw(), encoding="utf-8")
