"""A cross-encoder is fine-tuned (MiniLM-L6 with a head that is drawn, labelled pairs, 128 tokens, 16 a step): the example of
sentence-transformers' documentation, and ours."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmark import inputs, limits
from tests.benchmark.rows import training
from tests.benchmark.rows.training import SEED, Train

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

TITLE = "fine-tuning a cross-encoder, against the documentation's example"
UNIT = "pairs"
LOSS = "BinaryCrossEntropyLoss"
agree = training.agree


def labelled(small: bool) -> dict[str, list]:
    """Questions with their answer, labelled 1, and each with another's, drawn, labelled 0."""
    given = training.pairs(small)
    questions, answers = (given[side][: len(given[side]) // 2] for side in ("anchors", "positives"))
    drawn, others = random.Random(1), []
    for own in answers:
        others.append(drawn.choice([answer for answer in answers if answer != own]))
    return {
        "queries": [*questions, *questions],
        "documents": [*answers, *others],
        "labels": [1.0] * len(answers) + [0.0] * len(others),
    }


def prepare(folder: Path, small: bool) -> int:
    """Write the pairs, and the model with its head, which both sides load."""
    found = labelled(small)
    inputs.write_texts(folder, **found)
    inputs.write_cross_encoder(folder / "model")
    return len(found["labels"])


def columns(folder: Path) -> dict[str, list]:
    """The columns of the training set."""
    given = inputs.read_texts(folder)
    return {"query": given["queries"], "document": given["documents"], "label": given["labels"]}


def by_library(folder: Path, seed: int = SEED, precision: str = "fp32") -> tuple[CrossEncoder, Train]:
    """A model, and what trains it in place and gives the losses of its steps, as the documentation's example does it."""
    from datasets import Dataset
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    model = CrossEncoder(str(folder / "model"), max_length=inputs.MAX_LENGTH, num_labels=1)
    model.predict([("warm-up", "warm-up")] * training.BATCH)
    arguments = CrossEncoderTrainingArguments(**training.as_documented(folder, seed), bf16=precision == "bf16")
    data = Dataset.from_dict(columns(folder))
    trainer = CrossEncoderTrainer(model=model, args=arguments, train_dataset=data, loss=BinaryCrossEntropyLoss(model))
    return model, partial(training.logged, trainer)


def by_us(folder: Path, seed: int = SEED, precision: str | None = None) -> tuple[CrossEncoder, Train]:
    """The same, as our jobs do it, in a precision of the recipe or as the device computes."""
    settings = training.settings_of("cross-encoder", LOSS, seed, precision)
    return training.as_a_job(folder, folder / "model", columns(folder), settings)


def in_bf16(folder: Path, seed: int = SEED) -> tuple[CrossEncoder, Train]:
    """Ours, as a recipe with `precision: bf16` asks for it."""
    return by_us(folder, seed, "bf16")


SIDES = {
    "plain": lambda folder: training.losses(folder, by_library),
    "ours": lambda folder: training.losses(folder, by_us),
}
if "ours, bf16" in training.SIDES:
    SIDES["ours, bf16"] = lambda folder: training.losses(folder, in_bf16)


def operations(folder: Path) -> float:
    """Forwards, and twice as much backwards."""
    given, model = inputs.read_texts(folder), folder / "model"
    pairs = list(zip(given["queries"], given["documents"], strict=True))
    return 3 * limits.of_encoder(model, limits.tokens(model, pairs, inputs.MAX_LENGTH))
