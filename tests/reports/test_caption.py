"""The caption of a figure whose notes leave the picture, as text and in LaTeX."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment import exhibits
from ranktrial.experiment.exhibits import forest as exhibit
from ranktrial.reports.figures.forest import forest_plot, noted
from scripts.reports import figure
from scripts.reports import planning as pages
from tests.experiment.test_config import resolved
from tests.reports.test_forest import changed as plot_with
from tests.reports.test_forest import forest, words
from tests.reports.test_forest_options import LOOKS, found
from tests.support.calling import call

SETTINGS = {
    **{key: value for key, value in vars(LOOKS).items() if value is not None},
    "facts": {
        "labels": {"tasks": {"a": "A & B_1"}, "systems": {"c": "50% BM25", "t": "Müller #2"}},
        "measures": ["nDCG@10"],
        "marks": {"trained": {"t": ["a"]}},
    },
    "notes": "caption",
}
BELOW = {
    "comparisons/c/figure": {"notes": "caption", "font": "STIXGeneral", "influence": True, "queries": True},
    "systems/zero": {"model": "m"},
    "comparisons/z": {"control": "bm25", "treatment": "zero"},
    "font": "DejaVu Serif",
}


@pytest.fixture
def inputs(tmp_path):
    found(tmp_path, "x", 0.05)
    return {"effects": tmp_path / "x.tsv", "meta": tmp_path / "x.json"}


def test_notes_leave_the_picture_and_nothing_else_does():
    plot = forest()
    inside, outside = (words(forest_plot(plot_with(plot, notes=notes))) for notes in ("figure", "caption"))
    assert inside[: len(outside)] == outside
    assert "".join(inside[len(outside) :]).replace(" ", "") == "".join(noted(plot)).replace(
        "\N{NO-BREAK SPACE}", ""
    ).replace(" ", "")


def test_text_and_latex_hold_the_same_caption(inputs, tmp_path):
    call(figure.drawn("caption"), SETTINGS, **inputs, txt=tmp_path / "x.txt", tex=tmp_path / "x.tex")
    text, tex = ((tmp_path / name).read_text(encoding="utf-8") for name in ("x.txt", "x.tex"))
    first, how, *notes = text.splitlines()
    assert first == "Müller #2 against 50% BM25, nDCG@10."
    assert how.startswith("Each row is a task: the square is the")
    assert "† Müller #2 learnt from training queries of this task's dataset." in notes
    assert "\\caption[{Müller \\#2 against 50\\% BM25, nDCG@10.}]{%\n  Müller \\#2 against 50\\% BM25" in tex
    assert len(tex.splitlines()) == len(text.splitlines()) + 2


def test_a_font_that_is_not_installed_stops_the_figure(inputs, tmp_path):
    files = {name: tmp_path / f"x.{name}" for name in ("svg", "pdf", "png")}
    with pytest.raises(UserError, match="font: 'Tymes'"):
        call(figure.drawn("forest"), SETTINGS | {"font": "Tymes"}, **inputs, **files)
    assert not any(file.exists() for file in files.values())


def test_a_configuration_names_fonts_and_where_notes_stand():
    experiment = resolved(BELOW)
    assert exhibit.captioned(experiment) == ["c"]
    assert exhibit.caption_files(experiment) == ["results/e/figures/c.txt", "results/e/figures/c.tex"]
    assert set(exhibit.caption_files(experiment)) < set(pages.named_in_summary(experiment))
    settings = {name: exhibits.exhibit(experiment, name).settings for name in exhibits.figures(experiment)}
    assert {name for name, shown in settings.items() if shown.get("font") == "STIXGeneral"} == {"c", "queries-c"}
    assert (settings["c"]["notes"], settings["z"]["notes"]) == ("caption", "figure")
    assert experiment.font == "DejaVu Serif"  # of all others: rules/figures.smk
    tables = pages.table_settings(experiment)["c"]
    assert "font" not in tables and "notes" not in tables
