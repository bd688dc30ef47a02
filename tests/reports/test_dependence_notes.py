"""What a figure says of seeds and of clustered queries."""

from ranktrial.records.comparison import EffectsRow
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.notes import (
    clusters_note,
    negative_weights_note,
    note_of_test,
    seeds_note,
)
from ranktrial.reports.comparison.reading import Found
from tests.support.meta_records import SUMMARY, meta_record

NAMES = {"c": "Control", "t": "Treatment", "s": "Sibling"}
LABELS = Labels(NAMES, NAMES)


def found(meta, **columns) -> Found:
    """A comparison whose tasks have these values, a list each."""
    tasks = zip(*columns.values(), strict=True)
    return Found(tuple(EffectsRow(**dict(zip(columns, values, strict=True))) for values in tasks), meta)


def test_seeds_are_named_with_whose_they_are():
    own, borrowed = {"status": "own", "source": "t", "seeds": 3}, {"status": "borrowed", "source": "s", "seeds": 5}
    seeds = {"control": borrowed, "treatment": own}
    with_seeds = meta_record(seeds=seeds, given_seeds=SUMMARY)
    said = "Intervals include seed variance (Control: 5 seeds of Sibling; Treatment: 3 seeds)."
    assert seeds_note([seeded(with_seeds, 1e-4, 0.0)] * 2, LABELS) == said


def test_an_interval_that_takes_the_seeds_as_given_is_not_said_to_include_them():
    seeds = {"treatment": {"status": "own", "source": "t", "seeds": 3}}
    with_seeds, given = meta_record(seeds=seeds, given_seeds=SUMMARY), meta_record(seeds=seeds)
    cases = {
        "Intervals of means include seed variance (Treatment: 3 seeds); those of tasks take the seeds as given.":
            seeded(with_seeds, None, None),
        "Intervals include seed variance (Treatment: 3 seeds); those of 1 of 2 tasks take the seeds as given.":
            seeded(with_seeds, 1e-4, None),
        "Intervals take the seeds as given (Treatment: 3 seeds).": seeded(given, None),
    }  # fmt: skip
    assert [seeds_note([one], LABELS) for one in cases.values()] == list(cases)
    both = seeds_note([seeded(with_seeds, 1e-4), seeded(given, None)], LABELS)
    assert (
        both
        == "Intervals include seed variance (Treatment: 3 seeds). Intervals take the seeds as given (Treatment: 3 seeds)."
    )


def seeded(meta, *seeds_variances):
    """Tasks with an effect whose intervals include these seed variances, None if they take the seeds as given."""
    count = len(seeds_variances)
    return found(meta, task="abc"[:count], effect=[0.1] * count, seeds_variance=seeds_variances)


def test_unknown_seeds_are_said_and_none_are_not():
    unknown = {"status": "unknown", "source": None}
    text = "The seed variance of Control is unknown: intervals do not include it and are too narrow."
    assert seeds_note([seeded(meta_record(seeds={"control": unknown}), None)], LABELS) == text
    both = seeds_note([seeded(meta_record(seeds={"difference": unknown}), None)], LABELS)
    assert both.startswith("The seed variance of Control and Treatment is unknown")
    assert seeds_note([seeded(meta_record(), None), seeded(meta_record(seeds="conditional"), None)], LABELS) == ""


def test_clusters_come_with_their_design_effect():
    columns = {"task": ["c", "t"], "clusters": [1465, None], "design_effect": [1.876, None]}
    said = clusters_note([found(meta_record(), **columns)], LABELS)
    assert said == "Clusters of queries (design effect): Control 1,465 (1.88)."
    assert clusters_note([found(meta_record(), task=["c", "t"])], LABELS) == ""
    of_test = clusters_note([found(meta_record(), **columns, t_df=[20.63, 9.0])], LABELS)
    assert of_test == "Clusters of queries (design effect, df of t): Control 1,465 (1.88, 20.6)."


def test_clusters_of_several_treatments_are_said_once_with_the_range_of_their_effects():
    """Twelve treatments over three collections would otherwise fill half of a figure."""
    of = {"task": ["c"], "clusters": [6], "t_df": [9.0]}
    three = [found(meta_record(), **of, design_effect=[effect]) for effect in (3.54, 0.014, 1.2)]
    assert clusters_note(three, LABELS) == "Clusters of queries (design effect, df of t): Control 6 (0.01 to 3.54, 9)."
    of_one = [found(meta_record(), task=["c"]), three[1]]
    assert clusters_note(of_one, LABELS) == "Clusters of queries (design effect, df of t): Control 6 (0.01, 9)."


def test_a_test_says_on_how_many_tasks_clusters_and_seeds_change_it():
    """A paired t-test of 40 queries with 20.6 degrees of freedom is not SciPy's."""
    columns = {"task": list("abc"), "effect": [0.1, 0.2, None], "clusters": [30.0, None, None],
               "design_effect": [1.4, None, None], "seeds_variance": [1e-4, 1e-5, None]}  # fmt: skip
    said = {
        test: note_of_test(found(meta_record(), **columns), test) for test in ("t-test", "interval", "randomisation")
    }
    assert (
        said["t-test"]
        == said["interval"]
        == " (cluster-robust on 1 of 2 tasks, including seed variance, above 0 on all 2 tasks)"
    )
    assert said["randomisation"] == " (clusters flipped as a whole on 1 of 2 tasks)"
    as_independent = meta_record(
        clusters_as_independent=["a"]
    )  # its variance and its flips are those of single queries
    assert note_of_test(found(as_independent, **columns), "randomisation") == ""
    assert (
        note_of_test(found(meta_record(), **columns | {"clusters": [None] * 3, "seeds_variance": [0.0] * 3}), "t-test")
        == ""
    )


def test_a_design_effect_that_counts_as_1_is_shown_as_estimated():
    columns = {"task": ["c"], "clusters": [1175], "design_effect": [0.77]}
    text = "Clusters of queries (design effect, values below 1 count as 1): Control 1,175 (0.77)."
    assert clusters_note([found(meta_record(clusters_as_independent=["c"]), **columns)], LABELS) == text


def test_a_weight_below_zero_is_explained_whatever_comparison_of_the_figure_has_it():
    plain = found(meta_record(), task=["a", "b"], weight=[0.4, 0.6])
    dependent = found(meta_record(), task=["a", "b"], weight=[1.1, -0.1])
    without_effect = found(meta_record(), task=["a"], weight=[None])
    assert negative_weights_note([plain, without_effect], Labels({"b": "B"}, {})) == ""
    said = negative_weights_note([plain, dependent, dependent], Labels({"b": "B"}, {}))
    assert said.startswith("Negative weight (B): ")
