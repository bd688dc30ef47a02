"""Tables of times: what is summed, what counts once, and the paper's layout, by hand."""

import copy
import statistics

import pandas as pd
import pytest

from ranktrial.experiment.descriptions import for_times, training_columns
from ranktrial.experiment.resolution import resolve
from scripts.reports.costs import TimedSystem, cell, columns, fine_tuning_times, inference_times, wide, write_times
from scripts.reports.planning import WORKS
from tests.support.calling import call

SYSTEMS = {
    "bm25": TimedSystem("BM25", "all documents", ""),
    "base": TimedSystem("mini", "all documents", ""),
    "tuned": TimedSystem("mini", "all documents", "", recipe="random", column="CLEF"),
    "hard": TimedSystem("mini", "all documents", "", recipe="hard", column="CLEF"),
    "cross": TimedSystem("big", "top 5 of bm25", ""),
}


def costs(*rows):
    names = ("task", "system", "seed", "seconds", "encoding_seconds", "training_seconds")
    return pd.DataFrame([dict(zip(names, row, strict=True)) | {"device": "cpu"} for row in rows])


COSTS = costs(
    ("a", "bm25", "0", 1.0, None, None),
    ("a", "base", "0", 2.0, 10.0, None),
    ("a", "tuned", "1", 3.0, 10.0, 50.0),
    ("a", "tuned", "2", 4.0, 12.0, 60.0),
    ("b", "tuned", "1", 5.0, 20.0, 50.0),  # the same checkpoint: trained once
    ("a", "hard", "1", 3.0, 11.0, 70.0),
    ("a", "cross", "0", 100.0, None, None),
)


def test_inference_is_encoding_and_ranking():
    table = inference_times(COSTS, SYSTEMS).set_index(["task", "system"])
    assert table.loc[("a", "base"), "mean"] == 12.0 and pd.isna(table.loc[("a", "base"), "sd"])
    assert table.loc[("a", "tuned"), ["runs", "mean", "ranking_seconds", "encoding_seconds"]].tolist() == [
        2,
        14.5,
        3.5,
        11.0,
    ]
    assert table.loc[("a", "tuned"), "sd"] == pytest.approx(statistics.stdev([13, 16]))
    assert table.loc[("a", "cross"), "mean"] == 100.0 and pd.isna(table.loc[("a", "cross"), "encoding_seconds"])


def test_a_training_counts_once_however_many_tasks_its_checkpoint_ranks():
    table = fine_tuning_times(COSTS, SYSTEMS)
    assert table[["model", "recipe", "runs", "mean"]].values.tolist() == [
        ["mini", "random", 2, 55.0],
        ["mini", "hard", 1, 70.0],
    ]


def test_the_papers_layout_pools_the_runs_of_a_model():
    table = inference_times(COSTS, SYSTEMS)
    table["column"] = columns(table, {"a": "CLEF"})
    headings, rows = wide(table, "column")
    runs = [12.0, 13.0, 16.0, 14.0]  # of mini on a: base, two of tuned, hard
    assert headings == ["Model", "CLEF", "b"] and rows[0] == ["BM25", "1.00", ""]
    assert rows[1] == ["mini", f"{statistics.mean(runs):.2f} ± {statistics.stdev(runs):.2f}", "25.00"]
    assert wide(fine_tuning_times(COSTS, SYSTEMS), "column")[1] == [["mini", "60.00 ± 10.00"]]
    assert cell(table[:0]) == ""


def test_the_candidates_are_reported_where_one_model_has_several():
    both = SYSTEMS | {"two": TimedSystem("big", "top 9 of bm25", "")}
    table = inference_times(costs(("a", "cross", "0", 1.0, None, None), ("a", "two", "0", 2.0, None, None)), both)
    assert columns(table, {}) == ["a, top 5 of bm25", "a, top 9 of bm25"]
    split = inference_times(COSTS[:1], {"bm25": TimedSystem("BM25", "x", "split")})
    assert columns(split, {"a": "CLEF"}) == ["CLEF, split"]


def write_tables(folder, systems):
    """Write the tables of both, each with the text files `{work}.{tsv,md,tex}`."""
    for work in WORKS:
        files = {"costs": "costs.tsv", "table": f"{work}.tsv", "page": f"{work}.md", "tex": f"{work}.tex"}
        settings = {"work": work, "systems": systems, "tasks": {}}
        call(write_times, settings, **{option: folder / name for option, name in files.items()})


def test_all_files_are_written_where_nothing_was_trained(tmp_path):
    COSTS[:1].to_csv(tmp_path / "costs.tsv", sep="\t", index=False)
    write_tables(tmp_path, {"bm25": {"model": "BM25", "texts": "", "candidates": ""}})
    assert all((tmp_path / f"{work}.{kind}").exists() for work in WORKS for kind in ("tsv", "md", "tex"))
    assert "| BM25" in (tmp_path / "inference.md").read_text()
    assert "Measured on cpu" in (tmp_path / "inference.md").read_text()
    assert r"\toprule" in (tmp_path / "inference.tex").read_text()


def test_what_a_kind_says_of_its_times_stands_below_the_table_of_inference(tmp_path):
    COSTS[:1].to_csv(tmp_path / "costs.tsv", sep="\t", index=False)
    note = "A fusion's time is that of fusing alone."
    systems = {"bm25": {"model": "Fusion", "texts": "", "candidates": "", "note": note}}
    write_tables(tmp_path, systems)
    assert note in (tmp_path / "inference.md").read_text() and note in (tmp_path / "inference.tex").read_text()
    assert note not in (tmp_path / "fine-tuning.md").read_text()


CONFIG = {
    "experiment": "e",
    "datasets": {"d": {"format": "beir", "location": "tests", "label": "Data"}, "f": {"format": "beir", "location": "tests"}},
    "models": {"m": {"type": "bi-encoder", "weights": "org/mini"}},
    "recipes": {"r": {"train_on": "d", "negatives": {"from": ["random", "bm25"]}}, "s": {"train_on": "f"},
                "t": {"train_on": "f", "epochs": 9}},
    "systems": {"bm25": {"type": "bm25"}, "tuned": {"model": "m", "recipe": "r-bm25"},
                "again": {"model": "m", "rerank": {"first_stage": "bm25", "depth": 7}}},
    "tasks": ["d"],
}  # fmt: skip


def test_recipes_that_take_the_same_time_share_a_column():
    experiment = resolve(copy.deepcopy(CONFIG), "c.yaml")
    assert training_columns(experiment) == {"r-random": "Data", "r-bm25": "Data", "s": "s", "t": "t"}
    reported = [for_times(experiment, experiment.systems[name]) for name in ("bm25", "tuned", "again")]
    assert reported[0] == {"model": "bm25", "candidates": "all documents", "texts": ""}
    assert reported[1] == {
        "model": "mini",
        "candidates": "all documents",
        "texts": "",
        "recipe": "r-bm25",
        "column": "Data",
    }
    assert reported[2]["candidates"] == "top 7 of bm25"
