"""What belongs to a model beside its weights: its own tokenizer, a token for padding, activations that are known."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import loading  # first: it sets what the libraries read while they are imported
from ranktrial.models.adapters import adapter
from ranktrial.models.loading import ACTIVATIONS, MODULES, check_activations, check_parts
from scripts.training.weights import weights
from tests.support.calling import call
from tests.support.one_line import refused
from tests.support.tiny_bert import build
from tests.support.tiny_routes import build_routed

TEXTS = ["ash elm fig oak yew", "the price of oats in august", "rain"]
PAIRS = [("ash elm", "fig"), ("oak", "yew yew yew oak elm ash"), ("fig fig fig", "elm")]


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("models") / "plain", TEXTS, seed=1)


@pytest.fixture
def copied(plain, tmp_path) -> Path:
    return Path(shutil.copytree(plain, tmp_path / "copied"))


def test_a_folder_without_its_tokenizer_is_refused(copied, tmp_path):
    tokenizer = (copied / "tokenizer.json").read_text()
    (copied / "tokenizer.json").unlink()
    with refused(f"{copied}: no tokenizer beside its weights (tokenizer.json, vocab.txt, vocab.json with merges.txt"):
        adapter("bi-encoder").load(copied, 16)
    with refused("no tokenizer beside its weights"):
        call(weights, {"source": str(copied)}, checkpoint=tmp_path / "out")
    (copied / "vocab.json").write_text("{}")  # without its merges each byte would be a token
    with pytest.raises(UserError, match="no tokenizer beside its weights"):
        check_parts(copied)
    (copied / "vocab.txt").write_text("\n".join(json.loads(tokenizer)["model"]["vocab"]) + "\n")
    assert check_parts(copied) is None


def test_each_route_needs_its_tokenizer(tmp_path):
    routed = build_routed(tmp_path / "routed", TEXTS, seed=1)
    next(routed.rglob("query_0*/tokenizer.json")).unlink()
    with pytest.raises(UserError, match=r"query_0_SparseStaticEmbedding: no tokenizer beside its weights"):
        adapter("sparse-encoder").load(routed, 16)


def test_the_tokenizer_of_another_model_is_refused(copied, plain, tmp_path):
    other = build(tmp_path / "other", [*TEXTS, "more words than it knows"], seed=1)
    shutil.copyfile(other / "tokenizer.json", copied / "tokenizer.json")
    known = json.loads((plain / "config.json").read_text())["vocab_size"]
    with refused("its tokenizer has numbers up to ", f"but the model knows {known} tokens: it is another model's"):
        adapter("bi-encoder").load(copied, 16)
    tokenizer = json.loads((plain / "tokenizer.json").read_text())  # a token for images, as Gemma's has
    tokenizer["added_tokens"].append(tokenizer["added_tokens"][0] | {"id": known, "content": "<image>"})
    (copied / "tokenizer.json").write_text(json.dumps(tokenizer))
    kind = adapter("bi-encoder")
    with_image = kind.load(copied, 16)
    assert "<image>" in with_image.tokenizer.get_vocab()
    expected = kind.encode(kind.load(plain, 16), TEXTS, 2, "document")
    assert np.array_equal(kind.encode(with_image, TEXTS, 2, "document"), expected)
    with refused(f"{copied}: a text has the token '<image>' with the number {known}, ", f"model knows {known} tokens"):
        kind.encode(with_image, [*TEXTS, "an <image>"], 2, "document")


def test_a_token_that_was_added_around_each_text_and_has_no_embedding_is_refused_at_loading(tmp_path):
    import torch
    from tokenizers import Tokenizer, models, processors
    from transformers import PreTrainedTokenizerFast

    whole = Tokenizer(models.WordLevel({"<unk>": 0, "ash": 1}, unk_token="<unk>"))
    whole.add_special_tokens(["<text>"])
    whole.post_processor = processors.TemplateProcessing(single="<text> $A", special_tokens=[("<text>", 2)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=whole, unk_token="<unk>", pad_token="<unk>")
    loading.check_vocabulary(tokenizer, torch.nn.Embedding(3, 4), tmp_path)
    with refused("has numbers up to 2 (the token '<text>'), but the model knows 2 tokens"):
        loading.check_vocabulary(tokenizer, torch.nn.Embedding(2, 4), tmp_path)


@pytest.fixture
def gpt2(tmp_path) -> Callable[..., Path]:
    """A classifier whose score is of the last token, and a tokenizer that has only some special tokens."""

    def write(**special: str) -> Path:
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import GPT2Config, GPT2ForSequenceClassification, PreTrainedTokenizerFast, set_seed

        words = ["<end>", "<unk>", "ash", "elm", "fig", "oak", "yew"]
        whole = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
        whole.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=whole, unk_token="<unk>", model_max_length=64, **special)
        tokenizer.save_pretrained(tmp_path / "gpt2")
        set_seed(1)
        sizes = {"n_embd": 32, "n_head": 2, "n_layer": 2, "n_positions": 64, "vocab_size": len(words)}
        config = GPT2Config(**sizes, num_labels=1, initializer_range=0.5, bos_token_id=0, eos_token_id=0)
        GPT2ForSequenceClassification(config).save_pretrained(tmp_path / "gpt2")
        return tmp_path / "gpt2"

    return write


def test_a_tokenizer_without_padding_pads_with_the_end_of_a_text(gpt2):
    """The score of a pair is that of the pair alone, which needs no padding, as transformers computes it."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = gpt2(eos_token="<end>")
    scorer = adapter("cross-encoder").load_scorer(folder, 32, 3, "torch")
    whole, tokenizer = (made.from_pretrained(folder) for made in (AutoModelForSequenceClassification, AutoTokenizer))
    with torch.inference_mode():
        alone = [float(whole(**tokenizer(*pair, return_tensors="pt")).logits) for pair in PAIRS]
    np.testing.assert_allclose(scorer.score(PAIRS), alone, rtol=0, atol=1e-5)
    assert np.ptp(alone) > 0.1
    with refused("its tokenizer has neither a token for padding nor one for the end of a text"):
        adapter("cross-encoder").load(gpt2(), 32)


def test_what_is_padding_is_given_to_the_classifier_as_the_tokenizer_says_it(gpt2):
    """A config.json that names another token: the score of a shorter pair would be that of padding."""
    folder = gpt2(eos_token="<end>", pad_token="<end>")
    config = json.loads((folder / "config.json").read_text())
    right = adapter("cross-encoder").load_scorer(folder, 32, 3, "torch").score(PAIRS)
    (folder / "config.json").write_text(json.dumps(config | {"pad_token_id": 1}))
    assert np.array_equal(adapter("cross-encoder").load_scorer(folder, 32, 3, "torch").score(PAIRS), right)


def test_known_activations_are_those_of_torch():
    import torch

    for name in ACTIVATIONS:
        module = next(place for place in MODULES if name in vars(__import__(place, fromlist=[name])))
        assert issubclass(vars(__import__(module, fromlist=[name]))[name], torch.nn.Module)
        assert module == "torch.nn" and vars(torch.nn)[name]() is not None


def test_an_activation_that_is_not_known_is_refused(copied):
    dense = copied / "2_Dense"
    dense.mkdir()
    modules = json.loads((copied / "modules.json").read_text())
    modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (copied / "modules.json").write_text(json.dumps(modules))
    config = json.loads((copied / "config.json").read_text())
    places = {
        dense / "config.json": lambda name: {"activation_function": name},
        copied / "config_sentence_transformers.json": lambda name: {"activation_fn": name},
        copied / "config.json": lambda name: config | {"sentence_transformers": {"activation_fn": name}},
    }
    odd = ["os.abort", "torch.os.abort", "torch.nn.Threshold", "torch.nn.Module", "torch.hub.load", "Tanh", "", 7, []]
    for file, content in places.items():
        for name in odd:
            file.write_text(json.dumps(content(name)))
            with refused(f"{file}: the activation {name!r} is none that is known", "torch.nn.modules.activation.Tanh"):
                check_parts(copied)
        for name in ("torch.nn.modules.activation.Tanh", "torch.nn.modules.linear.Identity", "torch.nn.GELU", None):
            file.write_text(json.dumps(content(name)))
            check_activations(copied)
    old = config | {"sbert_ce_default_activation_function": "os.abort"}
    (copied / "config.json").write_text(json.dumps(old))
    with pytest.raises(UserError, match=r"config.json: the activation 'os.abort' is none"):
        adapter("bi-encoder").load(copied, 16)
    (copied / "config.json").write_text(json.dumps(config | {"hidden_act": "os.abort"}))
    with pytest.raises(UserError, match=r"copied: cannot be loaded: KeyError: .*os\.abort"):
        adapter("bi-encoder").load(copied, 16)
