"""Cross-encoders with several labels, such as those for natural language inference: which label means relevance.

The score is the log odds of that label's probability, z - log(sum of exp of the others' z): it has the same order as
the softmax, and with two labels it is the difference of the logits. If labels are not mutually exclusive
(`problem_type` in the model's config.json), it is the label's logit. The choice is stored in `label.json` of a
checkpoint.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranktrial.common.errors import UserError, shortened
from ranktrial.common.files import write_json
from ranktrial.models.model_files import ModelConfig, read_object

FILE = "label.json"
MOST = 1000
SINGLY = ("multi_label_classification", "regression")  # problem types whose label probabilities do not sum to 1


class Relevance(NamedTuple):
    """The number of the label that means relevance, from 0, and whether the label probabilities sum to 1 (softmax)."""

    label: int
    softmax: bool
    name: str

    def as_text(self) -> str:
        """The score as recorded with timings."""
        return f"{'log odds' if self.softmax else 'logit'} of label {self.label} ({self.name})"


def names(config: ModelConfig, count: int) -> list[str]:
    """The names of `count` labels from a model's config.json, or else the default names of transformers."""
    stated = config.get("id2label") or {}
    return [str(stated.get(str(number), f"LABEL_{number}"))[:100] for number in range(count)]


def stated_count(config: ModelConfig) -> int | None:
    """The number of labels that a config.json states; None if it states none. Raises UserError for too many."""
    count = len(config.get("id2label") or ()) or config.get("num_labels")
    if type(count) is int and count > MOST:
        raise UserError(f"config.json: {count} labels; a cross-encoder has at most {MOST}")
    return count if type(count) is int and count > 0 else None


def write_label(checkpoint: Path, label: int | str, config: ModelConfig) -> None:
    """Record beside a model which label means relevance, given its number or its name in config.json.

    Raises UserError for an unknown name.
    """
    number = label
    if isinstance(label, str):
        known = names(config, stated_count(config) or 2)  # the default of transformers
        if label not in known:
            listed = ", ".join(known)[:200]
            raise UserError(f"label: the model has none of the name {shortened(label)}; known are {listed}")
        number = known.index(label)
    record = {"label": number, "softmax": config.get("problem_type") not in SINGLY}
    write_json(checkpoint / FILE, record, sort_keys=True)


def relevance(checkpoint: Path, count: int, config: ModelConfig) -> Relevance | None:
    """The label that means relevance in a loaded model; None if the model has a single score.

    Raises UserError if the model has several labels and none is chosen, or if it does not have the chosen one.
    """
    record = read_object(checkpoint / FILE) if (checkpoint / FILE).is_file() else None
    if count == 1 and record is None:
        return None
    listed = ", ".join(f"{number} ({name})" for number, name in enumerate(names(config, min(count, 9))))
    if count == 1:
        raise UserError(f"{checkpoint}: label: this model has a single score; leave it out")
    if record is None:
        hint = f"say by the model's key label which of them is relevance: {listed}"
        raise UserError(f"{checkpoint}: a cross-encoder of {count} labels; {hint}")
    label, softmax = record.get("label"), record.get("softmax")
    if type(label) is not int or type(softmax) is not bool or label < 0:
        raise UserError(f"{checkpoint / FILE}: expected a number and whether the labels share a probability")
    if label >= count:
        raise UserError(f"{checkpoint}: label is {label}, and the model's are {listed}")
    return Relevance(label, softmax, names(config, count)[label])


def one_score(logits: np.ndarray, of: Relevance | None) -> np.ndarray:
    """Scores from logits of shape (pairs, labels): float32 of shape (pairs,)."""
    own = logits[:, of.label if of else 0].astype(np.float32)
    if of is None or not of.softmax:
        return own
    others = np.delete(logits, of.label, axis=1).astype(np.float32)
    return own - np.logaddexp.reduce(others, axis=1)
