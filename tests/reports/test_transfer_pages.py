"""A study of transfer from its configuration to tables, figures and pages, on made-up values a query.

The scripts are called as their rules call them, with the paths and settings that planning gives.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.common.settings import read_settings
from scripts.experiment.resolution import resolve
from scripts.experiment.results_paths import fields_of, path
from scripts.reports import curve_answers, draw_curves, matrix_tables
from scripts.reports.page.transfer import shown_studies
from scripts.reports.planning import transfer as shown
from scripts.reports.transfer.studies import Studies, as_sections, read_studies
from scripts.synthesis import measure_curves, measure_matrix
from scripts.synthesis.transfer import planning
from tests.experiment.test_matrices_and_curves import BASE
from tests.experiment.test_transfer import STUDY
from tests.support.calling import call

QUERIES = 50


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    for name in STUDY["datasets"]:
        (tmp_path / "tests" / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return resolve(BASE, "c.yaml")


def write_values(files, chance):
    """Metrics of each system: better with more queries, and below BM25 with few."""
    for file in dict.fromkeys(files):
        name = fields_of("metrics", file)["system"]
        level = 0.5 if name == "bm25" else 0.3 if name.endswith("-32") else 0.7 if name.endswith("-all") else 0.55
        values = np.clip(level + chance.normal(0, 0.1, QUERIES), 0, 1)
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        table = pd.DataFrame({"query_id": [f"q{n}" for n in range(QUERIES)], "RR@100": values})
        table.to_csv(file, sep="\t", index=False)


@pytest.fixture
def made(experiment, monkeypatch):
    matrix_metrics, curve_metrics = (
        planning.matrix_metrics(experiment, "table"),
        planning.curves_metrics(experiment, "few"),
    )
    write_values([*matrix_metrics, *curve_metrics], np.random.default_rng(4))
    timings = planning.curves_timings(experiment, "few")
    for file in timings:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(json.dumps({"queries": 410}))
    folder = Path("results/e/tables")
    folder.mkdir(parents=True)
    pd.DataFrame({"dataset": ["ir"], "split": ["train"], "queries": [500]}).to_csv("d.tsv", sep="\t", index=False)

    def answers(study):
        return {f"answers_{key}": folder / f"{study}-answers.{end}" for key, end in (("page", "md"), ("table", "tsv"))}

    table, record = folder / "table.tsv", Path(path("curves", experiment="e", curve="few"))
    record.parent.mkdir()
    settings = planning.matrix_settings(experiment, "table")
    call(monkeypatch, measure_matrix, settings, metrics=matrix_metrics, table=table)
    files = {"table": table, "page": table.with_suffix(".md"), "latex": table.with_suffix(".tex")}
    call(monkeypatch, matrix_tables, shown.matrix_settings(experiment, "table"), **files, **answers("table"))
    files = {"metrics": curve_metrics, "timing": timings, "datasets": Path("d.tsv"), "record": record}
    settings = planning.curves_settings(experiment, "few")
    call(monkeypatch, measure_curves, settings, **files, table=folder / "curves-few.tsv")
    call(monkeypatch, curve_answers, shown.curves_settings(experiment, "few"), record=record, **answers("curves-few"))
    drawings = {}
    Path("results/e/figures").mkdir()
    for figure in shown.drawn_curves(experiment):
        files = {end: Path(f"results/e/figures/{figure}.{end}") for end in ("svg", "pdf", "png")}
        call(monkeypatch, draw_curves, shown.figure_settings(experiment, figure), record=record, **files)
        drawings[figure] = files["svg"].read_text()
    return experiment, drawings


def test_all_tables_and_figures_are_made(made):
    experiment, drawings = made
    missing = [file for file in shown.tables(experiment) if not Path(file).stat().st_size]
    assert not missing and list(drawings) == ["curves-models", "curves-ir", "curves-common", "curves-all"]
    points = pd.read_csv("results/e/tables/curves-few.tsv", sep="\t")
    assert set(points.loc[points["queries"] == "all", "size"]) == {410}
    said = pd.read_csv("results/e/tables/curves-few-answers.tsv", sep="\t")
    first = said[said["question"] == "RQ1"].iloc[0]
    assert (first["queries_low"], first["queries_high"], first["above"]) == (410, 410, 3)
    hurt = said[(said["question"] == "RQ5") & said["target"].isna()].iloc[0]
    assert (hurt["below"], hurt["pairs"]) == (12, 12)  # a little bit is worse than none
    matrix = pd.read_csv("results/e/tables/table.tsv", sep="\t")
    assert len(matrix) == 24 and (matrix["kind"] == "source").sum() == 15


def test_the_pages_show_them(made):
    experiment, drawings = made
    studies = read_settings(Studies, shown.on_pages(experiment))
    found = read_studies(studies, [Path("results/e/tables/table.tsv")], [Path("results/e/curves/few.json")])
    text = "\n\n".join(as_sections(found))
    assert "### table: Sources and targets" in text and "![curves-all](figures/curves-all.svg)" in text
    assert text.index("#### RQ2") < text.index("#### RQ4") < text.index("### few") < text.index("#### RQ5")
    table, curves = shown_studies(found, drawings)
    assert [len(row) for row in table.table.rows] == [7] * 5 and not curves.table
    assert [name for name, _ in curves.figures] == ["curves-all", "curves-models", "curves-ir", "curves-common"]
    assert [question[:3] for question, _, _ in curves.answers] == ["RQ1", "RQ5"]
