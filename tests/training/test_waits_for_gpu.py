"""Steps and batches queue work for a GPU without waiting for it: counted on a processor, refused by torch on a GPU."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from ranktrial.models import gpu, running
from ranktrial.models.adapters import adapter
from ranktrial.models.losses import LISTS, shape_of
from ranktrial.training import several, trainer
from ranktrial.training.training_settings import Settings
from tests.support.tiny_bert import build

torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

WORDS = ["the", "price", "of", "oats", "and", "ice", "rose", "again", "in", "north", "while", "barley", "fell"]
TEXTS = [" ".join(WORDS[n % 13 :] + WORDS[: n % 5]) + f" oats{n}" for n in range(48)]
LOSSES = {"bi-encoder": "MultipleNegativesRankingLoss", "cross-encoder": "BinaryCrossEntropyLoss"}
on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


@dataclass
class Questions:
    """How often an operation asked for a number of a tensor or copied one to another device."""

    count: int = 0


class Asked(TorchDispatchMode):
    def __init__(self, questions: Questions) -> None:
        super().__init__()
        self.questions = questions

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten._local_scalar_dense.default:
            self.questions.count += 1
        return function(*args, **(kwargs or {}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("model") / "model", [" ".join([*WORDS, *TEXTS])], seed=3)


def trained(folder, tmp_path, kind: str, rows: int, precision: str | None = None) -> trainer.Outcome:
    settings = Settings(
        type=kind, max_length=16, loss=LOSSES[kind], epochs=1, batch_size=4, learning_rate=1e-4, warmup=0.1,
        weight_decay=0.0, checkpoint_steps=10_000, seed=1, precision=precision,
    )  # fmt: skip
    torch.manual_seed(1)
    model = adapter(kind).load(folder, 16, to_train=True)
    columns = {"anchor": TEXTS[:rows], "positive": TEXTS[-rows:][::-1]}
    if kind == "cross-encoder":
        columns = {"query": TEXTS[:rows], "document": TEXTS[:rows][::-1], "label": [n % 2 * 1.0 for n in range(rows)]}
    in_batch = shape_of(settings.loss, kind, taught=False) == LISTS
    schedules = several.schedules([columns], settings, {} if in_batch else None)
    return trainer.train(model, [columns], schedules, settings.loss, settings, tmp_path / f"{kind}-{rows}", "mark")


@pytest.mark.parametrize("kind", LOSSES)
def test_steps_ask_for_no_number(folder, tmp_path, monkeypatch, kind):
    """What a step does on a GPU, computed on a processor: twice the steps ask no more often."""
    monkeypatch.setattr(trainer, "LOGGED", 1)
    monkeypatch.setattr(gpu, "on_gpu", lambda model: True)
    asked = []
    for rows in (24, 48):
        questions = Questions()
        with Asked(questions):
            trained(folder, tmp_path, kind, rows)
        asked.append(questions.count)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("kind", LOSSES)
def test_the_count_sees_a_step_that_asks(folder, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(trainer, "LOGGED", 1)
    asked = []
    for rows in (24, 48):
        questions = Questions()
        with Asked(questions):
            trained(folder, tmp_path, kind, rows)  # masks are read, as on a processor
        asked.append(questions.count)
    assert asked[0] < asked[1]


@pytest.fixture
def no_accidental_wait(monkeypatch):
    """torch refuses to wait for the GPU within epochs."""
    library = trainer.MicroBatchTrainer

    def _run_epoch(self, *others, **options):
        torch.cuda.set_sync_debug_mode("error")
        try:
            return super(library, self)._run_epoch(*others, **options)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    monkeypatch.setattr(library, "_run_epoch", _run_epoch, raising=False)


@on_gpu
@pytest.mark.parametrize("precision", [None, "fp32", "bf16"])
@pytest.mark.parametrize("kind", LOSSES)
def test_a_training_on_a_gpu_waits_for_nothing(folder, tmp_path, no_accidental_wait, kind, precision):
    outcome = trained(folder, tmp_path, kind, 48, precision)
    assert outcome.steps == 12 and np.isfinite([row["loss"] for row in outcome.rows]).all()


@on_gpu
@pytest.mark.parametrize("kind", LOSSES)
def test_ranking_on_a_gpu_waits_once_and_gives_the_numbers_of_a_processor(folder, kind, monkeypatch):
    torch.manual_seed(1)
    model = adapter(kind).load(folder, 16, to_train=True)
    gpu.fill(model)
    assert model.batch_tokens
    model.batch_tokens = 128  # several batches
    if kind == "bi-encoder":
        compute = partial(adapter(kind).encode, model, TEXTS, 4, "document")
    else:
        pairs = list(zip(TEXTS, TEXTS[::-1], strict=True))
        compute = partial(adapter(kind).scorer(model, 4).score, pairs)
    compute()
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = compute()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    model.batch_tokens = None
    monkeypatch.setattr(running, "precision", lambda: "fp32")
    expected = adapter(kind).encode(model.cpu(), TEXTS, 4, "document") if kind == "bi-encoder" else None
    if expected is not None:
        assert float((found * expected).sum(axis=1).min()) > 0.999
