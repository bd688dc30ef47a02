"""The checkpoints that a training keeps in a folder of its own while it runs, and the record of its steps.

A checkpoint is complete once its last file has been written; that file also identifies the training, so that only the
same training is resumed.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from transformers import TrainerCallback

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.keys import stated
from ranktrial.common.progress import Progress
from ranktrial.common.strict_json import read_json
from ranktrial.common.timing import Seconds, clock
from ranktrial.training.best_weights import Evaluations, weights_file
from ranktrial.training.memory import MicroBatch
from ranktrial.training.processes import first
from ranktrial.training.training_settings import Settings

MARK = "complete.json"
LIBRARIES = ("accelerate", "numpy", "peft", "sentence-transformers", "tokenizers", "torch", "transformers")
OF_NO_EFFECT = ("micro_batch", "gpus", "nodes")  # settings that may differ when a training is resumed


def fingerprint(
    settings: Settings, columns: list[dict[str, list]], start: str, code: str, dev: str | None = None
) -> str:
    """The SHA-256 of everything on which a training depends.

    This includes the settings, examples, digests of the starting model's files and of the training's code, the
    fingerprint of the evaluation set, and the libraries' versions, but not the micro-batch size or the number of
    processes and nodes: a training can be resumed with other values of these.
    """
    decisive = {name: value for name, value in stated(settings).items() if name not in OF_NO_EFFECT}
    versions = {name: version(name) for name in LIBRARIES}
    text = json.dumps([decisive, columns, start, code, dev, versions], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class SavedProgress:
    """The progress of a training at its newest checkpoint; `checkpoint` is None if it starts anew."""

    checkpoint: Path | None = None
    step: int = 0
    seconds: Seconds = field(default_factory=Seconds)
    rows: list[dict] = field(default_factory=list)
    micro_batch: int | None = None
    evaluation: dict | None = None


def newest_complete(folder: Path, fingerprint: str) -> SavedProgress:
    """The newest complete checkpoint of the training with this fingerprint, if any.

    Incomplete checkpoints and those of another training are removed.
    """
    complete = []
    for path in folder.glob("checkpoint-*"):
        record = None
        with suppress(UserError):  # a damaged record counts as missing
            record = read_json(path / MARK)
        if isinstance(record, dict) and record.get("fingerprint") == fingerprint and _has_best(folder, record):
            state = {name: record[name] for name in ("step", "rows", "micro_batch")}
            state["seconds"] = Seconds(record["seconds"], record.get("joules"))
            complete.append(SavedProgress(path, **state, evaluation=record.get("evaluation")))
        else:
            shutil.rmtree(path)
    return max(complete, key=lambda progress: progress.step, default=SavedProgress())


def _has_best(folder: Path, record: dict) -> bool:
    """Whether the best weights that a checkpoint refers to exist, if it refers to any."""
    evaluation = record.get("evaluation") or {}
    best = evaluation.get("best_step")
    return best is None or not evaluation["keep"] or weights_file(folder, best).is_file()


class Recorder(TrainerCallback):
    """Logs, times and prints the steps, decides when to save, and marks each checkpoint as complete."""

    def __init__(
        self, folder: Path, fingerprint: str, every: int, log_every: int, before: SavedProgress, micro_batch: MicroBatch
    ) -> None:
        self.folder, self.fingerprint, self.every, self.log_every = folder, fingerprint, every, log_every
        self.rows = before.rows
        self.seconds = before.seconds
        self.saved = before.step
        self.micro_batch = micro_batch
        self.warned = False
        self.head_apart = False  # whether the prediction head has its own learning rate, which is logged
        self.head_rate = 0.0
        self.evaluations: Evaluations | None = None

    def warn(self, *received) -> None:
        """Request a checkpoint at the end of this step (a signal handler)."""
        self.warned = True

    def on_train_begin(self, args, state, control, **others) -> None:
        self.progress = Progress("trained", state.max_steps - state.global_step, "step")
        self.mark = clock()

    def on_optimizer_step(self, args, state, control, optimizer, **others) -> None:
        if self.head_apart:  # the library puts its groups last
            self.head_rate = optimizer.param_groups[-1]["lr"]

    def on_step_end(self, args, state, control, **others) -> None:
        self.progress.add()
        evaluated = self.evaluate(state, control, others["model"])
        last = state.global_step >= state.max_steps or control.should_training_stop
        # The last step is not saved here, since it is the result itself.
        control.should_save = (state.global_step % self.every == 0 or self.warned) and not last and first()
        control.should_log = control.should_save or last or evaluated or state.global_step % self.log_every == 0
        if control.should_log:
            self.tick()
        if self.warned:
            print(f"the time limit is near: checkpoint at step {state.global_step}", file=sys.stderr, flush=True)
            self.warned = False

    def evaluate(self, state, control, model) -> bool:
        """Evaluate the model if due, outside the measured training time, and stop training if patience is exhausted."""
        last = state.global_step >= state.max_steps
        if self.evaluations is None or not self.evaluations.due(state.global_step, state.epoch, last):
            return False
        self.tick()
        self.evaluations.take(state.global_step, model, self.folder)
        control.should_training_stop = control.should_training_stop or self.evaluations.stopped
        self.mark = clock()
        return True

    def evaluated(self, step: int) -> dict[str, float]:
        """The value on dev after this step, by the name that the library gives to such values; empty without one."""
        latest = self.evaluations.values[-1:] if self.evaluations else []
        return {f"eval_{self.evaluations.measure}": value for at, value in latest if at == step}

    def on_epoch_end(self, args, state, control, **others) -> None:
        ended = state.global_step >= state.max_steps or control.should_training_stop
        control.should_save = self.saved < state.global_step and not ended and first()
        control.should_log = True
        self.tick()

    def on_log(self, args, state, control, logs: dict, **others) -> None:
        if "loss" not in logs:
            return
        if not math.isfinite(logs["loss"]):
            raise UserError(f"the loss is {logs['loss']} at step {state.global_step}; a lower learning_rate may help")
        values = {"step": state.global_step, "epoch": round(state.epoch, 4), "loss": logs["loss"]}
        values |= {"learning_rate": logs["learning_rate"], "seconds": round(self.seconds, 3)}
        values |= {"head_learning_rate": self.head_rate} if self.head_apart else {}
        self.rows.append(values | {"micro_batch": self.micro_batch.size or self.micro_batch.batch_size})

    def on_save(self, args, state, control, **others) -> None:
        self.saved = state.global_step
        record = {"fingerprint": self.fingerprint, "step": self.saved, "seconds": self.seconds, "rows": self.rows}
        record["joules"] = self.seconds.joules
        record["micro_batch"] = self.micro_batch.size
        if self.evaluations:
            record["evaluation"] = self.evaluations.record()
        write_json(self.folder / f"checkpoint-{self.saved}" / MARK, record)
        if self.evaluations:
            self.evaluations.saved(self.folder)
        self.mark = clock()  # saving does not count as training time

    def tick(self) -> None:
        """Add the time since the last call to the training time."""
        now = clock()
        self.seconds += now - self.mark
        self.mark = now
