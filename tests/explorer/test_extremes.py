"""The queries that comparisons win and lose most, and what leads from the report to them."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest

from ranktrial.common.tables import EXTREME_QUERIES, read_table
from ranktrial.explorer.extremes import SHOWN, extremes
from ranktrial.ir.nouns import SCORES
from ranktrial.records.facts import Labels
from ranktrial.reports.contents.comparisons import extreme_queries, linked, state
from ranktrial.reports.writing.content import Column, Span, Table, spans
from ranktrial.reports.writing.html_page import row_links
from tests.explorer.crafted_experiment import EVIL, settings

REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("warm_processes")


def run(function, folder, *options, asked=None):
    command = [sys.executable, REPOSITORY / "scripts/explorer/jobs.py", function, *options]
    command += ["--settings", json.dumps(asdict(asked or settings()), sort_keys=True)]
    return subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(REPOSITORY), "PYTHONUTF8": "1"}, capture_output=True, text=True
    )


def test_the_script_writes_each_comparison_with_texts(explored, tmp_path):
    metrics = sorted(explored.glob("results/e/metrics/*/*/*.tsv"))
    done = run("extreme_queries", explored, "--metrics", *metrics, "--table", tmp_path / "t.tsv")
    assert done.returncode == 0, done.stderr
    found = read_table(tmp_path / "t.tsv", *EXTREME_QUERIES)
    tuning = found[found["comparison"] == "tuning"]
    assert set(tuning["task"]) == {"storms", "floods"}
    assert [*dict.fromkeys(found["comparison"])] == settings().order == sorted(settings().order, reverse=True)
    assert len(tuning) <= 2 * SHOWN and (tuning["difference"] == tuning["treatment"] - tuning["control"]).all()
    assert (tuning["difference"][:SHOWN] > 0).all() and (tuning["difference"][SHOWN:] < 0).all()
    assert tuning["difference"][:SHOWN].is_monotonic_decreasing and tuning["text"].str.len().min() > 0
    ids = ("--metrics", *metrics, "--table", tmp_path / "i.tsv")
    done = run("extreme_queries", explored, *ids, asked=settings(texts=False))
    assert done.returncode == 0 and read_table(tmp_path / "i.tsv", *EXTREME_QUERIES)["text"].isna().all()


@pytest.mark.parametrize("function, output", [("extreme_queries", "--table"), ("explorer", "--folder")])
def test_deleted_texts_end_the_job_with_one_line(explored, tmp_path, function, output):
    done = run(function, tmp_path, output, tmp_path / "made")
    assert done.returncode == 1 and not (tmp_path / "made").exists()
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: results/e/data/floods/")
    assert "`snakemake --configfile results/e/config.yaml -- results/e/data/floods/" in line


def test_lower_may_be_better():
    rows = [
        {"comparison": "c", "task": "t", "query_id": str(n), "text": "", "control": 5.0, "treatment": 5.0 + n}
        for n in (-2, 0, 1, 3)
    ]
    assert extremes(pd.DataFrame(rows), False)["query_id"].tolist() == ["3", "1", "-2"]
    assert extremes(pd.DataFrame(rows), True)["query_id"].tolist() == ["-2", "3", "1"]


def test_the_table_of_the_report_leads_to_the_queries():
    record = {
        "comparison": "a b",
        "task": "t",
        "query_id": "q&1",
        "text": EVIL,
        "control": 0.5,
        "treatment": 0.25,
        "difference": -0.25,
    }
    found = pd.DataFrame([record, record | {"comparison": "other"}])
    ((folded,),) = [extreme_queries("a b", found, ("C", "T"), Labels({"t": "Task"}, {}), SCORES)]
    assert folded.title == "Samples won and lost most" and folded.blocks[0].columns[0].name == "Sample"
    (row,) = folded.blocks[0].blocks[0]
    address = urlsplit(spans(row[0])[0].link)
    assert spans(row[0])[0].text == EVIL and address.path == "explorer/index.html"
    assert parse_qs(address.fragment) == {"c": ["a b"], "t": ["t"], "q": ["q&1"]}
    assert row[1:4] == ["Task", "0.500", "0.250"] and row[4].sort == -0.25
    assert extreme_queries("none", found, ("C", "T"), Labels({}, {}), SCORES) == []


def test_rows_of_a_table_are_linked_by_their_label():
    table = linked(Table([Column("Task"), Column("n")], [[["a", "1"], ["b", "2"]]]), {"a": state("c", "x")})
    assert table.blocks[0][0][0] == Span("a", link="explorer/index.html#c=c&t=x") and table.blocks[0][1] == ["b", "2"]


def test_rows_of_a_figure_are_found_from_the_top():
    text = '<text style="fill: x; text-anchor: start; a: b" x="4" y="{}" transform="r">{}</text>'
    drawn = [text.format(20, "a"), text.format(40, "b &amp; long"), text.format(60, "a")]
    svg = f'<svg viewBox="0 0 100 200">{"".join(drawn)}</svg>'
    links = list(row_links(svg, [("a", "#1"), ("b & long name", "e.html#2"), ("a", "#3"), ("none", "#4")]))
    assert [one.split('style="')[1].split(";")[0] for one in links] == ["top:6.00%", "top:16.00%", "top:26.00%"]
    assert 'href="e.html#2" aria-label="b &amp; long name: explorer"' in links[1]
