"""Fusion: equal to ranx on random runs with ties and missing documents, trec_eval's ties, weights tuned on dev."""

import importlib.util
import json
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.fusion import comb_mnz, fused, reciprocal_ranks, trials, weighted_sum, weightings
from ranktrial.ir.trec import read_run, write_qrels, write_run
from scripts.fusion import jobs
from tests.support.calling import call

ORACLE = Path(__file__).parent / "oracle"
STORED = json.loads((ORACLE / "ranx.json").read_text())
NAMES = ["a", "b", "c"]


def ours(runs, case):
    keys = {key: case[key] for key in ("method", "k", "normalise") if key in case}
    settings = jobs.Fusion(systems=NAMES, depth=1000, tag="t", **keys)
    return jobs.as_one(runs, settings, dict(zip(NAMES, case.get("weights", []), strict=False)))


def name_of(case):
    return "-".join(str(case[key]) for key in ("method", "k", "normalise") if key in case)


@pytest.mark.parametrize("case", STORED["expected"], ids=name_of)
def test_runs_are_fused_as_ranx_does_it(case):
    made = ours(STORED["runs"], case)
    assert made.keys() == case["fused"].keys()
    for query, scores in case["fused"].items():
        assert made[query] == pytest.approx(scores, rel=1e-12, abs=1e-12), query


def test_the_stored_numbers_are_those_of_the_installed_ranx(tmp_path):
    pytest.importorskip("ranx")
    script = tmp_path / "ranx_numbers.py"
    script.write_text((ORACLE / "ranx_numbers.py").read_text())
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("ranx_numbers", script))
    spec.loader.exec_module(module)
    module.main()
    again = json.loads((tmp_path / "ranx.json").read_text())
    assert [name_of(case) for case in again["expected"]] == [name_of(case) for case in STORED["expected"]]
    for mine, stored in zip(again["expected"], STORED["expected"], strict=True):
        for query in stored["fused"]:
            assert mine["fused"][query] == pytest.approx(stored["fused"][query], rel=1e-12, abs=1e-12)


def test_the_random_runs_hold_what_is_hard():
    runs = STORED["runs"]
    assert any(len(set(scores.values())) < len(scores) for run in runs for scores in run.values())  # ties
    assert any(set(runs[0][query]) != set(runs[1][query]) for query in runs[0])  # missing documents
    assert runs[0].keys() != runs[2].keys()  # a missing query


def test_ties_are_ranked_as_trec_eval_does_it():
    assert reciprocal_ranks({"d1": 1.0, "d3": 1.0, "d2": 1.0}, 60) == {"d3": 1 / 61, "d2": 1 / 62, "d1": 1 / 63}
    run = fused([{"q": {"d1": 1.0}}, {"q": {"d2": 1.0}}], lambda lists: weighted_sum(lists, [0.5, 0.5]), 1)
    assert run == {"q": {"d2": 0.5}}  # of equal scores the last id, and cut after it


def test_a_query_that_one_run_lacks_is_fused_from_the_others():
    run = fused([{"q": {"d1": 1.0}}, {"r": {"d2": 2.0}}], comb_mnz, 10)
    assert run == {"q": {"d1": 1.0}, "r": {"d2": 2.0}}


@pytest.mark.parametrize(("steps", "systems"), [(10, 2), (4, 3), (2, 5), (1, 2)])
def test_all_weights_that_sum_to_one_are_tried_once(steps, systems):
    tried = list(weightings(steps, systems))
    assert len(tried) == len(set(tried)) == trials(steps, systems) and tried == sorted(tried)
    assert all(sum(weights) == pytest.approx(1) and len(weights) == systems for weights in tried)


def two_runs(folder):
    """One run that is right for q1 alone, another for q2 alone, by a wide and by a narrow margin."""
    write_run(folder / "a.trec.gz", {"q1": {"x": 9.0, "y": 1.0, "z": 0.0}, "q2": {"x": 5.0, "y": 4.0, "z": 0.0}}, "a")
    write_run(folder / "b.trec.gz", {"q1": {"y": 2.0, "x": 1.0, "w": 0.0}, "q2": {"y": 9.0, "x": 1.0, "w": 0.0}}, "b")
    write_qrels(folder / "qrels", {"q1": {"x": 1}, "q2": {"y": 1}, "q3": {"x": 0}})
    return [folder / "a.trec.gz", folder / "b.trec.gz"]


SETTINGS = {"systems": ["a", "b"], "normalise": "min-max"}
TUNING = SETTINGS | {"step": 0.25, "measure": "RR@10", "depth": 10}


def test_weights_are_tuned_on_judged_queries_and_used(tmp_path, capsys):
    runs, weights = two_runs(tmp_path), tmp_path / "weights.json"
    table = tmp_path / "grid.tsv"
    call(jobs.tune_fusion, TUNING, runs=runs, qrels=tmp_path / "qrels", weights=weights, grid=table)
    assert "\nweights.json: warning: tuned on 2 dev queries: with fewer than 10, " in capsys.readouterr().err
    lines = [line.split("\t") for line in table.read_text().splitlines()]
    assert lines[0] == ["a", "b", "RR@10"] and [line[0] for line in lines[1:]] == ["0.0", "0.25", "0.5", "0.75", "1.0"]
    values = [float(line[2]) for line in lines[1:]]
    assert values == [0.75, 0.75, 1.0, 1.0, 0.75]
    chosen = json.loads(weights.read_text())
    assert chosen == {"weights": {"a": 0.5, "b": 0.5}, "measure": "RR@10", "value": 1.0, "queries": 2}  # first of equal
    fusing = SETTINGS | {"method": "weighted-sum", "depth": 2, "tag": "f-0"}
    run, timing = tmp_path / "f.trec.gz", tmp_path / "f.json"
    call(jobs.fuse, fusing, runs=runs, weights=weights, run=run, timing=timing)
    assert read_run(run) == {
        "q1": {"x": 0.75, "y": pytest.approx(0.5 + 0.5 / 9)},
        "q2": {"y": 0.9, "x": pytest.approx(5 / 9)},
    }
    reported = json.loads(timing.read_text())
    assert reported["weights"] == {"a": 0.5, "b": 0.5} and reported["latency_ms"]["n"] == reported["queries"] == 2
    assert reported["threads"] == 1 and reported["seconds"] > 0


def test_without_judged_dev_queries_there_is_one_line(tmp_path):
    runs = two_runs(tmp_path)
    write_qrels(tmp_path / "qrels", {"q1": {"x": 0}})
    with pytest.raises(UserError, match="no judged dev query to tune on"):
        call(jobs.tune_fusion, TUNING, runs=runs, qrels=tmp_path / "qrels", weights=tmp_path / "w", grid=tmp_path / "t")


def test_weights_of_other_systems_and_a_missing_run_are_refused(tmp_path):
    runs = two_runs(tmp_path)
    fusing = SETTINGS | {"method": "weighted-sum", "depth": 2, "tag": "f", "weights": {"a": 1.0}}
    with pytest.raises(UserError, match="expected a weight for each of a, b"):
        call(jobs.fuse, fusing, runs=runs, run=tmp_path / "f", timing=tmp_path / "t")
    with pytest.raises(UserError, match="--runs: expected 2 files, one per system, not 1"):
        call(jobs.fuse, fusing, runs=runs[:1], run=tmp_path / "f", timing=tmp_path / "t")
    (tmp_path / "other.json").write_text('{"weights": {"a": 1.0, "c": 0.0}}')
    given = fusing | {"weights": None}
    with pytest.raises(UserError, match=r"other\.json: expected a weight for each of a, b"):
        call(jobs.fuse, given, runs=runs, weights=tmp_path / "other.json", run=tmp_path / "f", timing=tmp_path / "t")
