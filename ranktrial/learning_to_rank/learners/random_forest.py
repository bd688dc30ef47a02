"""A random forest that predicts grades: scikit-learn trees, each grown on a bootstrap sample of the candidates.

Breiman (2001), Random Forests, Machine Learning 45(1). The default of twenty trees is that of Chekalina and Panchenko
(2021). The trees' arrays are saved as JSON and evaluated here: at a node, a row goes left if the feature (as a 32-bit
float) is at most the threshold. The forest's prediction is the mean over its trees; both agree with scikit-learn's bit
for bit.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.learning_to_rank.learners import Lists, Parameter, Parameters

NAME = "random-forest"
DESCRIPTION = "random forest (scikit-learn)"
LIBRARY = "scikit-learn"
PARAMETERS = {
    "trees": Parameter("trees", 20, 1, 10_000, whole=True),
    "max_depth": Parameter("depth of a tree; not limited by default", None, 1, 1000, whole=True),
    "min_samples_leaf": Parameter("candidates that a leaf has at least", 1, 1, 1_000_000, whole=True),
    "max_features": Parameter("share of the features that are tried at a node", 1, 0.01, 1),
}
PARTS = ("left", "right", "feature", "threshold", "value")  # of a tree, one element per node; left is -1 for a leaf
INTEGERS = PARTS[:3]


class Forest:
    """Trees as arrays."""

    rounds: int | None = None

    def __init__(self, trees: list[dict[str, list[Any]]], gain: list[float]) -> None:
        self.trees, self.gained = trees, gain
        self.arrays = [
            {part: np.array(tree[part], dtype=np.int64 if part in INTEGERS else np.float64) for part in PARTS}
            for tree in trees
        ]

    def scores(self, values: np.ndarray) -> np.ndarray:
        held = values.astype(np.float32)
        total = np.zeros(len(values))
        for tree in self.arrays:
            total += tree["value"][leaves(tree, held)]
        return total / len(self.arrays)

    def text(self) -> str:
        return json.dumps({"learner": NAME, "gain": self.gained, "trees": self.trees}) + "\n"

    def gain(self) -> np.ndarray:
        return np.array(self.gained)

    def shap(self, values: np.ndarray) -> None:
        return None


def leaves(tree: dict[str, np.ndarray], held: np.ndarray) -> np.ndarray:
    """The leaf that each row reaches; all rows descend one level at a time."""
    node = np.zeros(len(held), dtype=np.int64)
    going = np.flatnonzero(tree["left"][node] >= 0)
    while len(going):
        at = node[going]
        left = held[going, tree["feature"][at]] <= tree["threshold"][at]
        node[going] = np.where(left, tree["left"][at], tree["right"][at])
        going = going[tree["left"][node[going]] >= 0]
    return node


def draws(parameters: Parameters) -> bool:
    return True


def grown(train: Lists, parameters: Parameters, seed: int) -> Any:
    """The forest as a scikit-learn object."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(
        n_estimators=parameters["trees"], max_depth=parameters["max_depth"], random_state=seed, n_jobs=1,
        min_samples_leaf=parameters["min_samples_leaf"], max_features=float(parameters["max_features"]),
    )  # fmt: skip
    return forest.fit(train.values, train.grades)


def fit(train: Lists, dev: Lists | None, parameters: Parameters, cutoff: int, seed: int) -> Forest:
    forest = grown(train, parameters, seed)
    trees = []
    for one in forest.estimators_:
        tree = one.tree_
        parts = (tree.children_left, tree.children_right, tree.feature, tree.threshold, tree.value.ravel())
        trees.append({name: part.tolist() for name, part in zip(PARTS, parts, strict=True)})
    return Forest(trees, forest.feature_importances_.tolist())


def read(text: str) -> Forest:
    try:
        held = json.loads(text)
        if held["learner"] != NAME:
            raise ValueError
        return Forest(held["trees"], held["gain"])
    except (ValueError, KeyError, TypeError):
        raise UserError(f"is not a model of {NAME}") from None
