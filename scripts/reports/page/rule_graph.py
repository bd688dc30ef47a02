"""The rules of a workflow and what feeds what, as a layered drawing; reads and writes nothing.

A node's layer is its longest way to the end. A long edge has a place of its own in each layer that it passes. A layer
is ordered by the means of its nodes' neighbours. Sugiyama, Tagawa and Toda (1981), Methods for visual understanding of
hierarchical system structures.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from markupsafe import Markup

SIGN, PAD, GAP, THROUGH = 6.7, 16.0, 16.0, 10.0  # of a box: a sign's width, what is beside it; and of a passing edge
BOX, PITCH, MARGIN = 36.0, 64.0, 4.0  # heights of a box and of a layer with its edges; around the drawing
SWEEPS = 12

Node = str | tuple[str, str, int]  # a rule, or where the edge between two rules passes a layer


def without_circles(edges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges in their order, less those that would close a circle with earlier ones (such as an edge to itself)."""
    after: dict[str, set[str]] = {}

    def leads(start: str, end: str) -> bool:
        seen, todo = set(), [start]
        while todo:
            node = todo.pop()
            if node == end:
                return True
            if node not in seen:
                seen.add(node)
                todo += after.get(node, ())
        return False

    acyclic = []
    for before, then in edges:
        if not leads(then, before):
            after.setdefault(before, set()).add(then)
            acyclic.append((before, then))
    return acyclic


def reduced(edges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges without those that a longer way replaces (the transitive reduction of a graph without circles)."""
    after: dict[str, set[str]] = {}
    for before, then in edges:
        after.setdefault(before, set()).add(then)

    @cache
    def reached(node: str) -> frozenset[str]:
        return frozenset().union(*({then} | reached(then) for then in after.get(node, ())))

    return sorted(
        (before, then)
        for before, nexts in after.items()
        for then in nexts
        if not any(then in reached(between) for between in nexts if between != then)
    )


def layered(names: Iterable[str], edges: list[tuple[str, str]]) -> list[list[Node]]:
    """The nodes by layer, first layer first; edges over several layers have a node in each of those between."""
    after: dict[str, list[str]] = {}
    for before, then in edges:
        after.setdefault(before, []).append(then)

    @cache
    def height(node: str) -> int:
        return max((height(then) + 1 for then in after.get(node, ())), default=0)

    names = list(names)
    top = max(map(height, names), default=0)
    rows: list[list[Node]] = [[] for _ in range(top + 1)]
    for name in names:
        rows[top - height(name)].append(name)
    for before, then in edges:
        for passed in range(height(then) + 1, height(before)):
            rows[top - passed].append((before, then, passed))
    return rows


def ways(edges: list[tuple[str, str]], rows: list[list[Node]]) -> list[list[Node]]:
    """Each edge as the nodes that it passes, one per layer."""
    place = {node: index for index, row in enumerate(rows) for node in row}
    top = len(rows) - 1
    return [[a, *((a, b, top - i) for i in range(place[a] + 1, place[b])), b] for a, b in edges]


def ordered(rows: list[list[Node]], paths: list[list[Node]]) -> list[list[Node]]:
    """The layers, each in the order of the mean places of its neighbours, swept up and down."""
    before: dict[Node, list[Node]] = {}
    after: dict[Node, list[Node]] = {}
    for path in paths:
        for first, second in pairwise(path):
            before.setdefault(second, []).append(first)
            after.setdefault(first, []).append(second)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        x = {node: place for row in rows for node, place in zip(row, centres(row), strict=True)}
        for row in rows if down else rows[::-1]:
            near = before if down else after
            mean = {n: sum(x[m] for m in near[n]) / len(near[n]) if near.get(n) else x[n] for n in row}
            row.sort(key=lambda node: (mean[node], str(node)))
            x |= dict(zip(row, centres(row), strict=True))
    return rows


def breadth(node: Node) -> float:
    """The width of a node: of its box, or of an edge that passes."""
    return PAD + SIGN * len(node) if isinstance(node, str) else THROUGH


def centres(row: list[Node]) -> list[float]:
    """Where the nodes of a layer stand, the layer centred on 0."""
    whole = sum(map(breadth, row)) + GAP * (len(row) - 1)
    places, x = [], -whole / 2
    for node in row:
        places.append(x + breadth(node) / 2)
        x += breadth(node) + GAP
    return places


def draw(jobs: dict[str, int], edges: Iterable[tuple[str, str]]) -> Markup:
    """The rules with their numbers of jobs, and an arrow from each to those that take what it makes.

    Where rules take from each other in a circle, the edges that come later close it and are left out.
    """
    drawn_edges = reduced(without_circles(edges))
    rows = layered(jobs, drawn_edges)
    paths = ways(drawn_edges, rows)
    rows = ordered(rows, paths)
    half = max(sum(map(breadth, row)) / 2 + GAP * (len(row) - 1) / 2 for row in rows) + MARGIN
    spot = {
        node: (half + x, MARGIN + index * PITCH)
        for index, row in enumerate(rows)
        for node, x in zip(row, centres(row), strict=True)
    }
    parts = []
    for path in paths:
        d = f"M{spot[path[0]][0]:.1f} {spot[path[0]][1] + BOX:.1f}"
        for first, second in pairwise(path):
            (x, y), (then_x, then_y) = spot[first], spot[second]
            d += f"C{x:.1f} {y + BOX + 16:.1f} {then_x:.1f} {then_y - 16:.1f} {then_x:.1f} {then_y:.1f}"
            d += f"V{then_y + BOX:.1f}" if not isinstance(second, str) else ""
        parts.append(Markup('<path class="edge" d="{}"/>').format(d))
    box = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" rx="5"/>')
    words = Markup('<text x="{:.1f}" y="{:.1f}">{}</text><text class="count" x="{:.1f}" y="{:.1f}">{}</text>')
    for name, count in sorted(jobs.items()):
        x, y = spot[name]
        parts.append(box.format(x - breadth(name) / 2, y, breadth(name), BOX))
        counted = "1 job" if count == 1 else f"{count:,} jobs"
        parts.append(words.format(x, y + 15, name, x, y + 29, counted))
    size = f"0 0 {2 * half:.0f} {MARGIN * 2 + PITCH * (len(rows) - 1) + BOX:.0f}"
    label = f"The workflow as a graph: {len(jobs)} rules, {sum(jobs.values())} jobs"
    start = Markup('<svg class="graph" role="img" aria-label="{}" viewBox="{}" style="width:{:.0f}px">')
    return start.format(label, size, 2 * half) + Markup("").join(parts) + Markup("</svg>")
