"""The lines of an effects file: one family for all tests, and variances of one scale in a column."""

import numpy as np
import pytest

from ranktrial.synthesis.comparison_results import rows
from tests.statistics.test_sensitivity import RANDOM, result, tasks


def test_the_family_of_an_adjustment_is_the_same_for_every_test():
    """t is undefined where systems are the same, the randomisation test has p = 1: both count as a member."""
    results = tasks({"a": 0.05, "same": None, "b": 0.01})
    table = rows(results, {}).set_index("task")
    for test in ("t_p", "randomisation_p"):
        p = table[f"{test}_value"].astype(float).drop("same")
        assert table.loc[p.idxmin(), f"{test}_holm"] == pytest.approx(min(1, 3 * p.min()))
        assert table.loc[p.idxmin(), f"{test}_bh"] == pytest.approx(min(3 * p.min(), 3 / 2 * p.max(), 1))
    assert table.loc["same", "randomisation_p_value"] == 1 and np.isnan(table.loc["same", "t_p_holm"])


def test_variances_of_two_scales_do_not_stand_in_one_table():
    control = RANDOM.uniform(0, 1, (15, 1))
    treatment = control + RANDOM.normal(0.05, 0.1, (15, 3))
    md, smd = (rows({"a": result(control, treatment, effect=effect)}, {}).iloc[0] for effect in ("MD", "SMD"))
    assert md["variance_with_seeds"] >= md["variance"] and smd["variance_with_seeds"] is None
    assert md["seed_share"] == smd["seed_share"]
