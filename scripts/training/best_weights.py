"""What the evaluations of a training decide: which of its states is the best, and when it has gone on for long enough.

Patience counts as that of transformers' EarlyStoppingCallback: evaluations in a row of which none is higher than the
best before by more than the threshold. Of equal values the earliest state is the best. Its weights lie in a file of
their own in the folder of the checkpoints until the training ends; checkpoints record what was decided before them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from scripts.common.timing import clock


def weights_file(folder: Path, step: int) -> Path:
    """Where the weights after a step lie while they are the best."""
    return folder / f"best-{step}.pt"


def learnt(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """All of a model that training changes: the parameters that learn, and the buffers."""
    parameters = {name: value for name, value in model.named_parameters() if value.requires_grad}
    return {name: value.detach() for name, value in (parameters | dict(model.named_buffers())).items()}


class Evaluations:
    """The values that a training reached on dev. `evaluate` gives the model's value now.

    `every`: steps between two evaluations, None: each epoch ends with one; the last step has one in any case. With
    `keep` the weights of the best state are kept. `before` is the record of an earlier part of the same training.
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
        """Go on from what a checkpoint recorded."""
        if record:
            self.values, self.best_step, self.best = record["values"], record["best_step"], record["best"]
            self.waited, self.seconds = record["waited"], record["seconds"]
            self.recorded = [self.best_step]

    def record(self) -> dict[str, Any]:
        """What a checkpoint has to hold."""
        names = ("values", "best_step", "best", "waited", "seconds", "keep")
        return {name: getattr(self, name) for name in names}

    @property
    def stopped(self) -> bool:
        """Whether patience is at its end."""
        return self.patience is not None and self.waited >= self.patience

    def due(self, step: int, epoch: float, last: bool) -> bool:
        """Whether a step is one after which the model is evaluated."""
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
        """A checkpoint that holds the record is complete."""
        self.recorded = [*self.recorded[-1:], self.best_step]
        self.prune(folder)

    def prune(self, folder: Path) -> None:
        """Remove the weights that neither are the best nor were the best at a checkpoint that may be resumed."""
        needed = {weights_file(folder, step) for step in (self.best_step, *self.recorded) if step is not None}
        for path in set(folder.glob("best-*.pt")) - needed:
            path.unlink()

    def end(self, step: int, model: torch.nn.Module, folder: Path) -> None:
        """After the last step: the model gets the weights of the best state, where they are kept."""
        if not self.values or self.values[-1][0] != step:  # batches without duplicates may be fewer than planned
            self.take(step, model, folder)
        if not self.keep or self.best_step in (None, step):
            return
        best = torch.load(weights_file(folder, self.best_step or 0), weights_only=True)
        with torch.no_grad():
            for name, value in learnt(model).items():
                value.copy_(best[name])

    def rows(self, rows: list[dict]) -> list[dict]:
        """The rows of a training log with the values, in a column named as the measure."""
        by_step = {step: value for step, value in self.values}
        return [row | {self.measure: by_step.get(row["step"], "")} for row in rows]

    def facts(self, last_step: int) -> dict[str, Any]:
        """What a timing says of them."""
        return {
            "evaluations": len(self.values),
            "evaluation_seconds": self.seconds,
            "best_step": self.best_step,
            "best_value": self.best,
            "kept_step": self.best_step if self.keep else last_step,
            "stopped_early": self.stopped,
        }
