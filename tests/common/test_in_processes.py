"""Work in several processes: the results in order, few pieces ahead, and a killed process in one line."""

import os
import signal

import pytest

from scripts.common.errors import UserError
from scripts.common.in_processes import AHEAD, in_processes


def doubled(number: int) -> int:
    return 2 * number


def killed_at_five(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("processes", [1, 3])
def test_results_come_in_the_order_of_the_pieces_and_few_are_taken_ahead(processes):
    taken = []

    def pieces():
        for number in range(30):
            taken.append(number)
            yield number

    for place, result in enumerate(in_processes(doubled, pieces(), processes)):
        assert result == 2 * place
        assert len(taken) <= place + 1 + AHEAD * processes
    assert len(taken) == 30


def test_a_killed_process_is_one_line():
    with pytest.raises(UserError, match=r"^one of this job's 2 processes was killed, .* fewer threads$"):
        list(in_processes(killed_at_five, range(30), 2))
