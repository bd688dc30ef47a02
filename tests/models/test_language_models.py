"""Causal language models as cross-encoders: their scores by hand, what a configuration sets, and each refusal."""

import json

import numpy as np
import pytest

from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from ranktrial.models.adapters import adapter
from ranktrial.models.cutting import cutting_scorer
from ranktrial.models.language_models import FILE
from scripts.training.weights import weights
from tests.models.test_cutting import lengths
from tests.support.calling import call
from tests.support.one_line import refused
from tests.support.tiny_language_model import TEMPLATE, build, rendered

TYPE = adapter("cross-encoder")
TEXTS = ["ash elm fig oak yew"]
PAIRS = [("ash", "oak"), ("elm fig", "yew yew oak ash elm fig oak"), ("oak", "elm"), ("fig ash elm", "ash yew")]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return build(tmp_path_factory.mktemp("plain") / "m", TEXTS, seed=3)


@pytest.fixture
def built(tmp_path):
    """What builds a like model, and states the metadata of its scores."""

    def made(reported=None, **how):
        folder = build(tmp_path / "m", TEXTS, seed=3, **how)
        if reported:
            (folder / FILE).write_text(json.dumps(reported))
        return folder

    return made


def scores(folder, pairs=PAIRS, batch_size=3, max_length=60):
    return TYPE.load_scorer(folder, max_length, batch_size, "torch").score(pairs)


def by_hand(folder, pairs=PAIRS, instruction="", true="yes", false="no"):
    """The logits of the next token by transformers alone, each pair for itself and without padding."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    made = []
    for query, document in pairs:
        ids = tokenizer(rendered(query, document, instruction), return_tensors="pt")["input_ids"]
        with torch.no_grad():
            last = model(ids).logits[0, -1]
        vocabulary = tokenizer.get_vocab()
        made.append((last[vocabulary[true]] - (last[vocabulary[false]] if false else 0)).item())
    return np.array(made)


def test_scores_are_the_next_tokens_logits_whatever_the_batch(plain):
    expected = by_hand(plain)
    assert expected.std() > 0.1
    for batch_size in (1, 3, 4):
        assert scores(plain, batch_size=batch_size) == pytest.approx(expected, abs=1e-4)
    facts = TYPE.load_scorer(plain, 60, 2, "torch").facts
    assert facts["score"] == "logit of 'yes' minus that of 'no'" and "prompts" not in facts


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        ({"true_token": "oak", "false_token": "elm"}, "logit of 'oak' minus that of 'elm'"),
        ({"true_token": "oak"}, "logit of 'oak'"),
        ({"true_token": "no", "false_token": "yes"}, "logit of 'no' minus that of 'yes'"),
    ],
)
def test_other_tokens(built, reported, words):
    folder = built(reported)
    expected = by_hand(folder, true=reported["true_token"], false=reported.get("false_token"))
    assert scores(folder) == pytest.approx(expected, abs=1e-4)
    assert TYPE.load_scorer(folder, 60, 2, "torch").facts["score"] == words


def test_an_instruction_is_put_in_place_of_the_stored_one(built):
    folder = built()
    stored = {"prompts": {"rank": "fig fig"}, "default_prompt_name": "rank"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(stored))
    given = TYPE.load_scorer(folder, 60, 2, "torch", prompts={"query": "oak elm"})
    assert given.score(PAIRS) == pytest.approx(by_hand(folder, instruction="oak elm"), abs=1e-4)
    assert given.facts["prompts"] == {"query": "oak elm"}
    none = TYPE.load_scorer(folder, 60, 2, "torch", prompts={"query": ""})
    assert none.score(PAIRS) == pytest.approx(by_hand(folder), abs=1e-4) and "prompts" not in none.facts


def test_what_the_library_saves_scores_alike(built, tmp_path):
    folder = built({"true_token": "oak", "false_token": "elm"})
    model = TYPE.load(folder, 60)
    TYPE.give_prompts(model, {"query": "yew"})
    model.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    call_weights = {"source": str(tmp_path / "saved")}
    target = tmp_path / "checkpoint"
    call(weights, call_weights, checkpoint=target)
    expected = by_hand(folder, instruction="yew", true="oak", false="elm")
    assert scores(target) == pytest.approx(expected, abs=1e-4)


def test_a_long_document_loses_its_end_and_the_template_keeps_its_own(plain):
    long = [("ash", " ".join(["oak"] * 40)), ("elm", "yew")]
    cut = [("ash", " ".join(["oak"] * 8)), ("elm", "yew")]  # Query ash Document … Answer are four more
    assert scores(plain, long, max_length=12) == pytest.approx(by_hand(plain, cut), abs=1e-4)
    scorer = TYPE.load_scorer(plain, 12, 2, "torch")
    assert cutting_scorer(scorer, lengths(3, 5, 12)).score(long) == pytest.approx(
        by_hand(plain, [("ash", "oak " * 5), ("elm", "yew")]), abs=1e-4
    )
    with refused("3 tokens of the query prompt", "max_length 4"):
        cutting_scorer(TYPE.load_scorer(plain, 4, 2, "torch"), lengths(None, None, 4))


def test_a_tokenizer_without_padding_is_given_one(built):
    folder = built(without=("<pad>",))
    assert scores(folder) == pytest.approx(by_hand(folder), abs=1e-4)


@pytest.mark.parametrize(
    ("reported", "how", "words"),
    [
        ({"true_token": "oak elm"}, {}, "true_token: 'oak elm' is not one token of its vocabulary"),
        ({"true_token": "yes", "false_token": "maybe"}, {}, "false_token: 'maybe' is not one token of its vocabulary"),
        ({"true_token": "yes", "false_token": "yes"}, {}, "its score is of the tokens"),
        (None, {"without": ("yes",)}, "true_token: 'yes' is not one token of its vocabulary; expected one, by true_token"),
        (None, {"without": ("<pad>", "<eos>")}, "neither a token for padding nor one for the end"),
        (None, {"template": None}, "a language model with no chat template for a query and a document"),
        (None, {"template": "{% for m in messages %}{{ m.role }} {% endfor %}"}, "its chat template cannot take a query"),
        (None, {"template": "{{ raise_exception('no') }}"}, "its chat template cannot take a query and a document"),
        ({"true_token": 3}, {}, "expected texts"),
    ],
)  # fmt: skip
def test_each_refusal_is_one_line(built, reported, how, words):
    folder = built(reported, **how)
    with refused(str(folder), words):
        TYPE.load_scorer(folder, 60, 2, "torch")


def test_weights_are_taken_with_the_template_and_what_is_stated(plain, tmp_path):
    given = {"source": str(plain), "true_token": "oak"}
    call(weights, given, checkpoint=tmp_path / "taken")
    assert json.loads((tmp_path / "taken" / FILE).read_text()) == {"true_token": "oak"}
    assert (tmp_path / "taken" / "chat_template.jinja").read_text() == TEMPLATE
    call(weights, {"source": str(plain)}, checkpoint=tmp_path / "plain-again")
    assert not (tmp_path / "plain-again" / FILE).exists()
    assert scores(tmp_path / "plain-again") == pytest.approx(scores(plain), abs=1e-6)


def test_a_model_of_another_type_is_given_no_tokens(tmp_path):
    from tests.support.tiny_bert import build as build_bert

    build_bert(tmp_path / "bert", TEXTS, seed=1)
    with refused("true_token is of a language model", "this is none"):
        call(weights, {"source": str(tmp_path / "bert"), "true_token": "yes"}, checkpoint=tmp_path / "out")
    assert not (tmp_path / "out").exists()
