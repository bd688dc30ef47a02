"""Batches side by side give what one thread gives, to the last bit."""

import threading
from functools import partial

import numpy as np
import pytest

from ranktrial.models import loading, token_batches  # noqa: F401 - loading sets what libraries read when imported
from ranktrial.models.adapters import adapter
from ranktrial.models.loaded import rank_fast
from tests.support.tiny_bert import build

torch = pytest.importorskip("torch")
SENTENCE = "the price of oats and of ice rose again in the north while barley fell"
WORDS = SENTENCE.split()
TEXTS = [" ".join(WORDS[n % 7 : n % 7 + 1 + n * 5 % 13]) for n in range(101)]  # many of one length
BATCH = 4


@pytest.fixture
def threads():
    """Sets how many threads there are, and puts the number back."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture
def of_batches(monkeypatch):
    """The threads in which batches are tokenized, and whether two of them ever were at once."""
    seen, now = {"threads": set(), "at once": 0}, []
    whole = token_batches._tokenizing_in_turn

    def watched(model):
        tokenize = partial(type(model).preprocess, model)

        def preprocess(*arguments, **options):
            now.append(threading.get_ident())
            seen["threads"].add(now[-1])
            seen["at once"] = max(seen["at once"], len(now))
            try:
                return tokenize(*arguments, **options)
            finally:
                now.pop()

        model.preprocess = preprocess
        return whole(model)

    monkeypatch.setattr(token_batches, "_tokenizing_in_turn", watched)
    return seen


@pytest.mark.parametrize("role", ["query", "document"])
@pytest.mark.parametrize("fast", [True, False])
def test_vectors_are_those_of_one_thread(tmp_path, threads, of_batches, fast, role):
    kind = adapter("bi-encoder")
    model = kind.load(build(tmp_path / "model", TEXTS, seed=3), 32)
    if fast:
        rank_fast(model)
    threads(1)
    expected = kind.encode(model, TEXTS, BATCH, role)
    assert not of_batches["threads"]
    for count in (2, 3):
        threads(count)
        assert np.array_equal(kind.encode(model, TEXTS, BATCH, role), expected)
        assert torch.get_num_threads() == count
    assert len(of_batches["threads"]) > 1 and of_batches["at once"] == 1
    assert threading.get_ident() not in of_batches["threads"]


def test_scores_are_those_of_one_thread(tmp_path, threads, of_batches):
    kind, folder = adapter("cross-encoder"), build(tmp_path / "model", TEXTS, seed=3)
    torch.manual_seed(1)
    model = kind.load(folder, 32, to_train=True)
    pairs = list(zip(TEXTS, reversed(TEXTS), strict=True))
    score = kind.scorer(model, BATCH).score
    threads(1)
    expected = score(pairs)
    threads(3)
    assert np.array_equal(score(pairs), expected) and expected.std() > 0
    assert len(of_batches["threads"]) > 1


def test_few_texts_are_shared_by_all_threads(tmp_path, threads, of_batches):
    kind = adapter("bi-encoder")
    model = kind.load(build(tmp_path / "model", TEXTS, seed=3), 32)
    threads(2)
    assert len(kind.encode(model, TEXTS[: 3 * BATCH], BATCH, "document")) == 3 * BATCH
    assert not of_batches["threads"] and "preprocess" not in vars(model)
    kind.encode(model, TEXTS[: 3 * BATCH + 1], BATCH, "document")
    assert of_batches["threads"]


def test_a_mistake_in_a_batch_ends_all_and_leaves_the_model_as_it_was(tmp_path, threads):
    model = adapter("bi-encoder").load(build(tmp_path / "model", TEXTS, seed=3), 32)
    threads(2)

    def compute(texts):
        raise ValueError(texts[0])

    with pytest.raises(ValueError, match=f"^{TEXTS[0]}$"):
        token_batches.each_batch(model, compute, TEXTS, np.arange(100).reshape(-1, BATCH))
    assert torch.get_num_threads() == 2 and "preprocess" not in vars(model)
