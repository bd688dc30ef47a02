"""Charts, times and printed cells of the finished tiny experiment."""

import csv
import json
from statistics import mean, stdev

import pandas as pd
import pytest
import yaml

from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.long
MAPPING = {
    "models": {"Tiny": "tiny"},
    "tasks": {"weather": "weather", "sea": "sea"},
    "measures": {"nDCG": {"at": "nDCG", "ties": "ascending"}, "MAP": {"at": "AP"}},
    "counts": {"queries": "queries"},
    "datasets": [{"ours": "weather/test"}],
    "seconds": {"T.2": "inference", "T.3": "fine-tuning"},
    "systems": [
        {"system": "Lucene", "ours": "plain"},
        {"training": "base", "ours": "zero-shot"},
        {"training": "hard", "ours": "hard"},
    ],
    "remarks": [{"measure": "seconds", "said": "on another machine"}],
}
HEADING = "table\tvariant\tsystem\ttraining\tmeasure\tcutoff\tvalue\tstd\n"


@pytest.fixture
def drawn(again):
    """The finished experiment with a chart and published cells, run again."""
    means = pd.read_csv(again.folder / "results/tiny/tables/means.tsv", sep="\t").set_index("system")["nDCG@10"]
    queries = len((again.folder / "results/tiny/data/weather/queries/test.jsonl").read_text().splitlines())
    cells = [
        ("T.1", "weather", "Lucene", "", "nDCG", "10", f"{means['plain']:.3f}", ""),
        ("T.1", "weather", "Tiny", "base", "nDCG", "10", "0.999", ""),
        ("T.1", "weather", "Tiny", "hard", "nDCG", "10", f"{means['hard'] + 0.05:.3f}", "0.03"),
        ("T.1", "sea", "Tiny", "base", "nDCG", "10", "0.500", ""),
        ("T.1", "weather", "Huge", "base", "nDCG", "10", "0.500", ""),
        ("T.1", "weather", "Tiny", "base", "MAP", "7", "0.500", ""),
        ("T.2", "weather", "Tiny", "base", "seconds", "", "2.00", ""),
        ("T.3", "weather", "Tiny", "hard", "seconds", "", "2.00", ""),
        ("T.4", "test", "", "", "queries", "", f"{queries}", ""),
    ]
    (again.folder / "cells.tsv").write_text("# a source\n" + HEADING + "".join("\t".join(row) + "\n" for row in cells))
    (again.folder / "cells.yaml").write_text(yaml.safe_dump(MAPPING))
    config = tiny_config()
    groups = {"as it is": ["zero-shot"], "hard": ["hard"], "reranked": ["reranker"]}
    config["charts"] = {"means": {"systems": groups, "measures": ["nDCG@10"], "baseline": "plain"}}
    config["published"] = {"file": "cells.tsv", "mapping": "cells.yaml", "part": True}
    again.write_config(config)
    assert {job.split()[0] for job in again.planned()} == {
        "figure", "published", "report", "score-ties-ascending", "collect",
    }  # fmt: skip
    again.run()
    return again


def test_cells_chart_and_times(drawn):
    results = drawn.folder / "results/tiny"
    with open(results / "published-versus-ours.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["verdict"] for row in rows] == [
        "equal", "different", "inside the seeds' spread", *["not run"] * 3, "different machine", "different machine", "equal"]  # fmt: skip
    assert [row["our_system"] for row in rows[:3]] == ["plain", "zero-shot", "hard"] and rows[2]["seeds"] == "2"
    assert [row["reason"] for row in rows[3:6]] == [
        "the task sea is not in this experiment",
        "Huge is not among the models of zero-shot in this experiment",
        "AP@7 is not among the measures of this experiment",
    ]
    # seconds are the sums and means of the timing files
    ranked, encoded = (
        json.loads((results / path).read_text())["seconds"]
        for path in (
            "runs/weather/zero-shot/seed-0.timing.json",
            "embeddings/weather/bert/untrained/seed-0.vectors.timing.json",
        )
    )
    trained = [json.loads((results / f"models/bert/hard/seed-{n}.timing.json").read_text())["seconds"] for n in (1, 2)]
    assert float(rows[6]["ours_in_full"]) == pytest.approx(ranked + encoded)
    assert float(rows[7]["ours_in_full"]) == pytest.approx(mean(trained))
    assert rows[7]["ours_sd"] == f"{stdev(trained):.2f}"
    assert float(rows[7]["ratio"]) == pytest.approx(mean(trained) / 2)
    # the pages and the figure are there and named on the summary
    assert "## Not run" in (results / "published-versus-ours.md").read_text()
    assert (results / "published-versus-ours.html").read_text().count("different machine") >= 3
    page = (results / "summary.md").read_text()
    said = "Of 9 published numbers: 2 equal, 1 different, 1 inside the seeds' spread, 3 not run, 2 different machine"
    assert said in page and "(figures/chart-means.svg)" in page and "(tables/inference-times.md)" in page
    figure = (results / "figures/chart-means.svg").read_text()
    assert all(label in figure for label in ("as it is", "hard", "reranked", "nDCG@10, weather"))
    table = (results / "tables/fine-tuning-times.md").read_text()
    assert f"{mean(trained):.2f} ± {stdev(trained):.2f}" in table
    # a title redraws the chart, and the report that shows it
    config = yaml.safe_load((drawn.folder / "tiny.yaml").read_text())
    config["charts"]["means"]["title"] = "Means"
    drawn.write_config(config)
    assert drawn.planned() == {"figure chart-means", "report"}
