"""The figure of importance: which panels it has, in which order features stand, and that all of it is on the page."""

from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.tables import IMPORTANCE, read_table
from ranktrial.records.facts import Labels
from ranktrial.reports.contents.costs import read_timings
from ranktrial.reports.contents.training import Rankers, importance
from ranktrial.reports.figures.importance import PAGE, Panel, importance_chart, panels_of
from ranktrial.reports.writing import html_page, printed
from ranktrial.reports.writing.content import Table
from scripts.reports import figure
from tests.support.calling import call


def table(path, rows, gain=True):
    columns = ["feature", "gain", "permutation", "permutation_sd", "shap"]
    lines = [
        "\t".join([name, str(number) if gain else "", str(fall), "0.01", str(number)]) for name, number, fall in rows
    ]
    path.write_text("\n".join(["\t".join(columns), *lines]) + "\n")
    return path


@pytest.fixture
def tables(tmp_path):
    first = table(tmp_path / "1.tsv", [("a", 0.5, 0.1), ("b", 0.25, 0.3), ("null", 0.25, -0.1)])
    return [first, table(tmp_path / "2.tsv", [("a", 0.1, 0.3), ("b", 0.65, 0.3), ("null", 0.25, -0.3)])]


def test_seeds_are_averaged_and_features_stand_by_what_is_lost_without_them(tables):
    features, panels = panels_of([read_table(path, *IMPORTANCE) for path in tables], "P@1")
    assert len(panels) == 3 and "fall of P@1" in panels[0].label
    assert features[:2] == ["b", "a"] and panels[0].values[:2] == pytest.approx([0.3, 0.2])
    assert panels[2].values[:2] == pytest.approx([0.45, 0.3])


def test_what_a_learner_lacks_has_no_panel(tmp_path):
    only = read_table(table(tmp_path / "1.tsv", [("a", 1, 1), ("b", 2, 2)], gain=False), *IMPORTANCE)
    assert len(panels_of([only], "P@1")[1]) == 2


def test_everything_is_on_the_page():
    names = ["short", "a-very-long-name-of-a-feature-that-has-to-be-broken-into-lines-to-fit"]
    values = Panel("Permutation", [0.5, -0.3], [0.1, 0.2])
    figure = importance_chart("A title", names, [values, Panel("SHAP", [1200.0, 0.0]), Panel("Gain", [0.0, 0.0])])
    renderer = figure.canvas.get_renderer()
    width, height = figure.get_size_inches() * figure.dpi
    assert figure.get_size_inches()[0] * 72 == pytest.approx(PAGE)
    for text in figure.axes[0].texts:
        box = text.get_window_extent(renderer)
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, text.get_text()


def test_the_script_writes_three_files(tmp_path, tables):
    files = {form: tmp_path / f"f.{form}" for form in ("svg", "pdf", "png")}
    settings = {"title": "T", "measure": "nDCG@10"}
    call(figure.drawn("importance"), settings, tables=tables, **files)
    assert all(path.stat().st_size > 1000 for path in files.values()) and "null" in files["svg"].read_text()
    with pytest.raises(UserError, match="--tables: expected at least one"):
        call(figure.drawn("importance"), settings, tables=[], **files)


def test_the_report_knows_a_rankers_training(monkeypatch, tmp_path):
    path = Path("results/e/rankers/d/l/seed-1.timing.json")
    (tmp_path / path.parent).mkdir(parents=True)
    (tmp_path / path).write_text('{"seconds": 2, "device": "cpu"}')
    monkeypatch.chdir(tmp_path)
    (timing,) = read_timings([path])
    assert timing["kind"] == "Training"


def ranker_tables(tmp_path):
    """Two seeds of one ranker, and one without gain."""
    folder = tmp_path / "results" / "e" / "rankers" / "touche"
    for system in ("forest", "line"):
        (folder / system).mkdir(parents=True)
    return [
        table(folder / "forest" / "seed-1.importance.tsv", [("a", 0.5, 0.1), ("b", 0.5, 0.3)]),
        table(folder / "forest" / "seed-2.importance.tsv", [("a", 0.1, 0.3), ("b", 0.9, 0.5)]),
        table(folder / "line" / "seed-0.importance.tsv", [("a", 0.25, 0.9), ("b", 0.75, -0.1)], gain=False),
    ]


def test_the_pages_show_a_column_per_ranker_and_way_with_means_over_seeds(tmp_path):
    group = Rankers("touche", "Touch\u00e9 2021", "few", "nDCG@5", ["forest", "line"])
    section = importance([group], ranker_tables(tmp_path), Labels({}, {"forest": "Random <forest>"}))
    falls, others = (block for block in section.blocks if isinstance(block, Table))
    headings = [[column.heading for column in shown.columns] for shown in (falls, others)]
    assert headings[0] == ["Feature", "Permutation Random <forest>", "Permutation line"]
    assert headings[1] == ["Feature", "SHAP Random <forest>", "SHAP line", "Gain Random <forest>"]
    rows = [[[getattr(cell, "text", cell) for cell in row] for row in shown.blocks[0]] for shown in (falls, others)]
    # a falls by (.2 + .9) / 2 over both rankers, b by (.4 - .1) / 2
    assert rows[0] == [["a", "0.200", "0.900"], ["b", "0.400", "\N{MINUS SIGN}0.100"]]
    assert rows[1] == [["a", "0.300", "0.250", "0.300"], ["b", "0.700", "0.750", "0.700"]]
    assert falls.caption == "Permutation: fall of nDCG@5. Learnt from Touch\u00e9 2021, features few."
    page, summary = html_page.document("e", [section], {}), printed.markdown_document("e", [section])
    assert "Random &lt;forest&gt;" in page and "<forest>" not in page and "0.900" in page
    assert "| a | 0.200 | 0.900 |" in " ".join(summary.split())
