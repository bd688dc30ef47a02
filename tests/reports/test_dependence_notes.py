"""What a figure says of seeds and of clustered queries."""

from __future__ import annotations

import pandas as pd

from scripts.reports.comparison.dependence_notes import clusters_note, negative_weights_note, seeds_note

LABELS = {"c": "Control", "t": "Treatment", "s": "Sibling"}.__getitem__
META = {"control": "c", "treatment": "t"}


def test_seeds_are_named_with_whose_they_are():
    own, borrowed = {"status": "own", "source": "t", "seeds": 3}, {"status": "borrowed", "source": "s", "seeds": 5}
    seeds = {"control": borrowed, "treatment": own}
    expected = "Intervals hold the luck of seeds (Control: 5 seeds of Sibling; Treatment: 3 seeds)."
    assert seeds_note([META | {"seeds": seeds}, META | {"seeds": seeds}], LABELS) == expected


def test_unknown_seeds_are_said_and_none_are_not():
    unknown = {"status": "unknown", "source": None}
    text = "The seeds of Control are unknown: intervals take them as given, and are too narrow."
    assert seeds_note([META | {"seeds": {"control": unknown}}], LABELS) == text
    both = seeds_note([META | {"seeds": {"difference": unknown}}], LABELS)
    assert both.startswith("The seeds of Control and Treatment are unknown")
    assert seeds_note([META, META | {"seeds": "conditional"}], LABELS) == ""


def test_clusters_come_with_their_design_effect():
    effects = pd.DataFrame({"task": ["c", "t"], "clusters": [1465.0, None], "design_effect": [1.876, None]})
    assert clusters_note(effects, META, LABELS) == "Clusters of queries (design effect): Control 1,465 (1.88)."
    assert clusters_note(effects[1:], META, LABELS) == clusters_note(effects[["task"]], META, LABELS) == ""


def test_a_design_effect_that_counts_as_1_is_shown_as_estimated():
    effects = pd.DataFrame({"task": ["c"], "clusters": [1175.0], "design_effect": [0.77]})
    text = "Clusters of queries (design effect, below 1 counts as 1): Control 1,175 (0.77)."
    assert clusters_note(effects, META | {"clusters_as_independent": ["c"]}, LABELS) == text


def test_a_weight_below_zero_is_explained_whatever_comparison_of_the_figure_has_it():
    plain = pd.DataFrame({"task": ["a", "b"], "weight": [0.4, 0.6]})
    dependent = pd.DataFrame({"task": ["a", "b"], "weight": [1.1, -0.1]})
    without_effect = pd.DataFrame({"task": ["a"], "weight": [None]})
    assert negative_weights_note([plain, without_effect], str.upper) == ""
    said = negative_weights_note([plain, dependent, dependent], str.upper)
    assert said.startswith("A weight below 0 (B): ")
