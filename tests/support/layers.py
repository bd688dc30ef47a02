"""A layered layout of a graph without circles; reads and writes nothing.

A node's layer is its longest way to the end. A long edge has a place of its own in each layer that it passes. A layer
is ordered by the means of its nodes' neighbours. Sugiyama, Tagawa and Toda (1981), Methods for visual understanding of
hierarchical system structures.
"""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

SIGN, PAD, GAP, THROUGH = 6.7, 16.0, 16.0, 10.0  # of a box: a sign's width, what is beside it; and of a passing edge
SWEEPS = 12

Node = str | tuple[str, str, int]  # a node, or where the edge between two nodes passes a layer


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
