"""The notebook prints what it shows, with the packages of .venv; `make notebooks` runs it in Jupyter."""

import ast
import contextlib
import io
from pathlib import Path

import nbformat

NOTEBOOK = Path(__file__).parents[2] / "docs/compare-your-own-scores.ipynb"


def printed(source: str, names: dict) -> str:
    """What a cell shows: its output, and the value of an expression at its end."""
    tree, out, shown = ast.parse(source), io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if last is not None and (value := eval(compile(ast.Expression(last.value), "cell", "eval"), names)) is not None:
            shown = repr(value)
    return out.getvalue() + shown


def test_the_notebook_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    names: dict = {}
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    for cell in cells:
        shown = [one.text if one.output_type == "stream" else one.data["text/plain"] for one in cell.outputs]
        assert printed(cell.source, names) == "".join(shown)
    assert len(cells) > 10
    assert "<svg" in names["found"].forest_plot()._repr_svg_()
