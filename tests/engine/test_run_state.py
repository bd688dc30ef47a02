"""How far a run is, as the file that keeps it."""

import re

import pytest

from ranktrial.engine import display as state
from ranktrial.engine.display import STAGES, stage_of
from tests.support.one_line import refused
from tests.workflow.conftest import REPOSITORY


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def clock(monkeypatch):
    """The time, which tests set."""
    now = [100.0]
    monkeypatch.setattr(state.time, "time", lambda: now[0])
    return now


def a_run():
    return state.Run("tiny", "snakemake.log", side_by_side=2, host="here", pid=1, started=50.0)


def test_jobs_begin_fail_begin_again_and_are_done(clock):
    run = a_run()
    run.plan({"score": "scoring"}, {"score": 2})
    run.start("4", "score")
    run.fail("4")
    assert run.failed == {"4": "score"} and not run.running
    run.start("4", "score")
    clock[0] = 130.0
    run.finish("4")
    assert not run.failed and not run.running and run.rules["score"] == state.Rule("scoring", 2, None, 1, 30.0)


def test_a_run_is_read_as_it_was_written(clock):
    run = a_run()
    run.plan({"score": "scoring", "encode": "encoding"}, {"score": 2, "encode": 1})
    run.start("4", "score")
    state.write(run)
    assert state.read("tiny") == run


def test_the_next_run_knows_how_long_jobs_took_also_those_of_rules_that_it_has_no_job_of(clock):
    first = a_run()
    first.plan({"score": "scoring", "encode": "encoding"}, {"score": 1, "encode": 1})
    for job, rule in (("1", "score"), ("2", "encode")):
        first.start(job, rule)
        clock[0] += 10
        first.finish(job)
    state.write(first)
    for _ in range(2):
        later = a_run()
        later.plan({"score": "scoring"}, {"score": 5})
        state.write(later)
    assert later.rules == {"score": state.Rule("scoring", 5, 10.0), "encode": state.Rule("encoding", 0, 10.0)}


def test_benchmarks_tell_it_where_no_run_does_the_experiments_own_before_those_of_others(folder):
    for experiment, seconds in (("tiny", "4.0"), ("other", "900.0")):
        file = folder / f"results/{experiment}/benchmarks/encode/weather/seed-0.tsv"
        file.parent.mkdir(parents=True)
        file.write_text(f"s\th:m:s\n{seconds}\t0:00:04\n")
    (folder / "results/tiny/benchmarks/encode/weather/seed-1.tsv").write_text("s\th:m:s\n")  # being written
    run = a_run()
    run.plan({"encode": "encoding", "score": "scoring"}, {"encode": 1, "score": 1})
    assert (run.rules["encode"].before, run.rules["score"].before) == (4.0, None)
    run.experiment = "third"
    run.plan({"encode": "encoding"}, {"encode": 1})
    assert run.rules["encode"].before == (4.0 + 900.0) / 2


def test_a_damaged_file_costs_a_run_its_timings_and_no_more(folder):
    state.write(a_run())
    state.place("tiny").write_text('{"experiment": "tiny", ')
    run = a_run()
    run.plan({"score": "scoring"}, {"score": 1})
    assert run.rules == {"score": state.Rule("scoring", 1)}
    with refused("results/state/progress/tiny.json: not JSON"):
        state.read("tiny")


def test_an_experiment_without_a_run_is_a_line_that_names_the_others():
    state.write(a_run())
    with refused("tinny: no run of it has started in this folder", "runs of: tiny"):
        state.read("tinny")


def test_each_rule_file_with_rules_has_a_stage():
    files = [
        path.stem
        for path in REPOSITORY.glob("rules/**/*.smk")
        if re.search(r"\n(use rule|rule (?!in_))", path.read_text())
    ]
    assert {stage_of(file) for file in files} <= set(STAGES) and len(files) > 20
    assert stage_of("a-new-kind") == "a-new-kind"
