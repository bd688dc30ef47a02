"""Prompts of a loaded model: those that it stores, those it is given, and the room that they take."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from ranktrial.models.adapters import Scorer, adapter
from ranktrial.models.cutting import cutter, cutting_encoder, cutting_scorer, tokenizer_of
from ranktrial.models.loaded import load_prompted
from ranktrial.models.prompts import of_columns, prompts_of
from tests.models.test_cutting import lengths
from tests.support.one_line import refused
from tests.support.tiny_bert import build

TYPE = adapter("bi-encoder")
BOTH = {"query": "ash ash ", "document": "yew "}
TEXTS = ["fig oak", "elm", "oak yew oak ash"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return build(tmp_path_factory.mktemp("plain") / "m", ["ash elm fig oak yew"], seed=3)


@pytest.fixture
def storing(tmp_path):
    """What builds the same model with something in the file where it stores prompts."""

    def built(**content):
        folder = build(tmp_path / "m", ["ash elm fig oak yew"], seed=3)
        (folder / "config_sentence_transformers.json").write_text(json.dumps(content))
        return folder

    return built


def settings(prompts=None, **given):
    made = lengths(**given)
    made.prompts = prompts
    return made


def vectors(folder, role, texts, prompts=None):
    return TYPE.encode(load_prompted(TYPE, folder, settings(prompts)), texts, 4, role)


@pytest.mark.parametrize(
    ("stored", "given", "put"),
    [
        ({}, None, {}),
        ({"query": "ash "}, None, {"query": "ash "}),
        ({"query": "ash ", "document": "yew "}, {"query": ""}, {"document": "yew "}),
        ({"query": "ash "}, {"document": "elm "}, {"query": "ash ", "document": "elm "}),
        ({}, BOTH, BOTH),
        ({"passage": "yew ", "corpus": "fig "}, None, {"document": "yew "}),  # the library finds neither
        ({"corpus": "fig "}, None, {"document": "fig "}),
        ({"document": "", "passage": "yew "}, None, {}),  # none, in so many words
        ({"passage": "yew "}, {"document": "fig "}, {"document": "fig "}),
        ({"passage": "yew "}, {"document": ""}, {}),
        ({"query": None, "document": None}, None, {}),
    ],
)
def test_vectors_are_those_of_texts_that_begin_so(plain, storing, stored, given, put):
    folder = storing(prompts=stored, default_prompt_name=None)
    model = load_prompted(TYPE, folder, settings(given))
    assert prompts_of(TYPE, model) == put
    for role in ("query", "document"):
        by_hand = vectors(plain, role, [put.get(role, "") + text for text in TEXTS])
        assert np.array_equal(TYPE.encode(model, TEXTS, 4, role), by_hand)


def test_a_saved_model_stores_what_it_was_given(plain, tmp_path):
    """So that whoever loads it with the library gets the same vectors."""
    from sentence_transformers import SentenceTransformer

    load_prompted(TYPE, plain, settings(BOTH)).save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    loaded = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    assert {role: loaded.prompts[role] for role in BOTH} == BOTH
    assert np.allclose(loaded.encode_query(TEXTS, normalize_embeddings=True), vectors(plain, "query", TEXTS, BOTH), atol=1e-6)  # fmt: skip
    assert prompts_of(TYPE, load_prompted(TYPE, tmp_path / "saved", settings())) == BOTH
    assert prompts_of(TYPE, load_prompted(TYPE, tmp_path / "saved", settings({"query": ""}))) == {"document": "yew "}


STORED_AND_WRONG = {
    "a list": ({"prompts": ["ash "]}, "prompts is not an object of texts"),
    "a number": ({"prompts": {"query": 5}}, "prompts is not an object of texts"),
    "an object": ({"prompts": {"query": {"a": "b"}}}, "prompts is not an object of texts"),
    "too long": ({"prompts": {"query": "ash " * 1025}}, "the prompt 'query': expected at most 4,096 characters"),
    "invisible": ({"prompts": {"q\nuery": "ash\u202e"}}, r"the prompt 'q\nuery': expected at most 4,096 characters"),
}


@pytest.mark.parametrize("name", STORED_AND_WRONG)
def test_stored_prompts_from_strangers_are_checked(storing, name):
    content, said = STORED_AND_WRONG[name]
    with refused(said, "config_sentence_transformers.json: "):
        TYPE.load(storing(**content), 64)


def test_a_kind_without_prompts_and_other_texts_are_refused(plain):
    with pytest.raises(UserError, match=r"^prompts: unknown key 'document'; expected query$"):
        load_prompted(adapter("cross-encoder"), plain, settings({"document": "ash "}), to_train=True)
    with pytest.raises(UserError, match=r"^prompts: unknown key 'passage'; expected query, document$"):
        load_prompted(TYPE, plain, settings({"passage": "ash "}))


def test_lengths_are_counted_without_the_prompt(plain):
    """What is left of a text begins with the whole prompt, and has as many tokens of its own as it would without."""
    model = load_prompted(TYPE, plain, settings(BOTH))
    cut = cutting_encoder(TYPE, model, settings(BOTH, query=2, document=3))
    for role, kept in (("query", "oak yew"), ("document", "oak yew oak")):
        by_hand = vectors(plain, role, [BOTH[role] + kept])
        assert np.array_equal(cut(["oak yew oak ash"], batch_size=1, role=role), by_hand)


@pytest.mark.parametrize(
    ("given", "in_pairs", "fits"),
    [
        ({"query": 3, "max_length": 7}, False, True),  # with 2 tokens of the prompt, [CLS] and [SEP]
        ({"query": 4, "max_length": 7}, False, False),
        ({"document": 4, "max_length": 7}, False, True),  # with one of the prompt
        ({"document": 5, "max_length": 7}, False, False),
        ({"max_length": 5}, False, True),  # no limit: one token of a text
        ({"max_length": 4}, False, False),
        ({"query": 2, "document": 3, "max_length": 11}, True, True),
        ({"query": 2, "document": 3, "max_length": 10}, True, False),
    ],
)
def test_the_prompt_has_its_room_within_max_length(plain, given, in_pairs, fits):
    tokenizer = tokenizer_of(TYPE, TYPE.load(plain, 64))
    if fits:
        cutter(tokenizer, lengths(**given), in_pairs, BOTH)
        return
    with pytest.raises(UserError, match=f"do not fit into max_length {given['max_length']} with") as error:
        cutter(tokenizer, lengths(**given), in_pairs, BOTH)
    assert "and 2 tokens of the query prompt and 1 tokens of the document prompt; raise it" in str(error.value)
    cutter(tokenizer, lengths(**given), in_pairs)  # without prompts it would have fitted


def test_a_corpus_is_encoded_whatever_is_put_before_queries(plain):
    model = load_prompted(TYPE, plain, settings({"query": "ash " * 60}, max_length=64))
    cutting_encoder(TYPE, model, settings(), ("document",))
    with pytest.raises(UserError, match="60 tokens of the query prompt"):
        cutting_encoder(TYPE, model, settings(max_length=62))


def test_columns_of_every_shape_have_the_prompt_of_their_role():
    lists = of_columns(BOTH, ["anchor", "positive", "negative_1", "negative_2"])
    assert lists == {"anchor": "ash ash ", "positive": "yew ", "negative_1": "yew ", "negative_2": "yew "}
    assert of_columns({"query": "ash "}, ["query", "document", "label"]) == {"query": "ash "}
    assert of_columns({}, ["anchor", "positive"]) == {}


def test_a_cross_encoders_own_prompt_stands_before_the_query(plain, tmp_path):
    """The library has one for both texts, which a model may store under its default's name."""
    kind = adapter("cross-encoder")
    model = kind.load(plain, 64, to_train=True)
    model.save_pretrained(str(tmp_path / "none"), create_model_card=False)
    model.prompts, model.default_prompt_name = {"rank": "ash ash "}, "rank"
    model.save_pretrained(str(tmp_path / "one"), create_model_card=False)
    one, none = (kind.load_scorer(tmp_path / name, 64, 4, "torch") for name in ("one", "none"))
    pairs = [("fig oak", "elm"), ("oak", "yew")]
    by_hand = none.score([("ash ash " + query, document) for query, document in pairs])
    given = kind.load_scorer(tmp_path / "none", 64, 4, "torch", prompts={"query": "ash ash "})
    assert np.array_equal(given.score(pairs), by_hand) and given.facts["prompts"] == {"query": "ash ash "}
    assert np.array_equal(one.score(pairs), by_hand) and not np.array_equal(none.score(pairs), by_hand)
    assert one.prompts == one.facts["prompts"] == {"query": "ash ash "} and "prompts" not in none.facts
    assert isinstance(cutting_scorer(one, lengths(2, 2, 9)), Scorer)
    with pytest.raises(UserError, match="2 tokens of the query prompt"):
        cutting_scorer(one, lengths(2, 2, 8))
