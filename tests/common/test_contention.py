"""Other work beside a timed job: by counters that are written here, and by a process that is really busy."""

import os
import subprocess
import sys
import time

import pytest

from ranktrial.common.timing import Counted, clock, counted, machine, other_cores


def family(folder, stat, processes):
    """A /proc with this first line of stat, and (number, parent, ticks) of processes."""
    (folder / "stat").write_text(f"cpu  {stat}\ncpu0 1 2 3\n")
    for number, parent, ticks in processes:
        (folder / str(number)).mkdir(exist_ok=True)
        fields = ["R", str(parent), *["0"] * 9, str(ticks), "0", "0", "0"]
        (folder / str(number) / "stat").write_text(f"{number} (a name) with) {' '.join(fields)}")


def test_own_work_is_that_of_the_process_and_all_below_it(tmp_path):
    own, hertz = os.getpid(), os.sysconf("SC_CLK_TCK")
    processes = [(own, 1, 300), (own + 1, own, 40), (own + 2, own + 1, 5), (1, 0, 7000)]
    family(tmp_path, "1000 20 300 99999 88888 4 6 50 0 0", processes)  # idle and waiting are no work
    found = counted(tmp_path)
    assert (found.every * hertz, found.own * hertz) == pytest.approx((1380, 345))
    assert counted(tmp_path / "none") is None


def test_other_cores_are_what_the_machine_did_less_the_own_work():
    start = Counted(10.0, 100.0, 20.0)
    assert other_cores(start, Counted(14.0, 112.0, 23.0)) == 2.25  # 12 seconds of all in 4, of them 3 of its own
    assert other_cores(start, Counted(14.0, 102.0, 23.0)) == 0  # the counters go by hundredths
    assert other_cores(start, Counted(10.1, 101.0, 20.0)) is None  # too short
    assert other_cores(None, start) is None


@pytest.mark.skipif(counted() is None, reason="no Linux counters here")
def test_a_busy_process_of_others_is_seen_and_the_own_work_is_not():
    busy = [sys.executable, "-c", "import time; end = time.time() + 30\nwhile time.time() < end: pass"]
    stranger = subprocess.Popen(["setsid", "sh", "-c", '"$0" "$@" & echo $!', *busy], stdout=subprocess.PIPE, text=True)
    number = int(stranger.stdout.readline())  # its parent ends, so that it is no child of ours
    stranger.wait()
    try:
        start = counted()
        end = time.time() + 1.5
        while time.time() < end:
            pass
        found = counted()
    finally:
        os.kill(number, 9)
    own = (found.own - start.own) / (found.at - start.at)
    assert 0.01 < own < 1.3 and other_cores(start, found) > 0.2  # on a machine that may be busy besides


def test_a_timing_tells_of_it():
    clock()
    time.sleep(0.3)
    assert machine()["other_cores"] >= 0 or counted() is None
