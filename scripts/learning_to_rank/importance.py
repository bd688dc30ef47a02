"""Feature importance in a learnt ranker, by gain, permutation and SHAP.

Reads a model and its record, the dev feature files and the dev judgements. Writes a table (TSV), one row per feature:

    gain            the total gain of the splits on it in training, as a share of all features' gain
    permutation     the decrease of the mean measure on dev when its values are shuffled over all dev candidates, the
                    mean over several shuffles (Breiman 2001, Random Forests, section 10); seeded
    permutation_sd  the standard deviation over these shuffles
    shap            the mean |SHAP value| over dev candidates, by the library's own routine (Lundberg and Lee 2017)

A field is empty if the learner has no such number.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text
from ranktrial.common.progress import track
from ranktrial.ir.trec import Qrels
from ranktrial.learning_to_rank.files import (
    check_features,
    mean_measure,
    read_judgements,
    read_lists,
    read_model,
    read_record,
)
from ranktrial.learning_to_rank.learners import Lists, Model

COLUMNS = ("feature", "gain", "permutation", "permutation_sd", "shap")
MOST_EXPLAINED = 2000  # candidates whose SHAP values are computed, evenly spaced among all


@dataclass(frozen=True)
class Settings:
    measure: Annotated[str, "the measure whose mean on dev falls"]
    depth: Annotated[int, "documents per query that the measure looks at"]
    shuffles: Annotated[int, "how often each feature is shuffled"]
    seed: Annotated[int, "of the shuffles"]


def share_of_gain(model: Model) -> list[float] | None:
    """Each feature's share of the total gain; None if the learner has none."""
    gain = model.gain()
    if gain is None:
        return None
    return [float(one) for one in gain / (gain.sum() or 1.0)]


def falls(model: Model, dev: Lists, qrels: Qrels, settings: Settings) -> np.ndarray:
    """The decrease of the mean measure, one row per feature and one column per shuffle."""
    draw = np.random.default_rng(settings.seed)

    def mean(values: np.ndarray) -> float:
        return mean_measure(dev, model.scores(values), qrels, settings.measure, settings.depth)

    whole = mean(dev.values)
    found = np.empty((len(dev.features), settings.shuffles))
    for feature in track(range(len(dev.features)), "shuffled", len(dev.features), "feature"):
        for shuffle in range(settings.shuffles):
            values = dev.values.copy()
            values[:, feature] = draw.permutation(values[:, feature])
            found[feature, shuffle] = whole - mean(values)
    return found


def mean_shap(model: Model, values: np.ndarray) -> list[float] | None:
    """The mean |SHAP value| of each feature; None if the learner has none."""
    rows = np.linspace(0, len(values) - 1, min(len(values), MOST_EXPLAINED)).astype(int)
    explained = model.shap(values[rows])
    return None if explained is None else [float(one) for one in np.abs(explained).mean(axis=0)]


def write(path: Path, names: list[str], gain: list[float] | None, fell: np.ndarray, shap: list[float] | None) -> None:
    """Write the table."""
    deviations = fell.std(axis=1, ddof=1) if fell.shape[1] > 1 else np.zeros(len(fell))
    with atomic_text(path) as file:
        file.write("\t".join(COLUMNS) + "\n")
        for place, name in enumerate(names):
            numbers = (
                None if gain is None else gain[place], float(fell[place].mean()), float(deviations[place]),
                None if shap is None else shap[place],
            )  # fmt: skip
            file.write("\t".join([name, *("" if one is None else repr(one) for one in numbers)]) + "\n")


def importance(
    dev: list[Path], qrels: list[Path], model: Path, record: Path, table: Path, settings: Settings
) -> None:  # fmt: skip
    """Feature importance in a learnt ranker, by gain, permutation and SHAP."""
    stored = read_record(record)
    if not dev or len(dev) != len(qrels):
        raise UserError("--dev, --qrels: expected one file of each per dataset")
    check_features(dev[0], stored.features_behind, str(record))
    several = len(dev) > 1
    lists, judgements = read_lists(dev, several, stored.features), read_judgements(qrels, several)
    ranker = read_model(model, stored)
    fell = falls(ranker, lists, judgements, settings)
    write(table, lists.features, share_of_gain(ranker), fell, mean_shap(ranker, lists.values))


if __name__ == "__main__":
    job(importance)
