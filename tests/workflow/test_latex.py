"""All tables and captions of an experiment compile, whatever the names in it."""

# ruff: noqa: RUF001 (signs that LaTeX writes otherwise are what is tested)

import subprocess
from pathlib import Path

import pytest

from tests.support.debian import needed
from tests.workflow.conftest import REPOSITORY, Workspace, copy

pytestmark = pytest.mark.long
CONFIG = """
experiment: names
datasets:
  one: {format: scores, measure: accuracy, label: "50% of A_B & C #1"}
  two: {format: scores, measure: accuracy, label: "Éléments {de} ~Straße^2 \\\\ $5"}
  three: {format: scores, measure: accuracy, label: "naïve <i>β</i> → |x| ≥ 0.5"}
  four: {format: scores, measure: accuracy}
systems:
  gold: {type: external, label: "Müller & Söhne_#1", scores: {one: a.txt, two: b.txt, three: c.txt, four: d.txt}}
  ours: {type: external, label: "100% ours^α", scores: {one: b.txt, two: c.txt, three: d.txt, four: a.txt}}
  theirs: {type: external, label: "DPR “large” – 2×", scores: {one: c.txt, two: d.txt, three: a.txt, four: b.txt}}
tasks: [one, two, three, four]
comparisons:
  alone: {control: gold, treatment: ours, measure: accuracy, permutations: 100, figure: {notes: caption, bayesian: true},
          bayesian: {}}
  many: {control: gold, treatment: [ours, theirs], measure: accuracy, permutations: 100, figure: {notes: caption}}
multiple_comparisons:
  all: {systems: [gold, ours, theirs], measure: accuracy, permutations: 99}
"""
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,graphicx}
\begin{document}
\listoffigures
%s
\end{document}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A finished experiment on scores, whose names LaTeX does not take as they are."""
    made = copy(REPOSITORY, tmp_path_factory.mktemp("latex") / "ranktrial")
    for place, name in enumerate("abcd"):
        values = [0.1 * ((n * (place + 2)) % 7) + 0.01 * place for n in range(20)]
        (made.folder / f"{name}.txt").write_text("".join(f"{value}\n" for value in values))
    return run(made)


def run(workspace: Workspace) -> Path:
    (workspace.folder / "names.yaml").write_text(CONFIG, encoding="utf-8")
    workspace.run(config="names.yaml")
    return workspace.folder / "results" / "names"


def test_all_tables_and_captions_compile(results, tmp_path):
    needed(["pdflatex"], ["texlive-latex-base", "texlive-latex-recommended"])
    captions = sorted(results.glob("figures/*.tex"))
    tables = sorted(results.rglob("tables/**/*.tex"))
    assert {path.stem for path in captions} == {"alone", "many", "many-ours", "many-theirs"}
    assert {path.parent.name for path in tables} == {"tables", "effects", "multiple-comparisons"}
    parts = [rf"\begin{{figure}}\input{{{path}}}\end{{figure}}\clearpage" for path in captions]
    parts += [rf"\input{{{path}}}\clearpage" for path in tables]
    (tmp_path / "all.tex").write_text(DOCUMENT % "\n".join(parts), encoding="utf-8")
    for _ in range(2):  # the second reads the list of figures that the first wrote
        done = subprocess.run(["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"], cwd=tmp_path,
                              capture_output=True, text=True, encoding="utf-8", errors="replace")  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:]
    assert "Missing character" not in done.stdout and "undefined" not in done.stdout, done.stdout[-3000:]
    assert r"Overfull \hbox" not in done.stdout, done.stdout[-3000:]
    assert (tmp_path / "all.pdf").stat().st_size > 10_000


def test_a_caption_says_what_left_the_picture(results):
    said = (results / "figures/many.txt").read_text(encoding="utf-8")
    assert said.startswith("100% ours^α and DPR “large” – 2× against Müller & Söhne_#1, accuracy.\nEach row is a task:")
    assert "Heterogeneity: τ is in accuracy" in said and "95% intervals" in said
    assert "95% intervals" not in (results / "figures/many.svg").read_text(encoding="utf-8")
