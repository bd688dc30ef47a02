"""One fine-tuning with the trainers of sentence-transformers: seeded, logged, timed, and resumed if it was killed.

It also writes a checkpoint when the signal WARNING announces that its time is nearly up. The signal is SIGURG, which
processes ignore by default: on Slurm it reaches all processes of a job on its first node, including shells.

The Matryoshka loss of bi-encoders (Kusupati et al. 2022, NeurIPS) applies a loss to vectors truncated to several
numbers of dimensions at once.

With `freeze: encoder`, training changes only the prediction head and the parts that were initialised because the
weights lack them. Frozen weights stay the same bit for bit; their dropout is applied as in any training.
"""

from __future__ import annotations

import math
import re
import signal
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from transformers import PrinterCallback

from ranktrial.common.errors import UserError
from ranktrial.common.files import full_disk_reported
from ranktrial.models import lora
from ranktrial.models.adapters import PromptsOfColumns, Training, adapter
from ranktrial.models.gpu import unread_masks, waiting
from ranktrial.models.loading import routed_modules
from ranktrial.models.prompts import role_of
from ranktrial.models.running import device, training_precision
from ranktrial.training import several
from ranktrial.training.batches import Schedule
from ranktrial.training.best_weights import Evaluations
from ranktrial.training.checkpoints import Recorder, SavedProgress, newest_complete
from ranktrial.training.memory import MicroBatch, add_gradients, checkpoint_activations, in_parallel
from ranktrial.training.processes import agreed, first
from ranktrial.training.several import Columns
from ranktrial.training.tracking import names_program, tracked
from ranktrial.training.training_settings import Settings

if TYPE_CHECKING:
    import torch


def of_dimensions(dimensions: list[int], loss: torch.nn.Module, model: Any) -> torch.nn.Module:
    """The sum of a loss over vectors truncated to these dimensions. Raises UserError if the model has fewer."""
    from sentence_transformers.sentence_transformer.losses import MatryoshkaLoss

    whole = model.get_embedding_dimension()
    if whole is not None and max(dimensions) > whole:
        raise UserError(f"matryoshka_dims: {max(dimensions)}, but this model's vectors have {whole} dimensions")
    made: torch.nn.Module = MatryoshkaLoss(model, loss, dimensions)
    return made


def freeze_encoder(model: torch.nn.Module, head: Iterable[torch.nn.Parameter], new: Iterable[torch.nn.Module]) -> None:
    """Make only the `head` and the `new` modules trainable. Raises UserError if there are none."""
    model.requires_grad_(False)
    learning = [*head, *(parameter for module in new for parameter in module.parameters())]
    for parameter in learning:
        parameter.requires_grad_(True)
    if not learning:
        raise UserError("freeze: this model has no prediction head, so nothing would be trained; leave it out")


def is_partly_frozen(model: torch.nn.Module) -> bool:
    """Whether training changes only some of a model's parameters."""
    return not all(parameter.requires_grad for parameter in model.parameters())


SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
LOGGED = 500  # approximate maximum number of lines in the training log
LEAST_ON_GPU = 25  # steps between two of them on a GPU, since reading a loss waits until the GPU is done
AHEAD = 8  # batches whose texts are tokenised ahead for a GPU, by another process
WARNING = signal.SIGURG  # ranktrial/engine/slurm_submission.py passes it on


class Outcome(NamedTuple):
    """The results of a training other than weights: log rows, seconds without saving, steps, and the step resumed at.

    `evaluated` is what timings record about its evaluations.
    """

    rows: list[dict]
    seconds: float
    steps: int
    resumed_at: int
    micro_batch: int | None
    evaluated: dict[str, Any]


class MicroBatchTrainer:
    """A mixin for the library's trainers: trains in micro-batches if memory is short, and writes no model cards.

    A model card would state nothing that the log does not.
    """

    micro_batch: MicroBatch
    recorder: Recorder

    def training_step(self, model, inputs: dict, *others) -> torch.Tensor:
        take = super().training_step
        if in_parallel():  # some losses sample negatives, which must be the same in all processes
            torch.set_rng_state(agreed(torch.get_rng_state))
        loss = self.micro_batch.step(model, lambda: take(model, dict(inputs), *others), self.state.global_step + 1)
        add_gradients(model)
        return loss

    def _maybe_log_save_evaluate(self, *others, **options) -> None:
        with waiting():  # for the losses since the last line of the log, where there is one
            super()._maybe_log_save_evaluate(*others, **options)

    def log(self, logs: dict[str, float], *others) -> None:
        super().log(logs | (self.recorder.evaluated(self.state.global_step) if "loss" in logs else {}), *others)

    def add_model_card_callback(self, default_args_dict: dict) -> None:
        """Do not add a model card."""

    def _save(self, output_dir: str | None = None, state_dict: dict | None = None) -> None:
        if is_partly_frozen(self.model):
            lora.save_trainable(self.model, Path(output_dir))
        else:
            self.model.save_pretrained(output_dir, create_model_card=False)

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:
        if is_partly_frozen(self.model):
            lora.load_trainable(self.model, Path(checkpoint_path))
        else:
            super()._load_from_checkpoint(checkpoint_path)


def micro_batch_trainer(library_trainer: type) -> type:
    """The library's trainer class of a type of model, extended to train in micro-batches."""
    return type(f"MicroBatch{library_trainer.__name__}", (MicroBatchTrainer, library_trainer), {})


def head_rate(training: Training, model, loss: torch.nn.Module, rate: float | None) -> dict[str, float]:
    """The head's learning rate, keyed by a pattern of its parameter names; empty if it has no rate of its own.

    The library matches the pattern against the parameter names within the loss. It puts them into optimiser groups of
    their own, whose rates follow the same schedule. Raises UserError for a model without a head.
    """
    if rate is None:
        return {}
    parameters = training.head(model) if training.head else []
    head = {id(parameter) for parameter in parameters if parameter.requires_grad}
    names = [re.escape(name) for name, parameter in loss.named_parameters() if id(parameter) in head]
    if not names:
        frozen = "; with lora, one that the weights have is not trained" if parameters else ""
        raise UserError(f"head_learning_rate: this model has no prediction head to train; leave it out{frozen}")
    return {f"^({'|'.join(names)})$": rate}


def train(
    model,
    columns: list[Columns],
    schedules: list[Schedule],
    loss: str,
    settings: Settings,
    folder: Path,
    fingerprint: str,
    evaluations: Evaluations | None = None,
) -> Outcome:
    """Fine-tune `model` in place on the columns (texts) of each dataset; `folder` keeps checkpoints to resume from.

    `schedules` are the batches of each dataset. With `evaluations`, the model is evaluated during training, and ends
    with the weights of the best state if these are kept.

    Raises UserError if the loss is not finite.
    """
    training = adapter(settings.type).training()
    steps = several.steps_of(schedules, settings)
    loss_module = loss_of(training, model, loss, settings)
    if settings.gradient_checkpointing:
        checkpoint_activations(model)
    before = agreed(lambda: newest_complete(folder, fingerprint))
    if evaluations:
        resume_evaluations(evaluations, before)
    recorder = recorder_of(training, settings, folder, fingerprint, log_every(steps), before)
    recorder.evaluations = evaluations
    arguments = arguments_of(training, model, settings, folder, steps, several.samplers(schedules))
    arguments.learning_rate_mapping = head_rate(training, model, loss_module, settings.head_learning_rate)
    if training.prompts:  # set afterwards, since the constructor would parse a text as JSON
        arguments.prompts = prompts_put(training.prompts, model, columns, settings)
    if routed_modules(model):
        arguments.router_mapping = {column: role_of(column) for column in several.names_of(columns)}
    trainer = micro_batch_trainer(training.trainer)(
        model=model,
        args=arguments,
        train_dataset=several.as_dataset(columns),
        loss=loss_module,
        callbacks=[recorder],
    )
    trainer.micro_batch, trainer.recorder = recorder.micro_batch, recorder
    trainer.remove_callback(PrinterCallback)
    if before.checkpoint:
        print(f"resumed at step {before.step} of {steps}", file=sys.stderr)
    run(trainer, recorder, folder, before)
    return outcome_of(trainer.state.global_step, recorder, model, folder, before)


def prompts_put(of_columns: PromptsOfColumns, model, columns: list[Columns], settings: Settings) -> Any:
    """The prompts of all columns; if datasets have their own prompts, those of each dataset by its number."""
    if settings.prompts_by_dataset is None:
        return of_columns(model, several.names_of(columns))
    model_type = adapter(settings.type)
    stored, found = model_type.prompts(model), {}
    for number, (one, prompts) in enumerate(zip(columns, settings.prompts_by_dataset, strict=True), 1):
        model_type.give_prompts(model, prompts)
        found[str(number)] = of_columns(model, [*one])
    model_type.give_prompts(model, stored or {"query": ""})
    return found


def loss_of(training: Training, model, loss: str, settings: Settings) -> torch.nn.Module:
    """The loss module, over several dimensions if the settings say so."""
    module = training.loss(loss, model, settings.margin, **settings.of_loss)
    return of_dimensions(settings.matryoshka_dims, module, model) if settings.matryoshka_dims else module


def resume_evaluations(evaluations: Evaluations, before: SavedProgress) -> None:
    """Resume earlier evaluations; with several processes, the first keeps weights, and all agree on values."""
    evaluations.resume(before.evaluation)
    evaluations.evaluate = partial(agreed, evaluations.evaluate)
    evaluations.keep = evaluations.keep and first()


def recorder_of(
    training: Training, settings: Settings, folder: Path, fingerprint: str, log_every: int, before: SavedProgress
) -> Recorder:
    """The Recorder of checkpoints and log; its micro-batch is that of the settings, or a smaller one from before."""
    sizes = [size for size in (settings.micro_batch, before.micro_batch) if size]
    micro_batch = MicroBatch(min(sizes, default=None), settings.batch_size, training.outputs)
    recorder = Recorder(folder, fingerprint, settings.checkpoint_steps, log_every, before, micro_batch)
    recorder.head_apart = settings.head_learning_rate is not None
    return recorder


def log_every(steps: int) -> int:
    """The number of steps between two lines of the log of a training of `steps` steps."""
    return max(math.ceil(steps / LOGGED), LEAST_ON_GPU if device() == "cuda" else 1)


def feeding() -> dict[str, Any]:
    """The library's arguments for how batches reach the device: a GPU gets them ahead, without waiting for a copy."""
    if device() == "cpu":
        return {"use_cpu": True, "dataloader_pin_memory": False}
    return {
        "dataloader_num_workers": 1,
        "dataloader_prefetch_factor": AHEAD,
        "dataloader_persistent_workers": True,
        "accelerator_config": {"non_blocking": True},
    }


def arguments_of(training: Training, model, settings: Settings, folder: Path, steps: int, sampler: Any):
    """The library's training arguments for `steps` steps."""
    precision = training_precision(settings.precision, model)
    return training.arguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=SCHEDULES[settings.schedule],
        warmup_steps=math.ceil(settings.warmup * steps) if steps > 1 else 0,  # the first warm-up step has the rate 0
        weight_decay=settings.weight_decay,
        seed=settings.seed,
        bf16=precision == "bf16",
        tf32=True if precision == "tf32" else None,
        **feeding(),
        batch_sampler=sampler,
        multi_dataset_batch_sampler=several.sampler(settings),
        logging_steps=log_every(steps),
        logging_nan_inf_filter=False,
        save_strategy="steps" if first() else "no",
        save_steps=settings.checkpoint_steps,
        save_total_limit=2,  # the newest has its name before it is complete
        **(tracked(str(folder.with_suffix(""))) if first() else {"report_to": "none"}),
        disable_tqdm=True,
    )


def run(trainer, recorder: Recorder, folder: Path, before: SavedProgress) -> None:
    """Train, resuming from a checkpoint if there is one; on a warning from Slurm, save one at the end of the step."""
    previous_handler = signal.signal(WARNING, recorder.warn)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with full_disk_reported(folder), names_program(), unread_masks(trainer.model):
            trainer.train(resume_from_checkpoint=str(before.checkpoint) if before.checkpoint else None)
    finally:
        signal.signal(WARNING, previous_handler)


def outcome_of(steps: int, recorder: Recorder, model, folder: Path, before: SavedProgress) -> Outcome:
    """The outcome of a training of `steps` steps; the model gets its best weights if these were kept."""
    rows, evaluated = recorder.rows, {}
    if recorder.evaluations:
        recorder.evaluations.end(steps, model, folder)
        rows, evaluated = recorder.evaluations.rows(rows), recorder.evaluations.facts(steps)
    return Outcome(rows, recorder.seconds, steps, before.step, recorder.micro_batch.size, evaluated)
