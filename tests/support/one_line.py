"""The message of a refusal."""


def one_line(error, *words):
    assert "\n" not in str(error.value), str(error.value)
    for word in words:
        assert word in str(error.value), str(error.value)
