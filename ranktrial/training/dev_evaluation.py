"""Evaluation of a model during training: candidates of the dev queries, re-ranked and scored by the task's measure.

The candidates are the top documents of BM25's run and all documents judged relevant, so the value is not that of any
system on dev: it only orders the states of one training. Ranking is the same as in inference, and the measure the same
as in evaluation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ranktrial.common.errors import UserError
from ranktrial.inference.candidates import Candidates, Passages, candidates, read_documents
from ranktrial.inference.ranked import rank
from ranktrial.ir.collection import passages_of
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import Qrels, Run, read_qrels, read_run, relevant
from ranktrial.models.adapters import Adapter
from ranktrial.models.cutting import Lengths
from ranktrial.training.best_weights import Evaluations
from ranktrial.training.memory import random_state, set_random_state
from ranktrial.training.training_settings import DevEvaluation, Settings


class DevSet(NamedTuple):
    """The dev queries, the candidates to rank for each, and the judgements."""

    wanted: Candidates
    queries: Passages
    texts: Passages
    qrels: Qrels
    how: DevEvaluation

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of the whole set: with another set, a training may end with different weights."""
        return hashlib.sha256(json.dumps(self[:4]).encode()).hexdigest()

    def ranked(self, model_type: Adapter, model: Any, lengths: Lengths) -> Run:
        """The candidates as the model currently ranks them."""
        with undisturbed(model):
            return rank(model_type, model, lengths, self.how.batch_size, self.wanted, self.queries, self.texts)

    def value(self, model_type: Adapter, model: Any, lengths: Lengths) -> float:
        """The mean of the measure over the judged queries, for the model's current ranking."""
        name = self.how.measure
        return float(evaluate(self.ranked(model_type, model, lengths), self.qrels, [name])[name].mean())

    def evaluations(self, model_type: Adapter, model: Any, settings: Settings) -> Evaluations:
        """The Evaluations of a training, initially empty."""
        return Evaluations(
            partial(self.value, model_type, model, settings),
            self.how.measure,
            self.how.every,
            settings.load_best_model_at_end,
            settings.early_stopping_patience,
            settings.early_stopping_threshold,
        )


def read_dev_set(run: Path, queries_file: Path, qrels_file: Path, corpus: Path, how: DevEvaluation) -> DevSet:
    """Read the dev set: for each dev query, the top documents of the run and those judged relevant.

    Raises UserError if no query has a relevant document.
    """
    qrels, queries, first_stage = read_qrels(qrels_file), passages_of(queries_file), read_run(run)
    found = candidates(first_stage, queries, how.candidates)
    if not any(relevant(qrels, query) for query in queries):
        message = "no judged query to evaluate by; give the dataset this split (splits: …), or leave evaluate out"
        raise UserError(f"{qrels_file}: {message}")
    texts = read_documents(corpus, found, run)
    judged = {query: sorted(relevant(qrels, query)) for query in queries}
    texts |= passages_of(corpus, {name for names in judged.values() for name in names} - texts.keys())
    together = {
        query: list(dict.fromkeys([*found.get(query, []), *(name for name in judged[query] if name in texts)]))
        for query in queries
    }
    return DevSet({query: names for query, names in together.items() if names}, queries, texts, qrels, how)


@contextmanager
def undisturbed(model: torch.nn.Module) -> Iterator[None]:
    """Within this context, the model is evaluated; afterwards, training continues as if nothing had happened."""
    state, modes = random_state(), [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode
        set_random_state(state)
