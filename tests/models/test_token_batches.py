"""Batches by tokens: texts are tokenised once, and models get the tokens and give the numbers of the library."""

import itertools
import random
from functools import partial

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import loading, token_batches  # noqa: F401 - loading sets what libraries read when imported
from ranktrial.models.adapters import adapter
from ranktrial.models.batch_sizes import BATCHES, CHUNK, texts_per_batch
from ranktrial.models.token_batches import Tokenised, Unsuited, batches, frame, in_batches, kept_of_pair
from tests.support.tiny_bert import build

torch = pytest.importorskip("torch")
WORDS = ["the", "price", "of", "oats", "and", "ice", "rose", "again", "in", "north", "while", "barley", "fell"]
DRAWN = random.Random(4)
TEXTS = [" ".join(DRAWN.choices(WORDS, k=DRAWN.choice([0, 1, 2, 5, 9, 14, 40]))) for _ in range(60)] + [
    "",
    "Ströme; 河",
]
PAIRS = [(DRAWN.choice(TEXTS), text) for text in TEXTS]
LENGTH = 16
ROUNDING = 2e-6  # of numbers of about 1, of batches that are padded otherwise


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("model") / "model", [" ".join(WORDS)], seed=3)


def bi_encoder(folder):
    return adapter("bi-encoder").load(folder, LENGTH)


def cross_encoder(folder):
    torch.manual_seed(1)
    return adapter("cross-encoder").load(folder, LENGTH, to_train=True)


def same(made: dict, expected: dict) -> None:
    assert made.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, torch.Tensor):
            assert made[name].dtype == value.dtype and torch.equal(made[name], value), name
        else:
            assert made[name] == value, name


@pytest.mark.parametrize("prompt", ["", "query: the"])
def test_texts_have_the_tokens_that_the_library_gives(folder, prompt):
    model = bi_encoder(folder)
    tokens = Tokenised(model, TEXTS, prompt)
    for some in (TEXTS[:1], TEXTS[7:12], TEXTS):
        same(tokens.preprocess(some, prompt=prompt or None), model.preprocess(some, prompt=prompt or None))
    assert tokens.trusted


def test_pairs_have_the_tokens_that_the_library_gives(folder):
    model = cross_encoder(folder)
    tokens = Tokenised(model, PAIRS, "")
    for some in (PAIRS[:1], PAIRS[7:12], PAIRS):
        same(tokens.preprocess(some, prompt=None), model.preprocess(some, prompt=None))
    assert tokens.trusted


def test_pairs_are_cut_as_tokenizers_cut_them(folder):
    tokenizer = cross_encoder(folder).tokenizer.backend_tokenizer
    for room in (1, 2, 3, 8, 9):
        tokenizer.enable_truncation(room + 3, strategy="longest_first")
        for first, second in itertools.product(range(13), repeat=2):
            found = tokenizer.encode("ice " * first, "oats " * second)
            counted = tuple(found.sequence_ids.count(place) for place in (0, 1))
            assert kept_of_pair(first, second, room) == counted, (first, second, room)


@pytest.mark.parametrize("most", [None, 64])
def test_each_text_is_tokenised_once(folder, monkeypatch, most):
    model = cross_encoder(folder)
    seen = []
    library = type(model).preprocess
    monkeypatch.setattr(
        type(model),
        "preprocess",
        lambda self, inputs, **options: seen.append(len(inputs)) or library(self, inputs, **options),
    )
    model.batch_tokens = most
    in_batches(model, partial(model.predict, activation_fn=torch.nn.Identity(), show_progress_bar=False), PAIRS, 4)
    assert len(seen) == 1  # the sample that is compared
    assert "preprocess" not in vars(model)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("most", [None, 1, 64, 100_000])
def test_vectors_and_scores_are_those_of_the_library(folder, most, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        kind, model = adapter("bi-encoder"), bi_encoder(folder)
        expected = model.encode_document(TEXTS, batch_size=4, normalize_embeddings=True)
        model.batch_tokens = most
        assert np.abs(kind.encode(model, TEXTS, 4, "document") - expected).max() < ROUNDING
        assert kind.encode(model, [], 4, "document").size == 0
        kind, model = adapter("cross-encoder"), cross_encoder(folder)
        expected = model.predict(PAIRS, batch_size=4, activation_fn=torch.nn.Identity())
        model.batch_tokens = most
        assert np.abs(kind.scorer(model, 4).score(PAIRS) - expected).max() < ROUNDING
    finally:
        torch.set_num_threads(before)


def test_a_batch_has_at_most_so_many_tokens_with_padding():
    lengths = np.array([5, 9, 2, 9, 1, 30, 3, 3])
    made = batches(lengths, 1, 18)
    assert [list(lengths[batch]) for batch in made] == [[30], [9, 9], [5, 3, 3], [2, 1]]
    assert sorted(np.concatenate(made)) == list(range(8))
    assert batches(np.array([], int), 1, 18) == []


def test_a_batch_has_a_number_of_texts_of_like_length():
    lengths = np.array([5, 9, 2, 9, 1, 30, 3, 3])
    assert [list(lengths[batch]) for batch in batches(lengths, 3)] == [[30, 9, 9], [5, 3, 3], [2, 1]]
    assert batches(np.array([], int), 3) == []


@pytest.mark.parametrize("most", [32 * 128, 65_536])
def test_padding_is_under_a_twentieth_where_a_chunk_is_some_batches(most):
    lengths = np.random.default_rng(0).lognormal(4.2, 0.7, BATCHES * texts_per_batch(1, most, 128)).clip(3, 128)
    lengths = lengths.astype(int)
    computed = sum(len(batch) * int(lengths[batch].max()) for batch in batches(lengths, 1, most))
    assert lengths.sum() > 0.95 * computed
    assert lengths.sum() < 0.7 * 128 * len(lengths), "unsorted, a third would be padding"


def test_texts_are_sorted_by_tokens_and_not_by_characters(folder, monkeypatch):
    model, kind = bi_encoder(folder), adapter("bi-encoder")
    widths = []
    library = type(model).forward
    monkeypatch.setattr(
        type(model),
        "forward",
        lambda self, features, **options: widths.append(features["input_ids"].shape) or library(self, features),
    )
    long, short = "barley" * 30, "of of of of of of"  # one word that the model does not know, six that it does
    made = kind.encode(model, [long, short] * 4, 4, "document")
    assert [rows for rows, _ in widths] == [4, 4] and widths[0][1] != widths[1][1]
    assert np.abs(made - kind.encode(model, [long, short], 4, "document")[[0, 1] * 4]).max() < ROUNDING


def test_one_batch_is_left_to_the_library(folder, monkeypatch):
    monkeypatch.setattr(token_batches, "Tokenised", None)
    model, kind = bi_encoder(folder), adapter("bi-encoder")
    assert len(kind.encode(model, TEXTS[:4], 4, "document")) == 4
    model.batch_tokens = 4 * LENGTH
    assert len(kind.encode(model, TEXTS[:4], 1, "document")) == 4


def test_what_the_tokenizer_does_otherwise_is_left_to_the_library(folder, capsys):
    model, kind = bi_encoder(folder), adapter("bi-encoder")
    model.tokenizer.padding_side = "left"
    expected = kind.encode(model, TEXTS, 4, "document")
    model.batch_tokens = 64
    assert np.array_equal(kind.encode(model, TEXTS, 4, "document"), expected)
    assert "batches of 4 texts, not by tokens: the tokenizer" in capsys.readouterr().err
    assert model.batch_tokens is None  # so it is said once
    model.tokenizer.padding_side, model.batch_tokens = "right", 64
    library = model.preprocess
    model.preprocess = lambda inputs, **options: library([text.upper() + " ice" for text in inputs], **options)
    assert np.abs(kind.encode(model, TEXTS, 4, "document") - kind.encode(model, TEXTS, 4, "document")).max() == 0
    assert "tokenised by the library" in capsys.readouterr().err
    changed = kind.encode(bi_encoder(folder), [text.upper() + " ice" for text in TEXTS], 4, "document")
    assert np.abs(kind.encode(model, TEXTS, 4, "document") - changed).max() < ROUNDING


def test_a_model_whose_batches_tell_more_of_each_text_takes_those_of_the_library(folder):
    model = bi_encoder(folder)
    library = model.preprocess
    model.preprocess = lambda inputs, **options: (
        library(inputs, **options) | {"words": [len(text.split()) for text in inputs]}
    )
    tokens = Tokenised(model, TEXTS, "")
    for some in (TEXTS[:5], TEXTS[5:8]):
        assert tokens.preprocess(some)["words"] == [len(text.split()) for text in some]
    assert not tokens.trusted


def test_frames_are_those_of_tokenizers():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({"a": 0, "<s>": 1, "</s>": 2}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    assert frame(tokenizer, 1) == ([[], []], [0])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    assert frame(tokenizer, 1) == ([[(1, 0)], [(2, 0)]], [0])
    assert frame(tokenizer, 2) == ([[(1, 0)], [(2, 0), (2, 0)], [(2, 1)]], [0, 1])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$B <s> $A", special_tokens=[("<s>", 1)])
    assert frame(tokenizer, 2) is None


def test_tokenizers_that_do_not_allow_it_are_unsuited(folder, monkeypatch):
    model = bi_encoder(folder)
    model.tokenizer.pad_token = None
    with pytest.raises(Unsuited, match="no token for padding"):
        Tokenised(model, TEXTS, "")
    model = bi_encoder(folder)
    monkeypatch.setattr(type(model.tokenizer), "backend_tokenizer", None)
    with pytest.raises(Unsuited, match="no fast tokenizer"):
        Tokenised(model, TEXTS, "")


def test_scorers_sort_as_many_pairs_as_some_large_batches_have(tmp_path, folder):
    cross_encoder(folder).save_pretrained(str(tmp_path / "cross"), create_model_card=False)
    kind = adapter("cross-encoder")
    assert kind.load_scorer(tmp_path / "cross", LENGTH, 4, "torch").chunk == CHUNK
    assert kind.load_scorer(tmp_path / "cross", LENGTH, 4, "torch", 32).chunk == CHUNK
    assert kind.load_scorer(tmp_path / "cross", LENGTH, 4, "torch", 65536).chunk == 131072
    assert texts_per_batch(4, None, 16) == 4 and texts_per_batch(4, 8, 16) == 1


def test_a_language_model_takes_no_batches_by_tokens(folder, tmp_path, monkeypatch):
    from ranktrial.models import language_models

    cross_encoder(folder).save_pretrained(str(tmp_path / "cross"), create_model_card=False)
    monkeypatch.setattr(language_models, "judges", lambda model: True)
    monkeypatch.setattr(language_models, "template", lambda model: "")
    monkeypatch.setattr(language_models, "as_text", lambda model: "")
    with pytest.raises(UserError, match="batch_tokens: a language model"):
        adapter("cross-encoder").load_scorer(tmp_path / "cross", LENGTH, 4, "torch", 64)
