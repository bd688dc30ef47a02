"""Queries that are documents, as a user meets them: six arguments whose counter-argument is second, behind themselves."""

import csv
import re

import pytest

from ranktrial.ir.trec import read_run, write_run
from tests.support.beir import write_beir
from tests.workflow.conftest import REPOSITORY, copy

pytestmark = pytest.mark.long

ARGUMENTS = [
    "school uniforms should be banned because they limit expression of pupils",
    "school uniforms should be kept because they make pupils equal",
    "zoos protect animals and teach children",
    "zoos are prisons for animals and should be closed",
    "cars should be banned from cities for clean air",
    "cars are needed in cities by old people",
]
NAMES = [f"arg{n}" for n in range(len(ARGUMENTS))]
SYSTEMS = {
    "bm25": {"type": "bm25"},
    "tuned": {"type": "bm25", "tune": True, "grid": {"k1": [0.9], "b": [0.4, 0.8]}},
    "rm3": {"type": "bm25", "feedback": "rm3"},
    "likelihood": {"type": "query-likelihood", "mu": 10},
    "theirs": {"type": "external", "runs": {"x": "theirs.trec"}},
    "fused": {"type": "fusion", "systems": ["bm25", "theirs"]},
}
CONFIG = {
    "experiment": "own",
    "measures": ["RR@10", "nDCG@10"],
    "depth": 3,
    "datasets": {"x": {"format": "beir", "location": "data"}},
    "systems": SYSTEMS,
    "tasks": ["x"],
    "comparisons": {},
}
SPLITS = (("dev", 2, 2), ("test", 6, 1))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    made = copy(REPOSITORY, tmp_path_factory.mktemp("own") / "ranktrial")
    texts = dict(zip(NAMES, ARGUMENTS, strict=True))
    judged = {split: [f"arg{n}\targ{n ^ 1}\t{grade}" for n in range(many)] for split, many, grade in SPLITS}
    write_beir(made.folder / "data", texts, texts, judged)
    write_run(made.folder / "theirs.trec", {f"arg{n}": {f"arg{n}": 2.0, f"arg{n ^ 1}": 1.0} for n in range(6)}, "t")
    return made


def values(workspace, system: str) -> list[tuple[str, str]]:
    with open(workspace.folder / f"results/own/metrics/x/{system}/seed-0.tsv", encoding="utf-8") as file:
        return [(row["RR@10"], row["nDCG@10"]) for row in csv.DictReader(file, delimiter="\t")]


def test_the_run_stops_with_what_to_write_and_then_every_system_is_without_them(workspace):
    workspace.write_config(CONFIG)
    done = workspace.snakemake("--cores", "2", "results/own/data/x/corpus.jsonl")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode and "6 of 6 queries are also documents, with the same id" in line
    assert "write `own_document: drop` under datasets.x" in line
    workspace.write_config(CONFIG | {"datasets": {"x": CONFIG["datasets"]["x"] | {"own_document": "drop"}}})
    workspace.run("--cores", "2")
    for system in SYSTEMS:
        run = read_run(workspace.folder / f"results/own/runs/x/{system}/seed-0.trec.gz")
        assert set(run) == set(NAMES) and not any(query in scores for query, scores in run.items())
        assert values(workspace, system) == [("1.0", "1.0")] * 6, system  # .5 and .6309 with themselves first
    assert re.search(r"^\| x +\| test ", (workspace.folder / "results/own/summary.md").read_text(), re.MULTILINE)
    with open(workspace.folder / "results/own/tables/datasets.tsv", encoding="utf-8") as file:
        counts = [(row["split"], row["own_documents"], row["excluded"]) for row in csv.DictReader(file, delimiter="\t")]
    assert counts == [("dev", "2", "2"), ("test", "6", "6")]
    assert "Excluded for a query" in (workspace.folder / "results/own/report.html").read_text()
