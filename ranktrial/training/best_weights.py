"""Decisions based on the evaluations of a training: which state is the best, and when to stop early.

Patience is counted as in transformers' EarlyStoppingCallback: consecutive evaluations of which none exceeds the
previous best value by more than the threshold. In a tie, the earliest state is the best. Its weights are kept in a file
of their own in the checkpoint folder until the training ends; checkpoints record all earlier decisions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ranktrial.common.timing import clock


def weights_file(folder: Path, step: int) -> Path:
    """The file of the weights after a step, as long as these are the best."""
    return folder / f"best-{step}.pt"


def learnt(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Everything in a model that training changes: the trainable parameters and the buffers."""
    parameters = {name: value for name, value in model.named_parameters() if value.requires_grad}
    return {name: value.detach() for name, value in (parameters | dict(model.named_buffers())).items()}


class Evaluations:
    """The values of a training on dev. `evaluate` returns the model's current value.

    `every` is the number of steps between two evaluations (None: one at the end of each epoch); the last step is always
    evaluated. With `keep`, the weights of the best state are kept.
    """

    def __init__(
        self,
        evaluate: Callable[[], float],
        measure: str,
        every: int | None = None,
        keep: bool = False,
        patience: int | None = None,
        threshold: float = 0.0,
    ) -> None:
        self.evaluate, self.measure, self.every, self.keep = evaluate, measure, every, keep
        self.patience, self.threshold = patience, threshold
        self.values: list[list] = []  # [step, value]
        self.best_step: int | None = None
        self.best = 0.0
        self.waited = 0
        self.seconds = 0.0
        self.recorded: list[int | None] = []  # the best steps of the last two checkpoints

    def resume(self, record: dict[str, Any] | None) -> None:
        """Continue from a checkpoint's record."""
        if record:
            self.values, self.best_step, self.best = record["values"], record["best_step"], record["best"]
            self.waited, self.seconds = record["waited"], record["seconds"]
            self.recorded = [self.best_step]

    def record(self) -> dict[str, Any]:
        """The data that a checkpoint must store."""
        names = ("values", "best_step", "best", "waited", "seconds", "keep")
        return {name: getattr(self, name) for name in names}

    @property
    def stopped(self) -> bool:
        """Whether patience is exhausted."""
        return self.patience is not None and self.waited >= self.patience

    def due(self, step: int, epoch: float, last: bool) -> bool:
        """Whether the model is evaluated after this step."""
        return last or (step % self.every == 0 if self.every else epoch == int(epoch))

    def take(self, step: int, model: torch.nn.Module, folder: Path) -> None:
        """Evaluate the model after a step."""
        start = clock()
        value = self.evaluate()
        self.values.append([step, value])
        self.waited = 0 if self.best_step is None or value - self.best > self.threshold else self.waited + 1
        if self.best_step is None or value > self.best:
            self.best_step, self.best = step, value
            if self.keep:
                partial = folder / "best.partial"
                torch.save(learnt(model), partial)
                partial.replace(weights_file(folder, step))
                self.prune(folder)
        self.seconds += clock() - start
        print(f"{self.measure} on dev after step {step}: {value:.4f}", file=sys.stderr, flush=True)
        if self.stopped:
            print(f"stopped at step {step}: no gain in {self.waited} evaluations", file=sys.stderr, flush=True)

    def saved(self, folder: Path) -> None:
        """Note that a checkpoint with the current record is complete."""
        self.recorded = [*self.recorded[-1:], self.best_step]
        self.prune(folder)

    def prune(self, folder: Path) -> None:
        """Remove weights that are neither the best nor were the best at a checkpoint that may be resumed."""
        needed = {weights_file(folder, step) for step in (self.best_step, *self.recorded) if step is not None}
        for path in set(folder.glob("best-*.pt")) - needed:
            path.unlink()

    def end(self, step: int, model: torch.nn.Module, folder: Path) -> None:
        """After the last step, give the model the weights of the best state, if they are kept."""
        if not self.values or self.values[-1][0] != step:  # there may be fewer batches without duplicates than planned
            self.take(step, model, folder)
        if not self.keep or self.best_step in (None, step):
            return
        best = torch.load(weights_file(folder, self.best_step or 0), weights_only=True)
        with torch.no_grad():
            for name, value in learnt(model).items():
                value.copy_(best[name])

    def rows(self, rows: list[dict]) -> list[dict]:
        """The rows of a training log with the values added in a column named after the measure."""
        by_step = {step: value for step, value in self.values}
        return [row | {self.measure: by_step.get(row["step"], "")} for row in rows]

    def facts(self, last_step: int) -> dict[str, Any]:
        """What timings record about the evaluations."""
        return {
            "evaluations": len(self.values),
            "evaluation_seconds": self.seconds,
            "best_step": self.best_step,
            "best_value": self.best,
            "kept_step": self.best_step if self.keep else last_step,
            "stopped_early": self.stopped,
        }
