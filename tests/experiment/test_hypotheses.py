"""Comparisons that ask the same in the same way are one hypothesis, on any scale, and families are apart."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.comparisons import families, repeated
from scripts.synthesis import planning
from tests.experiment.test_config import resolved

PAIR = {"control": "bm25", "treatment": "tuned"}


def experiment(**comparisons):
    return resolved({"tasks": ["d", "d/dev"], "comparisons": comparisons})


def test_scales_levels_and_order_make_no_further_hypothesis_other_ways_of_testing_it_do():
    same = {
        "md": PAIR,
        "smd": PAIR | {"effect": "SMD", "alpha": 0.1},
        "d_av": PAIR | {"effect": "d_av"},
        "turned": {"control": "tuned", "treatment": "bm25"},
        "listed": PAIR | {"tasks": ["d/dev", "d"]},
    }
    other = {
        "measure": PAIR | {"measure": "RR@10"},
        "task": PAIR | {"tasks": ["d"]},
        "correlation": PAIR | {"effect": "CORR"},
        "weights": PAIR | {"interval": "normal"},
        "estimator": PAIR | {"interval": "normal", "estimator": "DL"},
        "clusters": PAIR | {"clusters": "query"},
        "dependence": PAIR | {"dependence": "independent"},
    }
    found = experiment(**same, **other)
    assert repeated(found) == dict.fromkeys(["smd", "d_av", "turned", "listed"], "md")
    assert planning.table_settings(found) == {"repeated": repeated(found)}


def test_measures_of_tasks_make_a_hypothesis_by_task_in_any_order():
    tasks, names = ["d", "d/dev", "e"], ["RR@10", "P@10"]
    given = {"first": "PRR", "second": "PRP", "third": "PPR", "listed": "PRR"}
    comparisons = {
        name: PAIR | {"effect": "SMD", "tasks": tasks[::-1] if name == "listed" else tasks,
                      "measure_on": dict(zip(tasks, [names[letter == "P"] for letter in letters], strict=True))}
        for name, letters in given.items()
    }  # fmt: skip
    other = {"format": "beir", "location": "docs"}
    changes = {"tasks": tasks, "datasets/e": other, "measures": names, "comparisons": comparisons}
    assert repeated(resolved(changes)) == {"listed": "first"}


def test_families_are_apart():
    found = experiment(a=PAIR, b=PAIR | {"effect": "SMD", "family": "x"}, c=PAIR | {"effect": "d_av", "family": "x"})
    assert repeated(found) == {"c": "b"} and families(found) == {"b": "x", "c": "x"}
    assert "family" not in planning.comparison_settings(found, "b")


def test_one_figure_does_not_show_two_families():
    together = {"figure": {"together": "both"}}
    pairs = {"a": PAIR | together, "b": PAIR | {"family": "x"} | together}
    with pytest.raises(
        UserError, match=r"comparisons\.b\.figure\.together: cannot be drawn with a: they differ in family"
    ):
        experiment(**pairs)
