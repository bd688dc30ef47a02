"""Packed weights and a last layer for the first token give the numbers that the library gives, on the processor."""

import json

import numpy as np
import pytest

from ranktrial.models import kernels, loading, processor  # noqa: F401 - loading sets what the libraries read as they are imported
from ranktrial.models.adapters import adapter
from ranktrial.models.cross_encoding import MODELS, first_token_alone
from ranktrial.models.loaded import load_prompted, rank_fast
from ranktrial.models.token_batches import in_batches
from tests.support.tiny_bert import build, build_masked

torch = pytest.importorskip("torch")
TEXTS = ["ice", "the price of oats", "a b c d e f g h", "oats of the price of the ice of a price"]
PACKS = processor.packs
ROUNDING = 2e-6  # of numbers of about 1: sums of some dozen products in fp32, in another order


class Settings:
    max_length = 32
    prompts = None


def packed(module: torch.nn.Module) -> int:
    return sum(type(one) is processor.PackedLinear for one in module.modules())


@pytest.fixture(autouse=True)
def anywhere(monkeypatch):
    """oneDNN computes on any processor; whether it is the faster one is not the question here."""
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    monkeypatch.setattr(processor, "packs", lambda: True)


@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_layer_gives_what_the_layer_gave(bias):
    torch.manual_seed(1)
    layer = torch.nn.Linear(24, 40, bias=bias)
    inputs = torch.randn(3, 7, 24)
    with torch.inference_mode():
        expected = layer(inputs)
        processor.pack(layer)
        assert (layer(inputs) - expected).abs().max() < ROUNDING
        assert layer(inputs[:0]).shape == (0, 7, 40)
        assert torch.equal(layer.double()(inputs.double()), torch.nn.Linear.forward(layer, inputs.double()))


@pytest.mark.parametrize("way", ["none", "tanh"])
def test_a_packed_layer_computes_the_gelu_that_follows(way):
    torch.manual_seed(1)
    layer, inputs = torch.nn.Linear(24, 40), torch.randn(50, 24) * 3
    with torch.inference_mode():
        expected = torch.nn.functional.gelu(layer(inputs), approximate=way)
        processor.pack(layer)
        layer.gelu = way
        assert (layer(inputs) - expected).abs().max() < ROUNDING
        assert torch.equal(layer(inputs[:0]), expected[:0])


@pytest.mark.parametrize("activation", ["gelu", "gelu_pytorch_tanh", "gelu_new", "relu"])
def test_a_model_of_any_activation_gives_the_same_vectors(tmp_path, activation):
    folder = build(tmp_path / "model", TEXTS, seed=3)

    written = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(written | {"hidden_act": activation}))
    kind = adapter("bi-encoder")
    plain = kind.encode(kind.load(folder, 32), TEXTS, 2, "document")
    model = load_prompted(kind, folder, Settings())
    assert packed(model) >= 12  # two layers of six
    assert np.abs(kind.encode(model, TEXTS, 2, "document") - plain).max() < ROUNDING


def test_a_sparse_encoder_gives_the_same_weights_of_terms(tmp_path):
    kind, folder = adapter("sparse-encoder"), build_masked(tmp_path / "model", TEXTS, seed=3)
    plain = kind.encode(kind.load(folder, 32), TEXTS, 2, "document").toarray()
    model = load_prompted(kind, folder, Settings())
    assert packed(model)
    assert np.abs(kind.encode(model, TEXTS, 2, "document").toarray() - plain).max() < ROUNDING * max(1, plain.max())


def test_a_model_that_is_trained_is_left_as_it_is(tmp_path):
    folder = build(tmp_path / "model", TEXTS, seed=3)
    assert not packed(load_prompted(adapter("bi-encoder"), folder, Settings(), to_train=True))


def test_weights_that_are_too_many_are_not_copied(tmp_path, monkeypatch):
    monkeypatch.setattr(processor, "LARGEST", 100)
    assert not packed(load_prompted(adapter("bi-encoder"), build(tmp_path / "model", TEXTS, seed=3), Settings()))


def test_processors_without_avx512_keep_to_mkl(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert not processor.packs()
    layers = torch.nn.Sequential(torch.nn.Linear(3, 4))
    processor.speed_up(layers)
    assert not packed(layers)


def classifier(name: str, **further):
    """A drawn model of a family, with weights large enough for tokens to matter."""
    import transformers

    config = getattr(transformers, name.replace("ForSequenceClassification", "Config"))
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
    torch.manual_seed(5)
    made = config(vocab_size=50, num_labels=1, initializer_range=0.4, max_position_embeddings=40, **sizes, **further)
    if name.startswith("Electra"):
        made.embedding_size = 32
    return getattr(transformers, name)(made).eval()


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_last_layer_of_the_first_token_alone_gives_the_same_scores(name, padded, attention):
    model = classifier(name)
    model.set_attn_implementation(attention)
    ids = torch.randint(3, 50, (5, 12), generator=torch.Generator().manual_seed(2))
    mask = torch.ones_like(ids)
    if padded:
        for row, length in enumerate((12, 3, 7, 1, 9)):
            mask[row, length:], ids[row, length:] = 0, 1
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=mask).logits
        assert first_token_alone(model)
        shapes = []
        model.base_model.encoder.layer[-1].register_forward_hook(lambda *of: shapes.append(of[2].shape))
        found = model(input_ids=ids, attention_mask=mask).logits
    assert expected.std() > 0.01 and shapes == [(5, 1, 32)]
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


def test_models_of_another_form_are_left_as_they_are():
    import transformers

    assert not first_token_alone(classifier("BertForSequenceClassification", is_decoder=True))
    assert not first_token_alone(transformers.BertModel(transformers.BertConfig(hidden_size=32, num_attention_heads=4)))
    sizes = {"hidden_dim": 64, "dim": 32, "n_layers": 2, "n_heads": 4, "vocab_size": 50}
    assert not first_token_alone(
        transformers.DistilBertForSequenceClassification(transformers.DistilBertConfig(**sizes))
    )


def test_a_cross_encoder_that_ranks_is_sped_up_and_scores_the_same(tmp_path):
    kind, start = adapter("cross-encoder"), build(tmp_path / "start", TEXTS, seed=3)
    model = kind.load(start, 32, to_train=True)
    model.save_pretrained(str(tmp_path / "model"), create_model_card=False)
    pairs = [(one, other) for one in TEXTS for other in TEXTS]
    plain = kind.scorer(kind.load(tmp_path / "model", 32), 4).score(pairs)
    fast = kind.load_scorer(tmp_path / "model", 32, 4, "torch").score(pairs)
    assert np.abs(fast - plain).max() < ROUNDING


def test_with_kernels_of_the_library_a_model_is_left_as_it_is(tmp_path, monkeypatch, request):
    request.addfinalizer(lambda: kernels.choose(kernels.FAST))
    monkeypatch.setattr(processor, "packs", PACKS)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    start = build(tmp_path / "start", TEXTS, seed=3)
    assert processor.packs() and packed(load_prompted(adapter("bi-encoder"), start, Settings())) > 0
    kernels.choose(kernels.LIBRARY)
    assert not processor.packs() and packed(load_prompted(adapter("bi-encoder"), start, Settings())) == 0
    model = adapter("cross-encoder").load(start, 32, to_train=True)
    assert not first_token_alone(model.transformers_model)
    texts = [text for text in TEXTS for _ in range(9)]
    calls = []
    assert in_batches(None, lambda given, batch_size: calls.append((given, batch_size)), texts, 4) is None
    assert calls == [(texts, 4)]  # the library's batches are its own
    kernels.choose(kernels.FAST)
    assert first_token_alone(model.transformers_model)


def test_what_is_no_module_is_left_alone():
    rank_fast(object())


@pytest.mark.parametrize("width", [7, 384])
def test_packed_columns_give_the_products_that_columns_give_which_are_not(monkeypatch, width):
    torch.manual_seed(1)
    columns, rows = torch.randn(50, width), torch.randn(9, width)
    plain = processor.multiplier(columns, len(rows))(rows)
    monkeypatch.setattr(processor, "MANY", 2)
    packed = processor.multiplier(columns, len(rows))
    for few in (9, 3):  # also a block with fewer of them
        for made in (plain, packed(rows[:few])):
            assert torch.allclose(made[:few], rows[:few] @ columns.T, rtol=0, atol=width * ROUNDING)
    assert processor.multiplier(columns[:0], 9)(rows).shape == (9, 0)
