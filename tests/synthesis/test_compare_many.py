"""The script that compares many systems: what it pairs, averages and writes, and what it says."""

import json

import numpy as np
import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.statistics.multiple import OVER_TASKS
from ranktrial.synthesis.metrics_files import on_common_queries
from scripts.synthesis.compare_many import compare_many
from tests.support.calling import call


def metrics(folder, task, system, seed, values):
    path = folder / f"metrics/{task}/{system}/seed-{seed}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{query}\t{value!r}" for query, value in values.items()]
    path.write_text("\n".join(["query_id\tnDCG@10", *lines]) + "\n")
    return path


def test_the_script_pairs_by_query_averages_seeds_and_says_what_is_left_out(tmp_path):
    generator = np.random.default_rng(1)
    paths = []
    for task in ("t", "u"):
        a = {f"q{place}": float(value) for place, value in enumerate(generator.random(20))}
        b = dict(reversed([(query, value + 0.1) for query, value in a.items()]))
        paths += [
            metrics(tmp_path, task, "a", 1, a),
            metrics(tmp_path, task, "a", 2, {q: v + 0.02 for q, v in a.items()}),
        ]
        paths += [metrics(tmp_path, task, "b", 0, b | ({"more": 0.5} if task == "u" else {}))]
    out = {"table": tmp_path / "f.tsv", "record": tmp_path / "f.json"}
    settings = {
        "systems": ["a", "b"],
        "measure": "nDCG@10",
        "statistic": "t",
        "alpha": 0.05,
        "permutations": 99,
        "seed": 1,
    }
    call(compare_many, settings, metrics=paths, **out)
    table, reported = pd.read_csv(out["table"], sep="\t"), json.loads(out["record"].read_text())
    assert table["task"].tolist() == ["t", "u", OVER_TASKS] and table["n"].tolist() == [20, 20, 40]
    assert table["difference"].tolist() == pytest.approx([0.09] * 3) and reported["seeds"] == {"a": 2, "b": 1}
    assert reported["warnings"][0] == "u: 1 query in only some of the systems, left out"
    assert reported["warnings"][1].startswith("t, u have the same query ids: over tasks")


def test_scores_that_cannot_be_paired_are_refused():
    by_line = pd.Series([0.1, 0.2], ["line 1", "line 2"])
    with pytest.raises(UserError, match=r"task t: .*\(control: a, treatment: c\)"):
        on_common_queries({"a": by_line, "b": by_line, "c": by_line[:1]}, "t")
    with pytest.raises(UserError, match="task t: the systems have no query in common"):
        on_common_queries({"a": pd.Series([0.1], ["q"]), "b": pd.Series([0.1], ["r"])}, "t")
