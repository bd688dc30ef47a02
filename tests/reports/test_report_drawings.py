"""The drawings of the report: figures that share a page, charts, learning curves, the graph of rules."""

import re
import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest

from scripts.reports.comparison.reading import Labels
from scripts.reports.page.curves import SizeGroup, loss_curves, size_curves, thinned
from scripts.reports.page.line_chart import Line, chart, ticks
from scripts.reports.page.rule_graph import draw, layered, reduced, without_circles
from scripts.reports.page.svg import inline

SVG = """<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="5pt" height="4pt" viewBox="0 0 5 4">
<metadata>http://example.org</metadata><defs><style>*{stroke-linejoin: round}</style></defs>
<g id="patch_1"><path d="M 0 0" style="fill: #ffffff"/></g>
<!-- one --><g id="unused" clip-path="url(#p1)"><text style="font-family: 'DejaVu Sans'">x</text></g>
<use xlink:href="#m1"/><defs><clipPath id="p1"/><path id="m1"/></defs></svg>"""


def test_figures_share_a_page_without_sharing_ids_and_style():
    first, second = (str(inline(SVG, prefix, "a < b")) for prefix in ("f1", "f2"))
    ids = [set(re.findall(r' id="([^"]+)"', one)) for one in (first, second)]
    assert ids == [{"f1-p1", "f1-m1"}, {"f2-p1", "f2-m1"}]
    assert "url(#f1-p1)" in first and 'href="#f1-m1"' in first
    assert 'aria-label="a &lt; b"' in first and 'viewBox="0 0 5 4"' in first
    for gone in ("http", "style>", "<!--", "#ffffff", "unused", "width="):
        assert gone not in first
    assert "'DejaVu Sans', Verdana" in first
    ElementTree.fromstring(first)


@pytest.mark.parametrize(
    "low, high, expected", [(0, 10, [0, 2, 4, 6, 8, 10]), (-0.11, 0.1, [-0.1, -0.05, 0, 0.05, 0.1]), (3, 3, [3])]
)
def test_ticks_are_round(low, high, expected):
    assert ticks(low, high) == expected


def test_a_chart_draws_every_point_in_its_frame():
    line = Line("a & b", [(32.0, 0.1), (128.0, 0.4), (512.0, 0.3)], [(0.05, 0.2), (0.3, 0.5), (0.3, 0.3)])
    svg = str(chart([line], "title", "Queries", "nDCG@10", 0.2, [32, 128, 512]))
    ElementTree.fromstring(svg)
    spots = [tuple(map(float, pair)) for pair in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)]
    assert len(spots) == 3 and spots[1][0] - spots[0][0] == pytest.approx(spots[2][0] - spots[1][0], abs=0.11)
    assert spots[0][1] > spots[2][1] > spots[1][1], "higher values stand higher"
    assert all(0 < x < 320 and 0 < y < 200 for x, y in spots)
    assert "<title>a &amp; b</title>" in svg and 'class="reference"' in svg


def test_long_lines_are_thinned_to_means():
    points = [(float(x), x % 7.0) for x in range(5000)]
    found = thinned(points, 100)
    assert len(found) == 100 and found[0] == (24.5, pytest.approx(sum(x % 7 for x in range(50)) / 50))
    assert thinned(points[:50], 100) == points[:50]


def test_losses_have_a_chart_a_recipe_and_a_line_a_seed(tmp_path):
    for name, text in {
        "m/r/seed-1": "1\t0.1\t2.5\n2\t0.2\t1.5\n", "m/r/seed-2": "1\t0.1\t2.0\n", "m/none/seed-1": "",
    }.items():  # fmt: skip
        path = tmp_path / f"models/{name}.log.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("step\tepoch\tloss\n" + text)
    curves = loss_curves(sorted(tmp_path.rglob("*.log.tsv")))
    assert [(one.title, [name for name, _ in one.legend]) for one in curves] == [("m, r", ["seed-1", "seed-2"])]


def test_size_curves_span_the_seeds_and_know_how_many_all_are(tmp_path):
    paths = []
    for system, seed, values in [
        ("few", 1, "0.2\n0.4"),
        ("few", 2, "0.6\n0.6"),
        ("full", 1, "0.7\n0.9"),
        ("raw", 0, "0.1\n0.1"),
    ]:
        path = tmp_path / f"metrics/task/{system}/seed-{seed}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("query_id\tRR\n" + "".join(f"q{n}\t{v}\n" for n, v in enumerate(values.split())))
        paths.append(path)
    datasets = pd.DataFrame({"dataset": ["d"], "split": ["train"], "queries": [640]})
    group = SizeGroup("m", {"full": "all", "few": 64}, train_on="d", untrained="raw")
    (curve,) = size_curves([group], paths, datasets, "RR", Labels({"task": "Task"}, {"raw": "Raw"}))
    assert curve.title == "Task" and curve.note == "Dashed: Raw, without training."
    svg = str(curve.drawing)
    assert ">64</text>" in svg and ">640</text>" in svg
    spots = [float(y) for y in re.findall(r'cy="([\d.]+)"', svg)]
    band = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", re.search(r'class="band c0" d="([^"]+)"', svg)[1])]
    level = float(re.search(r'class="reference" d="M[\d.]+ ([\d.]+)', svg)[1])
    scale = (level - spots[1]) / (0.8 - 0.1)  # a unit of the measure on paper
    assert spots[0] == pytest.approx(level - scale * (0.45 - 0.1), abs=0.1), "the mean of two seeds"
    assert band[0] == pytest.approx(level - scale * (0.6 - 0.1), abs=0.1), "the better seed"
    assert band[-1] == pytest.approx(level - scale * (0.3 - 0.1), abs=0.1), "the worse seed"


EDGES = [
    ("fetch", "index"),
    ("fetch", "rank"),
    ("index", "rank"),
    ("rank", "score"),
    ("fetch", "score"),
    ("weights", "rank"),
]


def test_the_graph_leaves_out_what_a_longer_way_implies():
    assert reduced(EDGES) == [("fetch", "index"), ("index", "rank"), ("rank", "score"), ("weights", "rank")]


def test_the_graph_breaks_circles_at_their_last_edge():
    back = [("score", "score"), ("score", "select"), ("select", "rank")]
    assert without_circles([*EDGES, *back]) == [*EDGES, ("score", "select")]
    assert ">1 job<" in str(draw(dict.fromkeys({"select", *(n for e in EDGES for n in e)}, 1), [*EDGES, *back]))


def test_every_rule_stands_above_what_takes_from_it_and_no_boxes_overlap():
    names = {name for edge in EDGES for name in edge}
    rows = layered(sorted(names), reduced(EDGES))
    level = {name: place for place, row in enumerate(rows) for name in row}
    assert all(level[a] < level[b] for a, b in EDGES)
    svg = str(draw(dict.fromkeys(names, 1) | {"rank": 1200}, EDGES))
    ElementTree.fromstring(svg)
    assert "1,200 jobs" in svg and ">1 job<" in svg
    boxes = [tuple(map(float, box)) for box in re.findall(r'rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', svg)]
    for place, (x, y, width) in enumerate(boxes):
        assert all(y != other_y or x + width <= other or other + other_width <= x
                   for other, other_y, other_width in boxes[place + 1 :])  # fmt: skip
    assert svg == str(draw({"rank": 1200} | dict.fromkeys(sorted(names - {"rank"}), 1), EDGES[::-1]))
