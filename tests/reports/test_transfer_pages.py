"""A study of transfer from its configuration to tables, figures and pages, on made-up values per query.

The scripts are called as their rules call them, with the paths and settings that planning gives.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ranktrial.common.settings import read_settings
from ranktrial.experiment.exhibits import curves as exhibit
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.results_paths import fields_of, path
from ranktrial.reports.transfer_studies import Studies, read_studies
from ranktrial.reports.transfer_studies import studies as studies_section
from ranktrial.reports.writing import html_page, printed
from ranktrial.reports.writing.content import plain
from scripts.reports import figure, tables
from scripts.reports import planning as shown
from scripts.synthesis import planning
from scripts.synthesis.transfer import curves, matrix
from tests.experiment.test_matrices_and_curves import BASE
from tests.experiment.test_transfer import here  # noqa: F401 (fixture)
from tests.support.calling import call

QUERIES = 50


@pytest.fixture
def experiment():
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
def made(experiment):
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
        return {key: folder / f"{study}-answers.{end}" for key, end in (("page", "md"), ("table", "tsv"))}

    table, record = folder / "table.tsv", Path(path("curves", experiment="e", curve="few"))
    record.parent.mkdir()
    settings = planning.matrix_settings(experiment, "table")
    call(matrix, settings, metrics=matrix_metrics, table=table)
    files = {"matrix": table, "page": table.with_suffix(".md"), "tex": table.with_suffix(".tex")}
    call(tables.matrix_table, shown.matrix_settings(experiment, "table"), **files)
    call(
        tables.matrix_answers,
        shown.matrix_settings(experiment, "table"),
        matrix=table,
        **answers("table"),
    )
    files = {"metrics": curve_metrics, "timings": timings, "datasets": Path("d.tsv"), "record": record}
    settings = planning.curves_settings(experiment, "few")
    call(curves, settings, **files, table=folder / "curves-few.tsv")
    call(tables.curve_answers, exhibit.labels(experiment, "few"), record=record, **answers("curves-few"))
    drawings = {}
    Path("results/e/figures").mkdir()
    for name in exhibit.names(experiment):
        files = {end: Path(f"results/e/figures/{name}.{end}") for end in ("svg", "pdf", "png")}
        call(figure.drawn("curves"), exhibit.exhibit(experiment, name).settings, record=record, **files)
        drawings[name] = files["svg"].read_text()
    return experiment, drawings


def test_all_tables_and_figures_are_made(made):
    experiment, drawings = made
    missing = [file for file in shown.transfer_tables(experiment) if not Path(file).stat().st_size]
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
    given = json.loads(json.dumps(shown.on_pages(experiment), sort_keys=True))  # as a job is given its settings
    studies = read_settings(Studies, given)
    assert list(studies.curves["few"].names.starts)[:3] == ["scratch", "pseudo-labels", "models"]
    found = read_studies(studies, [Path("results/e/tables/table.tsv")], [Path("results/e/curves/few.json")])
    section = studies_section(found)
    text = printed.markdown_document("e", [section])
    assert "### Sources and targets (table)" in text and "](figures/curves-all.svg)" in text
    assert text.index("#### RQ2") < text.index("#### RQ4") < text.index("(few)") < text.index("#### RQ5")
    assert text.index("figures/curves-all.svg") < text.index("figures/curves-models.svg"), "first that of all targets"
    matrix = section.blocks[1].blocks[0]
    rows = [row for block in matrix.blocks for row in block]
    assert [plain(row[0]) for row in rows] == ["models", "ir", "common", "bm25", "pseudo-labelling"]
    assert [len(row) for row in rows] == [7] * 5 and [len(block) for block in matrix.blocks] == [3, 2]
    page = html_page.document("e", [section], {f"figures/{name}.svg": drawing for name, drawing in drawings.items()})
    assert page.count("<img ") == 4 and page.count("RQ1: ") == 1
