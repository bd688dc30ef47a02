"""The message of a refusal."""

from contextlib import contextmanager

import pytest

from ranktrial.common.errors import UserError


def one_line(error, *words):
    assert "\n" not in str(error.value), str(error.value)
    for word in words:
        assert word in str(error.value), str(error.value)


@contextmanager
def refused(*words, start=""):
    """A UserError of one line that has all `words` and begins with `start`."""
    with pytest.raises(UserError) as error:
        yield
    one_line(error, *words)
    assert str(error.value).startswith(start), str(error.value)
