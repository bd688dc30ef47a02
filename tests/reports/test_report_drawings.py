"""The figures of the report: images that share a page, the curves of trainings."""

import base64
import re
import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest

from ranktrial.records.facts import Labels
from ranktrial.reports.contents.training import SizeGroup, losses_of, size_curves, thinned
from ranktrial.reports.figures.curves import Spot, curves_plot, losses
from ranktrial.reports.figures.page import as_svg
from ranktrial.reports.writing import html_page
from ranktrial.reports.writing.content import Figure

SVG = """<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" width="504pt" height="4pt" viewBox="0 0 5 4">
<metadata>http://example.org</metadata>
<!-- one --><text style="font-family: 'DejaVu Sans'">a
  b</text>
<use xlink:href="#m1"/><defs><path id="m1"/></defs></svg>"""


def test_figures_are_images_inside_the_page_with_what_they_show():
    page = html_page.document(
        "t", [Figure("f.svg", "Caption", "a < b"), Figure("g.svg", "Caption", "c")], {"f.svg": SVG, "g.svg": SVG}
    )
    images = re.findall(
        r'<img alt="([^"]+)" style="width:(\d+)px;min-width:(\d+)px" src="data:image/svg\+xml;base64,([^"]+)">', page
    )
    assert [image[0] for image in images] == ["a &lt; b", "c"] and images[0][1:3] == ("882", "605")
    drawn = base64.b64decode(images[0][3]).decode()
    ElementTree.fromstring(drawn)
    assert "'DejaVu Sans', Verdana" in drawn and "example.org" not in drawn and "<!--" not in drawn
    assert "example.org" not in page and ' id="m1"' not in page, "no figure's ids are in the page"


def test_long_lines_are_thinned_to_means():
    points = [(float(x), x % 7.0) for x in range(5000)]
    found = thinned(points, 100)
    assert len(found) == 100 and found[0] == (24.5, pytest.approx(sum(x % 7 for x in range(50)) / 50))
    assert thinned(points[:50], 100) == points[:50]


def test_losses_have_a_panel_a_recipe_and_a_line_a_seed(tmp_path):
    for name, text in {
        "m/r/seed-1": "1\t0.1\t2.5\n2\t0.2\t1.5\n", "m/r/seed-2": "1\t0.1\t2.0\n", "m/none/seed-1": "",
        "n/r/seed-1": "1\t0.1\t0.5\n2\t0.2\t0.4\n", "o/r/seed-1": "1\t0.1\t0.5\n2\t0.2\t0.4\n",
    }.items():  # fmt: skip
        path = tmp_path / f"models/{name}.log.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("step\tepoch\tloss\n" + text)
    lines = losses_of(sorted(tmp_path.rglob("*.log.tsv")))
    assert {title: list(seeds) for title, seeds in lines.items()} == {
        "m, r": ["seed 1", "seed 2"], "n, r": ["seed 1"], "o, r": ["seed 1"],
    }  # fmt: skip
    figure = losses(lines)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title("left") for ax in shown] == ["m, r", "n, r", "o, r"]
    assert [[list(line.get_ydata()) for line in ax.lines] for ax in shown[:1]] == [[[2.5, 1.5], [2.0]]]
    assert as_svg(figure, "x") == as_svg(losses(lines), "x"), "the same bytes"


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
    plot = size_curves([group], paths, datasets, "RR", Labels({"task": "Task"}, {"raw": "Raw"}))
    (panel,) = plot.panels
    few, full = panel.curves["m"]
    assert few == Spot(64, pytest.approx(0.45), pytest.approx(0.3), pytest.approx(0.6)) and full.queries == 640
    assert (panel.label, panel.baseline) == ("Task", pytest.approx(0.1)) and plot.notes[0].endswith(
        "Raw, without training."
    )
    said = [text.get_text() for text in curves_plot(plot).axes[0].texts]
    assert {"64", "640", "Raw", "m", "Task", "RR"} <= set(said)
    without = size_curves([SizeGroup("m", group.systems, "d", None)], paths, datasets, "RR", Labels({}, {}))
    assert without.panels[0].baseline is None and "Dashed" not in without.notes[0]
    assert not [line for line in curves_plot(without).axes[0].lines if line.get_gid() == "baseline"]
