"""LambdaMART by XGBoost: boosted trees with the objective rank:ndcg.

Chen and Guestrin (2016), XGBoost: A Scalable Tree Boosting System, KDD. The gain of a grade is 2^grade - 1. The default
depth and learning rate are those of Chekalina and Panchenko (2021); trees are added until nDCG on dev has not increased
for `patience` trees. Saved in XGBoost's own JSON format. Features are stored as 32-bit floats.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.learning_to_rank.learners import Lists, Parameter, Parameters, check_gains

NAME = "xgboost"
DESCRIPTION = "LambdaMART (XGBoost)"
LIBRARY = "xgboost-cpu"
PARAMETERS = {
    "max_depth": Parameter("depth of a tree", 6, 1, 30, whole=True),
    "learning_rate": Parameter("weight of a tree", 0.01, 1e-6, 10),
    "min_child_weight": Parameter("second derivatives that a leaf has at least, summed", 1, 0, 1_000_000),
    "reg_lambda": Parameter("L2 penalty of the values of leaves", 1, 0, 1_000_000),
    "subsample": Parameter("share of the candidates that a tree is drawn", 1, 0.01, 1),
    "colsample_bytree": Parameter("share of the features that a tree is drawn", 1, 0.01, 1),
    "trees": Parameter("trees at most", 1000, 1, 100_000, whole=True),
    "patience": Parameter("trees without a gain on dev after which it stops", 200, 1, 100_000, whole=True),
}


class Trees:
    """An XGBoost booster."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster
        self.rounds: int | None = booster.num_boosted_rounds()

    def scores(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.booster.predict(_matrix(values)))

    def text(self) -> str:
        return bytes(self.booster.save_raw(raw_format="json")).decode()

    def gain(self) -> np.ndarray:
        gains = self.booster.get_score(importance_type="total_gain")
        return np.array([gains.get(f"f{place}", 0.0) for place in range(self.booster.num_features())])

    def shap(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.booster.predict(_matrix(values), pred_contribs=True))[:, :-1]


def _matrix(values: np.ndarray, **further: Any) -> Any:
    import xgboost

    return xgboost.DMatrix(values, nthread=1, **further)


def _labelled(lists: Lists) -> Any:
    return _matrix(lists.values, label=lists.grades, group=lists.sizes)


def draws(parameters: Parameters) -> bool:
    return bool(parameters["subsample"] < 1 or parameters["colsample_bytree"] < 1)


def fit(train: Lists, dev: Lists | None, parameters: Parameters, cutoff: int, seed: int) -> Trees:
    import xgboost

    check_gains(NAME, train, *([dev] if dev else []))
    params = {name: value for name, value in parameters.items() if name not in ("trees", "patience")}
    params |= {"objective": "rank:ndcg", "eval_metric": f"ndcg@{cutoff}", "tree_method": "hist"}
    params |= {"nthread": 1, "seed": seed, "verbosity": 0}
    stopping: dict[str, Any] = {}
    if dev:
        stopping = {"evals": [(_labelled(dev), "dev")], "early_stopping_rounds": parameters["patience"]}
    try:
        booster = xgboost.train(params, _labelled(train), parameters["trees"], verbose_eval=False, **stopping)
    except xgboost.core.XGBoostError as error:
        raise UserError(f"xgboost cannot learn: {str(error).strip().splitlines()[0]}") from None
    kept = booster[: booster.best_iteration + 1] if dev else booster
    return read(bytes(kept.save_raw(raw_format="json")).decode())


def read(text: str) -> Trees:
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    try:
        if not {"learner", "version"} <= set(json.loads(text)) or text.startswith("["):
            raise ValueError  # the library aborts the process for text that is not JSON
        booster.load_model(bytearray(text.encode()))
    except (ValueError, TypeError):  # XGBoostError is a ValueError
        raise UserError(f"is not a model of {NAME}") from None
    return Trees(booster)
