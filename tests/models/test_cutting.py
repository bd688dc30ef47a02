"""Queries and documents cut apart: the model sees exactly the first tokens of each, in training and inference."""

import json
import random
from types import SimpleNamespace

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from ranktrial.models.adapters import Scorer, adapter
from ranktrial.models.cutting import cut_columns, cutter, cutting_encoder, cutting_scorer, tokenizer_of
from tests.support.tiny_bert import build

TEXT = "Ash, elmwood!  FIG-tree figs xylophone \u00e9lan oak yew 1984 ash elm \u4e2d\u6587 fig"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("model") / "m", ["ash elm wood fig tree oak yew xyz é 1 9 8 4"], seed=3)


def lengths(query=None, document=None, max_length=64):
    return SimpleNamespace(max_length=max_length, max_query_length=query, max_document_length=document)


def loaded(folder, kind):
    model = adapter(kind).load(folder, 64, to_train=True)
    return model, tokenizer_of(adapter(kind), model)


@pytest.mark.parametrize("count", range(1, 25))
def test_a_pair_is_exactly_the_first_tokens_of_each(folder, count):
    model, tokenizer = loaded(folder, "cross-encoder")
    cut = cutter(tokenizer, lengths(count, 30), in_pairs=True)
    ids = model.tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    document = (TEXT + " ") * 9
    of_document = model.tokenizer(document, add_special_tokens=False)["input_ids"][:30]
    (query,), (shorter,) = cut([TEXT], "query"), cut([document], "document")
    seen = model.preprocess([(query, shorter)])["input_ids"][0].tolist()
    start, end = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    assert seen == [start, *ids[:count], end, *of_document, end]


def test_a_text_that_is_short_enough_stays_as_it_is(folder):
    _, tokenizer = loaded(folder, "cross-encoder")
    cut = cutter(tokenizer, lengths(20, None), in_pairs=True)
    assert cut(["", "ash  elm \n"], "query") == ["", "ash  elm \n"]
    assert cut([TEXT * 50], "document") == [TEXT * 50]
    assert cutter(tokenizer, lengths(), in_pairs=True) is None


def test_what_is_left_of_a_word_is_not_divided_otherwise():
    """Byte-pair encoding may: `abc` is ab + c, but where c is cut off and ab is rarer than b, a + b is left."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram

    # The most probable division of `abcd` is ab + cd; of `ab` alone it is a + b.
    words = [("<unk>", -20.0), ("a", -1.0), ("b", -1.0), ("ab", -3.0), ("bcd", -9.0), ("cd", -1.0), ("c", -9.0)]
    tokenizer = Tokenizer(Unigram([*words, ("d", -9.0)], unk_id=0))
    tokenizer_of_words = tokenizer.encode("abcd").tokens
    assert tokenizer_of_words in (["ab", "cd"], ["a", "b", "cd"])
    rng = random.Random(5)
    for _ in range(200):
        text = "".join(rng.choices("abcd", k=12))
        whole = tokenizer.encode(text).ids
        for count in range(1, 8):
            (left,) = cutter(tokenizer, lengths(count), in_pairs=False)([text], "query")
            ids = tokenizer.encode(left).ids
            assert ids == whole[: len(ids)] and len(ids) <= count and text.startswith(left)


@pytest.mark.parametrize(
    ("query", "document", "max_length", "in_pairs", "fits"),
    [
        (64, 445, 512, True, True),  # the paper's, with [CLS] and two [SEP]
        (64, 446, 512, True, False),
        (60, None, 64, True, True),
        (61, None, 64, True, False),  # a document needs room for a token
        (62, 30, 64, False, True),
        (63, 30, 64, False, False),
    ],
)
def test_lengths_and_special_tokens_fit_into_the_models_own(folder, query, document, max_length, in_pairs, fits):
    _, tokenizer = loaded(folder, "cross-encoder")
    given = lengths(query, document, max_length)
    if fits:
        assert cutter(tokenizer, given, in_pairs)
    else:
        with pytest.raises(UserError, match=rf"max_query_length {query} .*do not fit into max_length {max_length}"):
            cutter(tokenizer, given, in_pairs)
    with pytest.raises(UserError, match="need a fast tokenizer"):
        cutter(None, given, in_pairs)


def test_vectors_and_scores_are_those_of_the_cut_texts(folder):
    kind = adapter("bi-encoder")
    model, tokenizer = loaded(folder, "bi-encoder")
    encode = cutting_encoder(kind, model, lengths(2, 4))
    for role, count in (("query", 2), ("document", 4)):
        end = tokenizer.encode(TEXT, add_special_tokens=False).offsets[count - 1][1]
        by_hand = kind.encode(model, [TEXT[:end]], 1, role)
        assert np.array_equal(encode([TEXT], batch_size=1, role=role), by_hand)
        assert not np.array_equal(by_hand, kind.encode(model, [TEXT], 1, role))

    given = []
    whole = Scorer(
        lambda pairs: given.extend(pairs) or np.zeros(len(pairs), np.float32), {"precision": "fp32"}, tokenizer
    )
    scored = cutting_scorer(whole, lengths(1, 2))
    assert scored.facts == whole.facts and len(scored.score([("ash elm", "fig tree oak"), ("ash elm", "oak")])) == 2
    assert given == [("ash", "fig tree"), ("ash", "oak")]
    assert cutting_scorer(whole, lengths()) is whole


def test_onnx_cuts_like_torch(tmp_path):
    from ranktrial.models.onnx_session import load_tokenizer

    folder = build(tmp_path / "m", ["ash elm fig oak"], seed=1)
    _, tokenizer = loaded(folder, "cross-encoder")
    onnx = load_tokenizer(folder, 64)
    texts = ["ash elm fig", "oakash " * 20, ""]
    for role in ("query", "document"):
        assert cutter(onnx, lengths(3, 5), True)(texts, role) == cutter(tokenizer, lengths(3, 5), True)(texts, role)
    assert len(onnx.encode("ash " * 90).ids) == 64  # the model's own truncation is as it was


def test_columns_of_every_shape_are_cut(folder):
    _, tokenizer = loaded(folder, "cross-encoder")
    cut = cutter(tokenizer, lengths(1, 2), in_pairs=True)
    lists = {"anchor": ["ash elm"], "positive": ["fig oak yew"], "negative_1": ["oak yew ash"]}
    assert cut_columns(lists, cut) == {"anchor": ["ash"], "positive": ["fig oak"], "negative_1": ["oak yew"]}
    ranked = {"query": ["ash elm"], "documents": [["fig oak yew", "elm"]], "label": [[1.0, 0.0]]}
    assert cut_columns(ranked, cut) == {"query": ["ash"], "documents": [["fig oak", "elm"]], "label": [[1.0, 0.0]]}
    assert cut_columns(ranked, None) is ranked


def test_the_roles_of_a_training_are_cut(tmp_path):
    """A training whose texts are cut is one whose texts were written that short."""
    from ranktrial.ir.collection import Document, write_corpus, write_queries
    from tests.support.tiny_task import same, train

    header = "query_id\tpositive_id\tnegative_id\tsource\tbm25_rank\n"
    for name, query, document in (("long", "ash elm fig", "oak yew ash elm"), ("short", "ash", "oak yew")):
        folder = tmp_path / name
        build(folder / "start", ["ash elm fig oak yew"], seed=2)
        write_queries(folder / "queries.jsonl", {"q": query})
        documents = [Document("p", "", document), Document("n", "", "fig elm")]
        write_corpus(folder / "corpus.jsonl", iter(documents))
        (folder / "negatives.tsv").write_text(header + "q\tp\tn\tbm25\t1\n")
    settings = {"type": "cross-encoder", "loss": "MarginRankingLoss", "epochs": 2}
    train(tmp_path / "long", tmp_path / "a", **settings, max_query_length=1, max_document_length=2)
    train(tmp_path / "short", tmp_path / "b", **settings)
    train(tmp_path / "long", tmp_path / "c", **settings)
    assert same(tmp_path / "a", tmp_path / "b") and not same(tmp_path / "a", tmp_path / "c")
    timing = json.loads((tmp_path / "a" / "timing.json").read_text())
    assert (timing["max_query_length"], timing["max_document_length"]) == (1, 2)
