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


def each_is_one_line(cases, configure, secret="\0", start="c.yaml: "):
    """A test of each case, a change and words: `configure` refuses the change in a line with them, or takes it if None."""

    @pytest.mark.parametrize(("change", "words"), cases.values(), ids=cases)
    def test(change, words):
        if words is None:
            configure(change)
            return
        with pytest.raises(UserError) as error:
            configure(change)
        one_line(error, words)
        said = str(error.value)
        assert said.startswith(words if words.startswith("c.yaml: ") else start) and secret not in said, said

    return test
