"""What a figure says of seeds and of clustered queries."""

from __future__ import annotations

import pandas as pd

from scripts.reports.comparison.dependence_notes import clusters_note, negative_weights_note, note_of_test, seeds_note
from tests.support.meta_records import meta_record

LABELS = {"c": "Control", "t": "Treatment", "s": "Sibling"}.__getitem__


def test_seeds_are_named_with_whose_they_are():
    own, borrowed = {"status": "own", "source": "t", "seeds": 3}, {"status": "borrowed", "source": "s", "seeds": 5}
    seeds = {"control": borrowed, "treatment": own}
    expected = "Intervals include seed variance (Control: 5 seeds of Sibling; Treatment: 3 seeds)."
    assert seeds_note([meta_record(seeds=seeds), meta_record(seeds=seeds)], LABELS) == expected


def test_unknown_seeds_are_said_and_none_are_not():
    unknown = {"status": "unknown", "source": None}
    text = "The seed variance of Control is unknown: intervals do not include it and are too narrow."
    assert seeds_note([meta_record(seeds={"control": unknown})], LABELS) == text
    both = seeds_note([meta_record(seeds={"difference": unknown})], LABELS)
    assert both.startswith("The seed variance of Control and Treatment is unknown")
    assert seeds_note([meta_record(), meta_record(seeds="conditional")], LABELS) == ""


def test_clusters_come_with_their_design_effect():
    effects = pd.DataFrame({"task": ["c", "t"], "clusters": [1465.0, None], "design_effect": [1.876, None]})
    assert clusters_note(effects, meta_record(), LABELS) == "Clusters of queries (design effect): Control 1,465 (1.88)."
    assert (
        clusters_note(effects[1:], meta_record(), LABELS)
        == clusters_note(effects[["task"]], meta_record(), LABELS)
        == ""
    )
    of_test = clusters_note(effects.assign(t_df=[20.63, 9.0]), meta_record(), LABELS)
    assert of_test == "Clusters of queries (design effect, df of t): Control 1,465 (1.88, 20.6)."


def test_a_test_says_on_how_many_tasks_clusters_and_seeds_change_it():
    """A paired t-test of 40 queries with 20.6 degrees of freedom is not SciPy's."""
    effects = pd.DataFrame({"task": list("abc"), "effect": [0.1, 0.2, None], "clusters": [30.0, None, None],
                            "design_effect": [1.4, None, None], "seeds_variance": [1e-4, 1e-5, None]})  # fmt: skip
    said = {test: note_of_test(effects, meta_record(), test) for test in ("t-test", "interval", "randomisation")}
    assert (
        said["t-test"]
        == said["interval"]
        == " (cluster-robust on 1 of 2 tasks, including seed variance, above 0 on all 2 tasks)"
    )
    assert said["randomisation"] == " (clusters flipped as a whole on 1 of 2 tasks)"
    as_independent = meta_record(
        clusters_as_independent=["a"]
    )  # its variance and its flips are those of single queries
    assert note_of_test(effects, as_independent, "randomisation") == ""
    assert note_of_test(effects.assign(clusters=None, seeds_variance=0.0), meta_record(), "t-test") == ""


def test_a_design_effect_that_counts_as_1_is_shown_as_estimated():
    effects = pd.DataFrame({"task": ["c"], "clusters": [1175.0], "design_effect": [0.77]})
    text = "Clusters of queries (design effect, values below 1 count as 1): Control 1,175 (0.77)."
    assert clusters_note(effects, meta_record(clusters_as_independent=["c"]), LABELS) == text


def test_a_weight_below_zero_is_explained_whatever_comparison_of_the_figure_has_it():
    plain = pd.DataFrame({"task": ["a", "b"], "weight": [0.4, 0.6]})
    dependent = pd.DataFrame({"task": ["a", "b"], "weight": [1.1, -0.1]})
    without_effect = pd.DataFrame({"task": ["a"], "weight": [None]})
    assert negative_weights_note([plain, without_effect], str.upper) == ""
    said = negative_weights_note([plain, dependent, dependent], str.upper)
    assert said.startswith("Negative weight (B): ")
