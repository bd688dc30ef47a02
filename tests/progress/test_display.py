"""Where the lines of a run appear."""

import fcntl
import io
import os
import pty
import struct
import termios

import pytest

from ranktrial.progress.display import Display
from ranktrial.progress.state import Rule, Run


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
    assert seen(reading, stream).splitlines() == [
        "tiny: 40 jobs to do",
        "scoring             0 of 40 done, 40 to come",
    ]
