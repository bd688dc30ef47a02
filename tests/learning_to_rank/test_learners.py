"""Each learner: finds an obvious rule, is the same for equal data, and is the same after saving and reading."""

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.learning_to_rank.learners import LEARNERS, Lists, Parameter, known, learner
from ranktrial.learning_to_rank.learners import random_forest as forest

NAMES = list(known())
SMALL = {"lightgbm": {"min_data_in_leaf": 2, "trees": 30}, "xgboost": {"trees": 30, "learning_rate": 0.3}}


def lists(seed: int, queries: int = 30, candidates: int = 12, grade=None) -> Lists:
    """Of each query two candidates are relevant: those whose second feature is highest. The others are noise."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(queries * candidates, 4))
    values[:, 3] = 7.0  # constant
    order = values[:, 1].reshape(queries, candidates).argsort(axis=1).argsort(axis=1)
    grades = np.maximum(order - (candidates - 3), 0).ravel() if grade is None else np.full(len(values), grade)
    names = [f"q{number}" for number in range(queries)]
    documents = [f"d{number}" for number in range(len(values))]
    return Lists(["a", "b", "c", "same"], names, np.full(queries, candidates), documents, grades, values)


def settings(name: str, **changes) -> dict:
    return {key: one.default for key, one in learner(name).PARAMETERS.items()} | SMALL.get(name, {}) | changes


def fitted(name: str, seed: int = 1, **changes):
    return learner(name).fit(lists(1), lists(2), settings(name, **changes), 10, seed)


def found(model) -> float:
    """The share of new queries whose first candidate is the best one."""
    new = lists(3)
    scores = model.scores(new.values).reshape(30, 12)
    return float((scores.argmax(axis=1) == new.grades.reshape(30, 12).argmax(axis=1)).mean())


@pytest.mark.parametrize("name", NAMES)
def test_a_learner_finds_an_obvious_rule(name):
    assert found(fitted(name)) > 0.75  # one in twelve by chance


@pytest.mark.parametrize("name", NAMES)
def test_equal_data_and_seed_make_an_equal_model_and_reading_it_the_same_scores(name):
    model, new = fitted(name), lists(3).values
    text = model.text()
    assert text == fitted(name).text()
    again = learner(name).read(text)
    assert np.array_equal(model.scores(new), again.scores(new)) and again.text() == text


@pytest.mark.parametrize(
    ("name", "changes", "drawing"),
    [("lightgbm", {}, False), ("lightgbm", {"bagging_fraction": 0.5}, True), ("lightgbm", {"feature_fraction": 0.5}, True),
     ("xgboost", {}, False), ("xgboost", {"subsample": 0.5}, True), ("random-forest", {}, True), ("linear", {}, False)],
)  # fmt: skip
def test_only_a_learner_that_draws_differs_from_seed_to_seed(name, changes, drawing):
    assert learner(name).draws(settings(name, **changes)) == drawing
    new = lists(3).values
    first, second = (fitted(name, seed, **changes).scores(new) for seed in (1, 2))
    assert np.array_equal(first, second) != drawing


@pytest.mark.parametrize("name", NAMES)
def test_importance_points_at_the_feature_of_the_rule(name):
    model, new = fitted(name), lists(3).values
    gain, shap = model.gain(), model.shap(new)
    assert gain is None if name == "linear" else gain.argmax() == 1 and gain[3] == 0 and len(gain) == 4
    if name == "random-forest":
        assert shap is None
        return
    assert shap.shape == new.shape and np.abs(shap).mean(axis=0).argmax() == 1
    rest = model.scores(new) - shap.sum(axis=1)  # what they add up to, less a constant
    assert np.ptp(rest) < 1e-4


@pytest.mark.parametrize("changes", [{}, {"max_depth": 2}, {"max_features": 0.5, "min_samples_leaf": 3, "trees": 7}])
def test_the_walk_of_a_forest_is_that_of_scikit_learn(changes):
    parameters = settings("random-forest", **changes)
    theirs = forest.grown(lists(1), parameters, 5)
    ours = forest.fit(lists(1), lists(2), parameters, 10, 5)
    at_thresholds = lists(1).values  # many rows lie where trees were split
    for values in (at_thresholds, lists(3).values, np.round(lists(3).values, 1)):
        assert np.array_equal(ours.scores(values), theirs.predict(values))


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_trees_are_added_until_dev_gains_nothing(name):
    long = fitted(name, trees=200, patience=5)
    assert 1 <= long.rounds < 200
    assert fitted(name, trees=3, patience=50).rounds <= 3


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_a_grade_beyond_the_gains_is_reported(name):
    with pytest.raises(UserError, match="takes grades up to 30"):
        learner(name).fit(lists(1, grade=31), lists(2), settings(name), 10, 1)


def test_what_linear_cannot_learn_from_is_reported():
    with pytest.raises(UserError, match="all are relevant"):
        learner("linear").fit(lists(1, grade=1), lists(2), settings("linear"), 10, 1)
    same = lists(1)
    same.values[:] = 1.0
    with pytest.raises(UserError, match="no feature differs"):
        learner("linear").fit(same, lists(2), settings("linear"), 10, 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_that_is_no_model_is_reported(name):
    for text in ("", "{}", "tree\n", '{"learner": "other"}'):
        with pytest.raises(UserError, match=f"is not a model of {name}"):
            learner(name).read(text)


def test_the_papers_settings_are_the_defaults():
    defaults = {name: settings(name) | {} for name in NAMES}
    assert learner("lightgbm").PARAMETERS["num_leaves"].default == 15
    assert learner("lightgbm").PARAMETERS["learning_rate"].default == 0.1
    assert defaults["xgboost"]["max_depth"] == 6 and learner("xgboost").PARAMETERS["learning_rate"].default == 0.01
    assert defaults["random-forest"]["trees"] == 20


def test_a_parameter_says_what_it_may_be():
    leaves = Parameter("leaves", 15, 2, 100, whole=True)
    assert leaves.mistake(2) is None
    assert leaves.mistake(1) == "1: expected a whole number from 2 to 100"
    assert leaves.mistake(2.5) and leaves.mistake(True) and leaves.mistake("3")
    with pytest.raises(ValueError, match="expected one of"):
        learner("deep")
    assert LEARNERS.endswith("learners")
