"""Items that are made ahead come in order, one beyond the current, and mistakes come where the item would."""

import threading

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.reading import ahead


def test_one_item_beyond_the_current_is_made_meanwhile():
    made, second = [], threading.Event()

    def items():
        for number in range(4):
            made.append(number)
            if number == 1:
                second.set()
            yield number

    given = ahead(items())
    assert next(given) == 0 and second.wait(10)  # made while the first is worked on
    assert made == [0, 1]
    assert list(given) == [1, 2, 3] and made == [0, 1, 2, 3]
    assert list(ahead([])) == [] and list(ahead([None, 0])) == [None, 0]


def test_a_mistake_comes_after_the_items_before_it():
    def items():
        yield 1
        raise UserError("corpus.jsonl:2: not JSON")

    given = ahead(items())
    assert next(given) == 1
    with pytest.raises(UserError, match=r"corpus\.jsonl:2: not JSON"):
        next(given)


def test_who_stops_early_leaves_no_thread_behind():
    before = threading.active_count()
    given = ahead(iter(range(100)))
    assert next(given) == 0
    given.close()
    assert threading.active_count() == before
