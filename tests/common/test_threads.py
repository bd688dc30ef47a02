"""How many threads a job takes from OMP_NUM_THREADS, of which OpenMP allows one number per level."""

import os

import pytest

from ranktrial.common.processes import threads


@pytest.mark.parametrize(("given", "expected"), [("3", 3), ("4,2", 4), (" 2 ", 2)])
def test_it_is_the_number_of_the_outermost_level(monkeypatch, given, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads() == expected


@pytest.mark.parametrize("given", ["", "0", "-1", "many", None])
def test_without_a_number_it_is_that_of_the_cores(monkeypatch, given):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads() == os.cpu_count()
