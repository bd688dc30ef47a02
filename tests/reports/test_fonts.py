"""Labels in scripts that the figures' font lacks: a further font draws them, or one line says that none can."""

import warnings
from types import SimpleNamespace

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager, get_font

from ranktrial.common.errors import UserError
from ranktrial.reports.figures import fonts
from ranktrial.reports.figures.fonts import FAMILY, families, font, missing, use_font, width
from ranktrial.reports.figures.page import save

JAPANESE = "日本語の検索課題"
SCRIPT_A = "\N{MATHEMATICAL SCRIPT CAPITAL A}"  # DejaVu Sans lacks it; STIX, which comes with matplotlib, has it


@pytest.fixture
def only_bundled(monkeypatch):
    """Fonts as on a machine that has no other than matplotlib's."""
    bundled = [entry for entry in fontManager.ttflist if "mpl-data" in entry.fname]
    monkeypatch.setattr(fontManager, "ttflist", bundled)
    monkeypatch.setattr(fonts, "findSystemFonts", list)
    monkeypatch.setattr(fonts, "distributions", list)
    for function in (fonts._further, fonts._find_new_fonts):
        function.cache_clear()
    yield
    for function in (fonts._further, fonts._find_new_fonts):
        function.cache_clear()


def saved(text: str, folder) -> Figure:
    figure = Figure()
    figure.text(0.5, 0.5, text, family=FAMILY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib has a warning for each glyph that is missing
        width(text, 8.0)
        save(figure, *(folder / f"plot.{suffix}" for suffix in ("svg", "pdf", "png")))
    return figure


def test_a_text_takes_further_fonts_only_for_characters_that_the_first_lacks():
    assert missing("Τέστ naïve café $5 → \N{NO-BREAK SPACE}\n") == frozenset()
    assert families("nDCG@10") == (FAMILY,)
    assert missing(f"nDCG {JAPANESE}") == frozenset(JAPANESE)


def test_a_character_is_drawn_and_measured_in_a_font_that_has_it(only_bundled, tmp_path, capsys):
    figure = saved(f"nDCG {SCRIPT_A}", tmp_path)
    first, second = figure.texts[0].get_fontfamily()
    assert first == FAMILY
    path = fontManager.findfont(FontProperties(family=second))
    assert ord(SCRIPT_A) in get_font(path).get_charmap()
    assert capsys.readouterr().err == ""


def test_one_line_names_the_characters_that_no_font_has(only_bundled, tmp_path, capsys):
    saved(f"{JAPANESE} 1", tmp_path)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith("plot: no installed font has ")
    assert "検" in said[0] and "fonts-noto-cjk" in said[0]
    assert JAPANESE in (tmp_path / "plot.svg").read_text(encoding="utf-8")  # a browser finds a font of its own


def test_a_font_of_an_installed_package_is_found(only_bundled, monkeypatch):
    (stix,) = {entry.fname for entry in fontManager.ttflist if entry.fname.endswith("STIXGeneral.ttf")}
    others = [entry for entry in fontManager.ttflist if "STIX" not in entry.name and "Math" not in entry.name]
    monkeypatch.setattr(fontManager, "ttflist", others)
    assert families(SCRIPT_A) == (FAMILY,)
    file = SimpleNamespace(suffix=".ttf", parts=("a_package", "STIXGeneral.ttf"))
    package = SimpleNamespace(files=[file], locate_file=lambda file: stix)
    monkeypatch.setattr(fonts, "distributions", lambda: [package])
    for function in (fonts._further, fonts._find_new_fonts):
        function.cache_clear()
    assert families(SCRIPT_A) == (FAMILY, "STIXGeneral")


def test_japanese_and_chinese_text_take_the_shapes_of_their_language(only_bundled, monkeypatch):
    """Han characters have one code and another shape in each language; Noto has a font for each."""
    plain = fontManager.ttflist[0]
    names = ("AR PL UMing", "Noto Sans CJK HK", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans CJK SC")
    entries = [SimpleNamespace(fname=plain.fname, index=0, name=name, style="normal", weight=400) for name in names]
    monkeypatch.setattr(fontManager, "ttflist", entries)
    first = {text: fonts._candidates(frozenset(text))[0].name for text in ("検索の", "检索", "검색")}
    assert first == {"検索の": "Noto Sans CJK JP", "检索": "Noto Sans CJK SC", "검색": "Noto Sans CJK KR"}


@pytest.fixture
def stix():
    """Figures in STIX, which comes with matplotlib and looks like Times."""
    with matplotlib.rc_context():
        use_font("STIXGeneral")
        yield


def test_a_font_that_is_asked_for_draws_and_measures_all_text(stix, tmp_path):
    figure = Figure()
    figure.text(0.5, 0.5, "nDCG@10", font=font(8.0))
    save(figure, tmp_path / "plot.svg", tmp_path / "plot.pdf")
    assert "STIXGeneral" in (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert b"STIXGeneral" in (tmp_path / "plot.pdf").read_bytes()
    in_stix = width("nDCG@10", 8.0)
    with matplotlib.rc_context({"font.family": ["sans-serif"]}):
        assert width("nDCG@10", 8.0) > 1.1 * in_stix
    assert families("nDCG@10") == ("STIXGeneral", FAMILY)


def test_a_font_that_is_not_installed_is_one_line_that_names_some_that_are(only_bundled):
    before = list(matplotlib.rcParams["font.family"])
    with pytest.raises(
        UserError, match=r"font: 'Tymes' is not installed on this machine; installed are, .*STIXGeneral"
    ):
        use_font("Tymes")
    with pytest.raises(UserError, match=r"'STIX' is not .*STIXGeneral"):
        use_font("STIX")
    assert matplotlib.rcParams["font.family"] == before
