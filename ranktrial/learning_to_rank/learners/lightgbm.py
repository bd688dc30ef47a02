"""LambdaMART by LightGBM: boosted trees with LambdaRank gradients, weighted by the change in nDCG.

Burges (2010), From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82; Ke et al. (2017), LightGBM, NeurIPS. The gain
of a grade is 2^grade - 1. The default number of leaves and learning rate are those of Chekalina and Panchenko (2021);
trees are added until nDCG on dev has not increased for `patience` trees. Saved in LightGBM's own text format.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.learning_to_rank.learners import Lists, Parameter, Parameters, check_gains

NAME = "lightgbm"
DESCRIPTION = "LambdaMART (LightGBM)"
LIBRARY = "lightgbm"
PARAMETERS = {
    "num_leaves": Parameter("leaves of a tree", 15, 2, 10_000, whole=True),
    "learning_rate": Parameter("weight of a tree", 0.1, 1e-6, 10),
    "min_data_in_leaf": Parameter("candidates that a leaf has at least", 20, 1, 1_000_000, whole=True),
    "lambda_l2": Parameter("L2 penalty of the values of leaves", 0, 0, 1_000_000),
    "bagging_fraction": Parameter("share of the candidates that a tree is drawn", 1, 0.01, 1),
    "feature_fraction": Parameter("share of the features that a tree is drawn", 1, 0.01, 1),
    "trees": Parameter("trees at most", 1000, 1, 100_000, whole=True),
    "patience": Parameter("trees without a gain on dev after which it stops", 50, 1, 100_000, whole=True),
}


class Trees:
    """A LightGBM booster."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster
        self.rounds: int | None = booster.num_trees()

    def scores(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.booster.predict(values, num_threads=1))

    def text(self) -> str:
        return str(self.booster.model_to_string())

    def gain(self) -> np.ndarray:
        return np.asarray(self.booster.feature_importance("gain"))

    def shap(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.booster.predict(values, pred_contrib=True, num_threads=1))[:, :-1]


def draws(parameters: Parameters) -> bool:
    return bool(parameters["bagging_fraction"] < 1 or parameters["feature_fraction"] < 1)


def fit(train: Lists, dev: Lists | None, parameters: Parameters, cutoff: int, seed: int) -> Trees:
    import lightgbm

    check_gains(NAME, train, *([dev] if dev else []))
    params = {name: value for name, value in parameters.items() if name not in ("trees", "patience")}
    params |= {"bagging_freq": 1 if parameters["bagging_fraction"] < 1 else 0, "seed": seed, "verbosity": -1}
    params |= {"objective": "lambdarank", "metric": "ndcg", "eval_at": [cutoff]}
    params |= {"num_threads": 1, "deterministic": True, "force_row_wise": True}  # the same data give the same trees
    learnt = lightgbm.Dataset(train.values, train.grades, group=train.sizes)
    stopping: dict[str, list[Any]] = {}
    if dev:
        held = lightgbm.Dataset(dev.values, dev.grades, group=dev.sizes, reference=learnt)
        rule = lightgbm.early_stopping(parameters["patience"], verbose=False)
        stopping = {"valid_sets": [held], "callbacks": [rule]}
    try:
        booster = lightgbm.train(params, learnt, parameters["trees"], **stopping)
    except lightgbm.basic.LightGBMError as error:
        raise UserError(f"lightgbm cannot learn: {' '.join(str(error).split())}") from None
    return read(booster.model_to_string(num_iteration=booster.best_iteration if dev else -1))


def read(text: str) -> Trees:
    import lightgbm

    try:
        if not text.startswith("tree\n") or "\nend of trees\n" not in text:
            raise ValueError
        return Trees(lightgbm.Booster(model_str=text))
    except (ValueError, lightgbm.basic.LightGBMError):
        raise UserError(f"is not a model of {NAME}, or is damaged") from None
