"""A job's settings as text: the same for the same values, and without what Snakemake would take for wildcards."""

import json

import pytest

from ranktrial.engine.job_settings import settings


def test_the_order_of_values_is_no_change():
    assert settings(b=1, a={"y": 1, "x": 2}) == settings(a={"x": 2, "y": 1}, b=1) == '{"a": {"x": 2, "y": 1}, "b": 1}'


@pytest.mark.parametrize("text", ["{dataset}", "{{}}", 'say "{x}"', "back\\slash {", "}{", "é 水 {ü}", "\\u007b", ""])
def test_texts_come_back_as_they_were_and_hold_no_braces(text):
    spelt = settings(label=text, **{"key {}": [text]})
    assert json.loads(spelt) == {"label": text, "key {}": [text]}
    assert spelt.count("{") == spelt.count("}") == 1
