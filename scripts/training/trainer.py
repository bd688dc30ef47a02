"""One fine-tuning with the trainers of sentence-transformers: seeded, logged, timed, and resumed where it was killed.

While it trains it keeps checkpoints in a folder of their own. One counts as complete when its last file, written after
all others, is there; that file also says what was being trained, so that only the same training is resumed.

It also writes one when the signal WARNING says that its time is nearly up: SIGURG, which processes ignore unless
they ask for it: Slurm sends the signal to all processes of a job, to Snakemake and shells as well.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import sentence_transformers
import torch
from datasets import Dataset
from sentence_transformers import (
    CrossEncoderTrainer,
    CrossEncoderTrainingArguments,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.sampler import DefaultBatchSampler, NoDuplicatesBatchSampler
from sentence_transformers.cross_encoder import losses as cross_losses
from sentence_transformers.sentence_transformer import losses as bi_losses
from transformers import PrinterCallback, TrainerCallback

from scripts.common.errors import UserError
from scripts.common.files import atomic_text, full_disk_reported
from scripts.common.progress import Progress
from scripts.common.strict_json import read_json
from scripts.common.timing import clock
from scripts.models.losses import LISTS
from scripts.models.neural import device, precision
from scripts.training.memory import MicroBatch

SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
LOGGED = 500  # lines of the training log at most, about
MARK = "complete.json"
WARNING = signal.SIGURG


class Outcome(NamedTuple):
    """What a training leaves beside the weights: the log's rows, seconds without saving, steps, the step resumed at."""

    rows: list[dict]
    seconds: float
    steps: int
    resumed_at: int
    micro_batch: int | None


class Quiet:
    """A trainer that gets along with little memory, and without model cards: they say nothing that the log does not."""

    micro_batch: MicroBatch

    def training_step(self, model, inputs: dict, *others) -> torch.Tensor:
        take = super().training_step
        return self.micro_batch.step(model, lambda: take(model, dict(inputs), *others), self.state.global_step + 1)

    def add_model_card_callback(self, default_args_dict: dict) -> None:
        """Add none."""

    def _save(self, output_dir: str | None = None, state_dict: dict | None = None) -> None:
        self.model.save_pretrained(output_dir, create_model_card=False)


class BiEncoderTrainer(Quiet, SentenceTransformerTrainer):
    """The library's trainer of bi-encoders without model cards."""


class PairTrainer(Quiet, CrossEncoderTrainer):
    """The library's trainer of cross-encoders without model cards."""


class Shuffled(DefaultBatchSampler):
    """Batches in an order that depends on the seed and the epoch alone, so that a resumed epoch is the same one."""

    def __init__(self, dataset: Dataset, batch_size: int, **others) -> None:
        super().__init__(dataset, batch_size, **others)
        self.rows = len(dataset)

    def __iter__(self) -> Iterator[list[int]]:
        self.generator.manual_seed(spread(self.seed) + self.epoch)
        order = torch.randperm(self.rows, generator=self.generator).tolist()
        for first in range(0, self.rows, self.batch_size):
            yield order[first : first + self.batch_size]

    def __len__(self) -> int:
        return math.ceil(self.rows / self.batch_size)


def without_duplicates(dataset: Dataset, batch_size: int, seed: int, **others) -> NoDuplicatesBatchSampler:
    """Batches in which no text stands twice, for losses that take one row's positive for another's negative."""
    return NoDuplicatesBatchSampler(dataset, batch_size, seed=spread(seed), **others)


def spread(seed: int) -> int:
    """A seed to which epochs can be added without meeting those of the next seed."""
    return seed << 20


class Recorder(TrainerCallback):
    """Logs, times and prints the steps, says when to save, and marks each checkpoint as complete."""

    def __init__(
        self, folder: Path, fingerprint: str, every: int, log_every: int, before: dict, micro_batch: MicroBatch
    ) -> None:
        self.folder, self.fingerprint, self.every, self.log_every = folder, fingerprint, every, log_every
        self.rows: list[dict] = before["rows"]
        self.seconds: float = before["seconds"]
        self.saved = before["step"]
        self.micro_batch = micro_batch
        self.warned = False

    def warn(self, *received) -> None:
        """Ask for a checkpoint at the end of this step (a signal's handler)."""
        self.warned = True

    def on_train_begin(self, args, state, control, **others) -> None:
        self.progress = Progress("trained", state.max_steps - state.global_step, "step")
        self.mark = clock()

    def on_step_end(self, args, state, control, **others) -> None:
        self.progress.add()
        last = state.global_step >= state.max_steps
        # The last step is not saved here: it is the result itself.
        control.should_save = (state.global_step % self.every == 0 or self.warned) and not last
        control.should_log = control.should_save or last or state.global_step % self.log_every == 0
        if control.should_log:
            self.tick()
        if self.warned:
            print(f"the time limit is near: checkpoint at step {state.global_step}", file=sys.stderr, flush=True)
            self.warned = False

    def on_epoch_end(self, args, state, control, **others) -> None:
        control.should_save = self.saved < state.global_step < state.max_steps
        control.should_log = True
        self.tick()

    def on_log(self, args, state, control, logs: dict, **others) -> None:
        if "loss" not in logs:
            return
        if not math.isfinite(logs["loss"]):
            raise UserError(f"the loss is {logs['loss']} at step {state.global_step}; a lower learning_rate may help")
        values = {"step": state.global_step, "epoch": round(state.epoch, 4), "loss": logs["loss"]}
        values |= {"learning_rate": logs["learning_rate"], "seconds": round(self.seconds, 3)}
        self.rows.append(values | {"micro_batch": self.micro_batch.size or self.micro_batch.batch_size})

    def on_save(self, args, state, control, **others) -> None:
        self.saved = state.global_step
        done = {"fingerprint": self.fingerprint, "step": self.saved, "seconds": self.seconds, "rows": self.rows}
        done["micro_batch"] = self.micro_batch.size
        with atomic_text(self.folder / f"checkpoint-{self.saved}" / MARK) as file:
            json.dump(done, file)
        self.mark = clock()  # saving is no part of training

    def tick(self) -> None:
        """Add the time since the last reading to the seconds trained."""
        now = clock()
        self.seconds += now - self.mark
        self.mark = now


def fingerprint(settings: dict, columns: dict[str, list], weights: list[Path]) -> str:
    """What a training depends on, as one SHA-256: settings, examples, starting weights and the libraries' versions.

    Not on the micro-batch: a training that lacked memory goes on with a smaller one.
    """
    total = hashlib.sha256()
    settings = {name: value for name, value in settings.items() if name != "micro_batch"}
    versions = {"torch": torch.__version__, "sentence-transformers": sentence_transformers.__version__}
    total.update(json.dumps([settings, versions, columns], sort_keys=True).encode())
    for path in weights:
        with open(path, "rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def newest_complete(folder: Path, wanted: str) -> tuple[Path | None, dict]:
    """The newest complete checkpoint of the training with this fingerprint, and its record; (None, an empty record) if
    there is none. Half-written checkpoints and those of another training are removed."""
    kept: list[tuple[int, Path, dict]] = []
    for path in folder.glob("checkpoint-*"):
        record = {}
        with suppress(UserError):  # a damaged one is as good as none
            record = read_json(path / MARK)
        if isinstance(record, dict) and record.get("fingerprint") == wanted:
            kept.append((record["step"], path, record))
        else:
            shutil.rmtree(path)
    if not kept:
        return None, {"rows": [], "seconds": 0.0, "step": 0, "micro_batch": None}
    return max(kept, key=lambda one: one[0])[1:]


def train(model, columns: dict[str, list], shape: str, loss: str, settings: dict, folder: Path, mark: str) -> Outcome:
    """Fine-tune `model` in place on the columns (texts) of a training set; `folder` keeps checkpoints to resume from.

    The settings' keys are those of a recipe's schedule. Raises UserError where the loss stops being a number.
    """
    cross = settings["type"] == "cross-encoder"
    arguments_class = CrossEncoderTrainingArguments if cross else SentenceTransformerTrainingArguments
    dataset = Dataset.from_dict(columns)
    steps = math.ceil(settings["epochs"] * math.ceil(len(dataset) / settings["batch_size"]))
    checkpoint, before = newest_complete(folder, mark)
    log_every = math.ceil(steps / LOGGED)
    sizes = [size for size in (settings["micro_batch"], before["micro_batch"]) if size]
    micro_batch = MicroBatch(min(sizes, default=None), settings["batch_size"])
    recorder = Recorder(folder, mark, settings["checkpoint_steps"], log_every, before, micro_batch)
    arguments = arguments_class(
        output_dir=str(folder),
        num_train_epochs=settings["epochs"],
        per_device_train_batch_size=settings["batch_size"],
        learning_rate=settings["learning_rate"],
        lr_scheduler_type=SCHEDULES[settings["schedule"]],
        warmup_steps=math.ceil(settings["warmup"] * steps),
        weight_decay=settings["weight_decay"],
        seed=settings["seed"],
        bf16=precision() == "bf16",
        use_cpu=device() == "cpu",
        dataloader_pin_memory=device() != "cpu",
        batch_sampler=without_duplicates if shape == LISTS else Shuffled,
        logging_steps=log_every,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=settings["checkpoint_steps"],
        save_total_limit=2,  # the newest is complete only some time after it has its name
        report_to="none",
        disable_tqdm=True,
    )
    trainer = (PairTrainer if cross else BiEncoderTrainer)(
        model=model,
        args=arguments,
        train_dataset=dataset,
        loss=getattr(cross_losses if cross else bi_losses, loss)(model),
        callbacks=[recorder],
    )
    trainer.micro_batch = micro_batch
    trainer.remove_callback(PrinterCallback)
    if checkpoint:
        print(f"resumed at step {before['step']} of {steps}", file=sys.stderr)
    before_training = signal.signal(WARNING, recorder.warn)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with full_disk_reported(folder):
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    finally:
        signal.signal(WARNING, before_training)
    return Outcome(recorder.rows, recorder.seconds, trainer.state.global_step, before["step"], micro_batch.size)
