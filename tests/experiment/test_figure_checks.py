"""What the configuration says of a comparison's figures: what cannot be drawn is one line, and defaults change nothing."""

from ranktrial.experiment.exhibits import forest
from ranktrial.experiment.resolution import resolve
from scripts.reports import planning as pages
from scripts.synthesis import planning as synthesis
from tests.experiment.test_config import changed, resolved
from tests.support.one_line import each_is_one_line, refused

MISTAKES = {
    "limits the wrong way round": ({"limits": [1, -1]}, "figure.limits: [1, -1]: expected the lower limit first"),
    "limits without 0": ({"limits": [0.1, 0.2]}, "expected limits around 0"),
    "three limits": ({"limits": [-1, 0, 1]}, "comparisons.c.figure.limits"),
    "ticks outside": ({"limits": [-1, 1], "ticks": [0, 2]}, "figure.ticks: 2 lies outside the limits [-1, 1]"),
    "limits and a common axis": ({"limits": [-1, 1], "axis": "a"}, "figure.limits: not together with axis"),
    "unknown column": ({"columns": ["se"]}, "comparisons.c.figure.columns"),
    "digits below 0": ({"digits": -1}, "figure.digits: -1 is too small"),
    "a width in words": ({"width": "triple column"}, "comparisons.c.figure.width: "),
    "a width below a column": ({"width": 3}, "comparisons.c.figure.width: "),
    "a height without bounds": ({"height": 1e9}, "comparisons.c.figure.height: "),
    "a height of nothing": ({"height": 0}, "comparisons.c.figure.height: "),
    "a label on two lines": ({"x_label": "a\nb"}, "comparisons.c.figure.x_label: "),
    "no Bayesian summary": ({"bayesian": True}, "figure.bayesian: only valid with bayesian"),
}


test_what_cannot_be_drawn_is_refused_in_one_line = each_is_one_line(
    MISTAKES, lambda figure: resolved({"comparisons/c/figure": figure})
)


def test_a_correlation_has_limits_anywhere_and_no_differences_of_queries():
    correlation = {"comparisons/c/effect": "CORR"}
    resolved(correlation | {"comparisons/c/figure": {"limits": [0.5, 1]}})
    with refused("comparisons.c.figure.queries: only valid with an effect of a difference"):
        resolved(correlation | {"comparisons/c/figure": {"queries": True}})


def test_one_axis_measures_one_thing():
    second = {"control": "bm25", "treatment": "tuned", "figure": {"axis": "a"}}
    both = {"comparisons/c/figure": {"axis": "a"}, "comparisons/d": second}
    experiment = resolved(both)
    assert forest.sharing_axis(experiment, "c") == forest.sharing_axis(experiment, "d") == ["c", "d"]
    with refused("comparisons.d.figure.axis: no axis for c as well: they differ in effect"):
        resolved(both | {"comparisons/d": second | {"effect": "SMD"}})


def test_options_at_their_defaults_are_the_same_written_or_not():
    plain, spelt = (
        forest.settings(resolved({"comparisons/c/figure": figure}), "c")
        for figure in ({}, {"fixed": False, "bayesian": False, "influence": False, "queries": False})
    )
    assert plain == spelt and not {"limits", "axis"} & plain.keys()


def test_a_figure_is_given_its_options_and_a_table_only_those_of_numbers():
    figure = {"fixed": True, "limits": [-1, 1], "ticks": [0], "columns": ["n"], "digits": 4, "width": 8, "height": 6.5,
              "x_label": "Mean difference"}  # fmt: skip
    experiment = resolved({"comparisons/c/figure": figure, "lower_is_better": ["nDCG@10"]})
    reported = forest.settings(experiment, "c")
    assert figure.items() <= reported.items() and reported["facts"]["lower_is_better"] == ["nDCG@10"]
    table = pages.table_settings(experiment)["c"]
    assert table["digits"] == 4 and not {"fixed", "limits", "columns"} & table.keys()


def test_a_figure_is_given_which_tasks_its_systems_learnt_from():
    experiment = resolved({"datasets/o": {"format": "beir", "location": "docs"}, "tasks": ["d", "o"]})
    assert forest.known(experiment, "c")["marks"]["trained"] == {"tuned": ["d"]}
    swapped = changed({"comparisons/c": {"control": "tuned", "treatment": "bm25"}, "recipes/r2": {"train_on": "d"}})
    assert forest.known(resolve(swapped, "c.yaml"), "c")["marks"]["trained"] == {"tuned": ["d"]}


def test_what_a_recipe_starts_from_was_learnt_too():
    changes = {
        "datasets/o": {"format": "beir", "location": "docs"},
        "recipes/further": {"train_on": "o", "start_from": "r"},
        "systems/tuned/recipe": "further",
        "tasks": ["d", "o"],
    }
    experiment = resolved(changes)
    assert forest.known(experiment, "c")["marks"]["trained"] == {"tuned": ["d", "o"]}


def test_measures_of_which_a_lower_value_is_better_are_known_by_any_of_their_names():
    experiment = resolved({"lower_is_better": ["NDCG@10"]})
    assert experiment.lower_is_better == ("nDCG@10",)
    assert resolved({}).lower_is_better == ()
    with refused("c.yaml: lower_is_better: 'P@7' is not among the measures"):
        resolved({"lower_is_better": ["P@7"]})


def test_the_direction_of_a_measure_is_a_setting_of_the_statistics_only_where_these_depend_on_it():
    reported = [
        synthesis.comparison_settings(resolved(changes), "c")
        for changes in ({"lower_is_better": ["nDCG@10"]}, {"lower_is_better": ["nDCG@10"], "comparisons/c/margin": 0.1})
    ]
    assert ["lower_is_better" in one for one in reported] == [False, True]


def test_a_bayesian_summary_that_is_computed_can_be_drawn():
    changes = {"comparisons/c/figure": {"bayesian": True}, "comparisons/c/bayesian": {}}
    assert forest.settings(resolved(changes), "c")["bayesian"] is True
