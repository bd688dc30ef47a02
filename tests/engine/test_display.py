"""How far a run is, in lines: why a job waits, where the lines appear, and the last lines of a run."""

import fcntl
import io
import os
import pty
import struct
import termios

import pytest

from ranktrial.engine.display import (
    Display,
    Rule,
    Run,
    Running,
    Stage,
    conclusions,
    duration,
    ending,
    heading,
    in_words,
    lasts,
    line,
    news,
    stages,
)
from ranktrial.reports.writing.content import Figure, Items, Paragraph, Section, Span
from ranktrial.reports.writing.printed import markdown_document


@pytest.mark.parametrize(
    ("reason", "words", "for_ever"),
    [
        ("Priority", "others are before it", False),
        ("Resources", "for free resources", False),
        ("(PartitionTimeLimit)", "time limit above that of the partition", True),
        ("JobHeldUser", "held by the user", True),
        ("launch failed requeued held", "could not be started, held", True),
        ("ReqNodeNotAvail, UnavailableNodes:c1", "nodes are down, drained or reserved", False),
        ("QOSMaxJobsPerUserLimit", "limit of the QOS: QOSMaxJobsPerUserLimit", False),
        ("AssocMaxWallDurationPerJobLimit", "limit of the account or user: AssocMaxWallDurationPerJobLimit", True),
        ("AssocGrpCpuLimit", "limit of the account or user: AssocGrpCpuLimit", False),
        ("BeginTime", "put back into the queue for some minutes", False),
        ("SomethingNew", "SomethingNew", False),
        ("", "no reason given yet", False),
    ],
)
def test_a_reason_in_words_and_whether_it_passes(reason, words, for_ever):
    assert in_words(reason) == words and lasts(reason) is for_ever


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


@pytest.fixture
def run():
    return Run("tiny", "snakemake.log", 1, "here", pid=1, started=0.0, rules={"score": Rule("scoring", total=40)})


def test_a_log_has_few_lines_however_many_jobs_there_are(run):
    stream = io.StringIO()
    display = Display(stream)
    run.rules["score"].total = 5000
    for number in range(5000):
        display.show(run)
        run.start(str(number), "score")
        display.show(run)
        run.finish(str(number))
    run.end("finished")
    display.show(run)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("tiny: 5000 jobs to do") and "\x1b" not in stream.getvalue()
    assert [line.split("  ", 1)[1] for line in lines[1:4]] == [
        "scoring             0 of 5000 done, 5000 to come",
        "scoring             0 of 5000 done, 1 running, 4999 to come",
        "scoring             5000 of 5000 done",
    ]
    assert len(lines) == 5 and lines[4].startswith("tiny: 5000 of 5000 jobs done")


def test_where_a_run_ends_early_a_log_says_what_is_left(run):
    stream = io.StringIO()
    display = Display(stream)
    display.show(run)
    run.end("failed")
    display.show(run)
    assert stream.getvalue().splitlines()[-2].endswith("scoring             0 of 40 done, 40 to come")


def terminal(rows, columns):
    """A terminal of this size: what is written to it, and a stream that writes."""
    reading, writing = pty.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return reading, os.fdopen(writing, "w")


def seen(reading, stream):
    """All that was written to a terminal; it comes in pieces."""
    print("end", file=stream, flush=True)
    written = ""
    while not written.endswith("end\r\n"):
        written += os.read(reading, 10000).decode()
    return written.removesuffix("end\r\n")


def test_on_a_terminal_the_lines_are_drawn_over_the_last_ones_and_others_stay_above(run, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    reading, stream = terminal(20, 30)
    display = Display(stream)
    display.show(run)
    display.say("forest plot")
    display.show(run)
    first, second = seen(reading, stream).split("\r\x1b[2A\x1b[J")
    drawn = ["tiny: 40 jobs to do", "scoring             0 of 40 d"]  # cut at the margin
    assert first.splitlines() == drawn and second.splitlines() == ["forest plot", *drawn]
    assert all(len(line) < 30 for line in drawn)


def test_a_low_terminal_shows_the_first_lines(run, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    reading, stream = terminal(2, 80)
    Display(stream).show(run)
    assert seen(reading, stream).splitlines() == ["tiny: 40 jobs to do"]


def test_a_terminal_that_does_not_say_how_large_it_is_shows_whole_lines(run, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    reading, stream = terminal(0, 0)
    Display(stream).show(run)
    assert seen(reading, stream).splitlines() == ["tiny: 40 jobs to do", "scoring             0 of 40 done, 40 to come"]


def summary(*sections):
    return markdown_document(
        "tiny", [Paragraph("2 systems"), Section("Comparisons", [Paragraph("How to read."), *sections])]
    )


def answers(*sentences):
    return Items([(Span("yes, higher", "better"), f" {sentence}") for sentence in sentences])


def test_the_question_and_the_answers_of_the_first_comparison_as_plain_text():
    question = "Does a*b beat `c` in nDCG@10?"
    first = [
        Paragraph(Span(question, "strong")),
        answers("Here.", "Over.", "New *x*.", "Remark."),
        Figure("a.svg", "", "a"),
    ]
    second = [Paragraph(Span("Does d beat c?", "strong")), answers("Not this.")]
    page = summary(Section("a against b", first, "a"), Section("d against c", second, "d"))
    assert conclusions(page) == [question, "Here.", "Over.", "New *x*.", "Not this."]


def test_of_several_in_one_figure_the_first():
    parts = [Section(f"Does {name} beat c?", [answers(f"{name} here.")], name) for name in ("a", "b")]
    page = summary(Section("2 systems against c", [Figure("both.svg", "", "both"), *parts], "both"))
    assert conclusions(page) == ["Does a beat c?", "a here.", "b here."]


def test_of_many_comparisons_some_have_a_sentence_and_all_are_counted():
    parts = [Section(f"Does s{name} beat c?", [answers(f"s{name} here.", "Over.")], name) for name in "0123456"]
    said = conclusions(summary(*parts))
    assert said[:3] == ["Does s0 beat c?", "s0 here.", "Over."]
    assert said[3:] == [*(f"s{name} here. Over." for name in "1234"), "further comparisons in the report: 2"]


def test_without_comparisons_there_is_nothing_to_say():
    assert conclusions(markdown_document("tiny", [Paragraph("2 systems")])) == []


def test_the_last_line_names_the_pages_that_there_are(tmp_path):
    results = tmp_path / "tiny"
    assert ending(results) == []
    results.mkdir()
    (results / "report.html").touch()
    (results / "summary.md").write_text(summary(Section("Does a beat c?", [answers("Here.")], "a")))
    where = f"{results}/report.html, {results}/summary.md contain the results"
    assert ending(results) == ["Does a beat c?", "Here.", where]
