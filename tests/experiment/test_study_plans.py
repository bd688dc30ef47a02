"""plan_study: what is planned by default, and what each mistake says in one line."""

import pytest

from ranktrial.common.errors import UserError
from tests.experiment.test_config import resolved
from tests.support.one_line import refused

ASSUMED = {"query_sd": 0.25, "collection_sd": 0.03}


def plans(section, **changes):
    return resolved({"plan_study": section, **changes}).study


def test_without_the_section_each_comparison_with_a_difference_is_planned_on_demand():
    changes = {"comparisons/gold": {"control": "bm25", "treatment": "tuned", "effect": "CORR"},
               "comparisons/m": {"control": "bm25", "treatment": "tuned", "margin": 0.02, "alpha": 0.01}}  # fmt: skip
    study = resolved(changes).study
    assert not study.configured and set(study.plans) == {"c", "m"}
    assert (study.plans["c"].effect, study.plans["c"].alpha) == (None, 0.05)
    assert (study.plans["m"].effect, study.plans["m"].alpha) == (0.02, 0.01)  # the margin is what matters least


def test_a_margin_of_a_standardised_effect_is_on_another_scale():
    comparison = {"control": "bm25", "treatment": "tuned", "margin": 0.02, "effect": "SMD"}
    assert plans({}, **{"comparisons/c": comparison}).plans["c"].effect is None


def test_numbers_are_put_in_order_and_assumed_variances_have_their_defaults():
    study = plans({"assumed": {"new": ASSUMED}, "queries": [100, 10], "half_width": 0.02})
    assert study.configured and list(study.plans) == ["new"]
    plan = study.plans["new"]
    assert plan.queries == (10, 100) and plan.half_width == 0.02 and plan.alpha == 0.05
    assert (plan.assumed.trained, plan.assumed.seed_sd) == (1, 0)
    assert set(plans({"assumed": {"new": ASSUMED}, "comparisons": "all"}).plans) == {"c", "new"}


@pytest.mark.parametrize(
    ("section", "reported"),
    [
        ({"comparisons": ["x"]}, "c.yaml: plan_study.comparisons: unknown name 'x'; comparisons has c"),
        (
            {"comparisons": ["c"], "assumed": {"c": ASSUMED}},
            "c.yaml: plan_study.assumed.c: is the name of a comparison",
        ),
        ({"effect": 0.1, "half_width": 0.1}, "c.yaml: plan_study.half_width: not together with effect"),
        ({"power": 0.05}, "c.yaml: plan_study.power: 0.05 is what chance alone gives at alpha 0.05; expected more"),
        ({"assumed": {"x": {"query_sd": 0.1}}}, "c.yaml: plan_study.assumed.x: key 'collection_sd' is missing"),
        ({"assumed": {"x": {**ASSUMED, "seed_sd": -1}}}, "c.yaml: plan_study.assumed.x.seed_sd: -1 is too small"),
        ({"queries": [1, 10]}, "c.yaml: plan_study.queries"),
        ({"effct": 0.1}, "c.yaml: plan_study: unknown key 'effct' (did you mean 'effect'?)"),
    ],
)
def test_a_mistake_is_one_line(section, reported):
    with refused(start=reported):
        plans(section)


def test_a_correlation_has_nothing_to_detect():
    gold = {"control": "bm25", "treatment": "tuned", "effect": "CORR"}
    with pytest.raises(
        UserError, match=r"plan_study\.comparisons: c has effect CORR: there is no difference to detect"
    ):
        plans({"comparisons": ["c"]}, **{"comparisons/c": gold})


def test_names_of_its_figures_are_reserved():
    with pytest.raises(UserError, match="names that begin with 'study-design-' are reserved"):
        resolved({"comparisons/study-design-x": {"control": "bm25", "treatment": "tuned"}})
