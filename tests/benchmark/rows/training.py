"""A bi-encoder is fine-tuned (all-MiniLM-L6-v2, questions and answers, 128 tokens, 16 a step): the example of
sentence-transformers' documentation, and ours."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ranktrial.ir.collection import passages_of
from ranktrial.ir.trec import read_qrels
from ranktrial.models.instructions import BF16_PRODUCTS, has
from ranktrial.training.training_settings import Settings
from tests.benchmark import inputs, limits
from tests.benchmark.row import Result, Work

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

    Model = SentenceTransformer | CrossEncoder

TITLE = "fine-tuning a bi-encoder, against the documentation's example"
UNIT = "pairs"
BATCH, RATE, WARMUP, EPOCHS = 16, 2e-5, 0.1, 1
SEED = 42
Train = Callable[[], np.ndarray]
LOSS = "MultipleNegativesRankingLoss"


def domain() -> Path:
    """Where the texts of the domain that is trained on lie."""
    return inputs.RESULTS / "data" / "long-term-care-insurance"


def pairs(small: bool) -> dict[str, list[str]]:
    """Questions of the training split as anchors, and an answer to each as positives; on a GPU those of all domains."""
    found = pairs_of(domain())[: 32 if small else 320]
    if limits.on_gpu() and not small:
        found = [pair for name in inputs.DOMAINS for pair in pairs_of(inputs.RESULTS / "data" / name)]
    return {"anchors": [query for query, _ in found], "positives": [answer for _, answer in found]}


def pairs_of(data: Path) -> list[tuple[str, str]]:
    """The questions of a domain's training split, with the first answer to each."""
    questions, answers = passages_of(data / "queries" / "train.jsonl"), passages_of(data / "corpus.jsonl")
    qrels = read_qrels(data / "qrels" / "train.qrels")
    return [(questions[query][0], answers[next(iter(judged))][0]) for query, judged in qrels.items()]


def prepare(folder: Path, small: bool) -> int:
    found = pairs(small)
    inputs.write_texts(folder, **found)
    return len(found["anchors"])


def as_documented(folder: Path, seed: int) -> dict[str, Any]:
    """The arguments that the documentation's examples of all kinds share."""
    return {
        "output_dir": str(folder / "plain"),
        "num_train_epochs": EPOCHS,
        "per_device_train_batch_size": BATCH,
        "learning_rate": RATE,
        "warmup_ratio": WARMUP,
        "seed": seed,
        "logging_steps": 25 if limits.on_gpu() else 1,  # as ours: reading a loss waits for the GPU
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }


def logged(trainer: Any) -> np.ndarray:
    """Train, and give the losses of the steps."""
    trainer.train()
    return np.array([entry["loss"] for entry in trainer.state.log_history if "loss" in entry])


def by_library(folder: Path, seed: int = SEED, precision: str = "fp32") -> tuple[SentenceTransformer, Train]:
    """A model, and what trains it in place and gives the losses of its steps, as the documentation's example does it."""
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.sentence_transformer.training_args import BatchSamplers

    given = inputs.read_texts(folder)
    model = SentenceTransformer(given["checkpoint"])
    model.max_seq_length = inputs.MAX_LENGTH
    model.encode(["warm-up"] * BATCH)
    arguments = SentenceTransformerTrainingArguments(
        **as_documented(folder, seed), batch_sampler=BatchSamplers.NO_DUPLICATES, bf16=precision == "bf16"
    )
    data = Dataset.from_dict({"anchor": given["anchors"], "positive": given["positives"]})
    trainer = SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=data, loss=MultipleNegativesRankingLoss(model)
    )

    return model, partial(logged, trainer)


def by_us(folder: Path, seed: int = SEED, precision: str | None = None) -> tuple[SentenceTransformer, Train]:
    """The same, as our jobs do it, in a precision of the recipe or as the device computes."""
    given = inputs.read_texts(folder)
    columns = {"anchor": given["anchors"], "positive": given["positives"]}
    settings = settings_of("bi-encoder", LOSS, seed, precision)
    return as_a_job(folder, Path(given["checkpoint"]), columns, settings)


def settings_of(kind: str, loss: str, seed: int, precision: str | None) -> Settings:
    """The settings of a job that trains as the documentation's examples do."""
    return Settings(
        type=kind, max_length=inputs.MAX_LENGTH, loss=loss, epochs=EPOCHS, batch_size=BATCH, learning_rate=RATE,
        warmup=WARMUP, weight_decay=0.0, checkpoint_steps=10_000, seed=seed, precision=precision,
    )  # fmt: skip


def as_a_job(folder: Path, start: Path, columns: dict[str, list], settings: Settings) -> tuple[Model, Train]:
    """A model, and what trains it in place and gives the losses of its steps, as our jobs do it."""
    from ranktrial.models.adapters import adapter
    from ranktrial.models.losses import LISTS, shape_of
    from ranktrial.models.trained_products import train_fast
    from ranktrial.training import several, trainer

    kind = adapter(settings.type)
    model = kind.load(start, inputs.MAX_LENGTH, to_train=True)
    train_fast(model)
    kind.warm_up(model, BATCH)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    in_batch = shape_of(settings.loss, settings.type, taught=False) == LISTS

    def train() -> np.ndarray:
        schedules = several.schedules([columns], settings, {} if in_batch else None)
        checkpoints = folder / "checkpoints"
        outcome = trainer.train(model, [columns], schedules, settings.loss, settings, checkpoints, "benchmark")
        return np.array([row["loss"] for row in outcome.rows])

    return model, train


def losses(folder: Path, by: Callable[[Path], tuple[Model, Train]]) -> Work:
    """One training, made ready."""
    _, train = by(folder)
    return lambda: {"losses": train()}


def in_bf16(folder: Path, seed: int = SEED) -> tuple[SentenceTransformer, Train]:
    """Ours, as a recipe with `precision: bf16` asks for it."""
    return by_us(folder, seed, "bf16")


SIDES = {"plain": lambda folder: losses(folder, by_library), "ours": lambda folder: losses(folder, by_us)}
if has(BF16_PRODUCTS):
    SIDES["ours, bf16"] = lambda folder: losses(folder, in_bf16)


def operations(folder: Path) -> float:
    """Forwards, and twice as much backwards."""
    given = inputs.read_texts(folder)
    checkpoint, texts = Path(given["checkpoint"]), [*given["anchors"], *given["positives"]]
    return 3 * limits.of_encoder(checkpoint, limits.tokens(checkpoint, texts, inputs.MAX_LENGTH))


def agree(side: str, plain: Result, ours: Result) -> str:
    """The means of the losses differ by no more than three standard errors: batches are drawn in another order."""
    one, other = plain["losses"], ours["losses"]
    assert len(one) == len(other), f"{len(one)} steps and {len(other)}"
    apart = abs(one.mean() - other.mean())
    error = float(np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / len(one)))
    assert apart <= 3 * error, f"the mean loss is {apart:.3f} apart, its standard error is {error:.3f}"
    return f"mean loss {one.mean():.3f} and {other.mean():.3f}, standard error {error:.3f}"
