"""How far a run is, in lines."""

import pytest

from ranktrial.progress.lines import Stage, duration, heading, line, news, stages
from ranktrial.progress.state import Rule, Run, Running


def a_run(**fields):
    rules = {
        "score": Rule("scoring", total=8, before=2.0),
        "fine_tune": Rule("training", total=4, before=600.0, done=1, spent=300.0),
        "encode": Rule("encoding", total=0, before=9.0),
    }
    given = {"side_by_side": 2, "rules": rules, "running": {"7": Running("fine_tune", since=1000.0)}, **fields}
    return Run("tiny", "snakemake.log", host="here", pid=1, started=700.0, **given)


def test_stages_stand_in_the_order_of_the_work_and_those_without_jobs_are_left_out():
    assert [stage.name for stage in stages(a_run(), now=1100.0)] == ["training", "scoring"]


def test_the_time_left_is_that_of_waiting_jobs_and_of_what_running_ones_still_take_side_by_side():
    """Two that wait take 300 s each, as the one of this run did and not 600 as before; the running one 200 more."""
    training, scoring = stages(a_run(), now=1100.0)
    assert training == Stage("training", total=4, done=1, running=1, failed=0, left=(2 * 300 + 200) / 2)
    assert scoring.left == 8 * 2.0 / 2


def test_a_job_that_takes_longer_than_others_has_no_time_left():
    training, _ = stages(a_run(side_by_side=1), now=5000.0)
    assert training.left == 2 * 300
    last = Stage("training", total=4, done=3, running=1, failed=0, left=0.0)
    assert line(last) == "training            3 of 4 done, 1 running"


def test_without_timings_nothing_is_said_of_the_time_left():
    run = a_run(rules={"fine_tune": Rule("training", total=2)})
    (training,) = stages(run, now=1100.0)
    assert training.left is None and line(training) == "training            0 of 2 done, 1 running, 1 to come"


def test_the_time_left_is_unknown_until_a_job_of_each_rule_is_done():
    known = Rule("pages", total=1, done=1, spent=6.0)
    run = a_run(rules={"report": known, "explorer": Rule("pages", total=2)}, running={})
    (pages,) = stages(run, now=1100.0)
    assert pages.left is None


def test_a_failed_job_is_neither_to_come_nor_done():
    training, _ = stages(a_run(running={}, failed={"7": "fine_tune"}), now=1100.0)
    assert line(training) == "training            1 of 4 done, 2 to come, 1 failed"


def test_the_run_as_a_line_before_while_and_after_it_runs():
    none_done = a_run(rules={"score": Rule("scoring", total=8, before=30.0)}, running={})
    assert heading(none_done, now=1100.0) == "tiny: 8 jobs to do, about 2 min left"
    assert heading(a_run(), now=1100.0) == "tiny: 1 of 12 jobs done in 7 min, about 7 min left"
    assert heading(a_run(ended=730.0), now=9999.0) == "tiny: 1 of 12 jobs done in 30 s"


def test_on_a_cluster_a_job_that_began_may_still_wait():
    training, _ = stages(a_run(under_way="submitted"), now=1100.0)
    assert line(training).startswith("training            1 of 4 done, 1 submitted, 2 to come")


def test_on_a_cluster_the_queue_says_which_jobs_run_and_why_the_others_wait():
    run = a_run(under_way="submitted", running={str(n): Running("fine_tune", 1000.0) for n in range(3)})
    run.queue = {"0": "", "1": "PartitionTimeLimit"}
    training, _ = stages(run, now=1100.0)
    expected = "1 of 4 done, 1 running, 1 submitted, 1 waiting (time limit above that of the partition)"
    assert line(training).startswith(f"training            {expected}")


def test_the_whole_run_takes_as_long_as_its_stages_together_however_many_jobs_could_run_at_a_time():
    run = a_run(side_by_side=100, running={})
    assert heading(run, now=1100.0) == "tiny: 1 of 12 jobs done in 7 min, about 5 min left"  # 300 s and 2 s


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (59, "59 s"), (64.2, "65 s"), (120, "2 min"), (149, "2 min"), (7260, "2 h 1 min")],
)
def test_durations(seconds, said):
    assert duration(seconds) == said


WAITING = Stage("scoring", 100, 0, 0, 0, None)
BEGUN = Stage("scoring", 100, 3, 2, 0, None)


@pytest.mark.parametrize(
    ("shown", "stage", "waited", "is_news"),
    [
        (WAITING, WAITING, True, False),
        (WAITING, BEGUN, False, True),
        (BEGUN, Stage("scoring", 100, 12, 2, 0, None), True, False),  # less than a tenth more
        (BEGUN, Stage("scoring", 100, 13, 2, 0, None), True, True),
        (BEGUN, Stage("scoring", 100, 13, 2, 0, None), False, False),  # too soon
        (BEGUN, Stage("scoring", 100, 100, 0, 0, None), False, True),
        (BEGUN, Stage("scoring", 100, 99, 0, 1, None), False, True),
    ],
)
def test_a_log_gets_a_line_when_a_stage_begins_or_ends_or_went_on_a_good_deal(shown, stage, waited, is_news):
    assert news(shown, stage, waited) == is_news
