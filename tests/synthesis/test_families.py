"""What a multiple comparison writes: the lines of its table and its record."""

import json

import numpy as np

from ranktrial.common.keys import given
from ranktrial.statistics.multiple import scopes
from ranktrial.synthesis.families import Settings, record_of, rows
from tests.statistics.test_multiple import drawn

SETTINGS = Settings(systems=["a", "b", "c"], measure="nDCG@10", permutations=999)


def test_equal_systems_and_single_queries_do_not_differ_significantly():
    tables = {
        "equal": np.tile(drawn(1, 20, (0.0,)), 3),
        "single": drawn(2, 1),
        "constant": drawn(3, 20, (0.0,)) + np.array([0, 0, 1]),
    }
    found = scopes(tables, SETTINGS)
    table = rows(found, SETTINGS, None)
    by_task = {task: part for task, part in table.groupby("task", sort=False)}
    assert (by_task["equal"]["p_value"] == 1).all() and (by_task["equal"]["system_letters"] == "a").all()
    assert (by_task["single"]["p_value"] == 1).all() and by_task["single"]["se"].isna().all()
    constant = by_task["constant"]  # a difference that is the same on each query is not one of chance
    assert constant["p_value"].tolist()[0] == 1 and constant["p_value"].iloc[1:].max() < 0.05
    reported = record_of(found, SETTINGS, {}, [])
    assert json.dumps(given(reported), allow_nan=False)
    assert any(said.startswith("single: 1 query;") for said in reported.warnings)
