"""Layers that oneDNN multiplies for give the outputs and gradients that torch's own layers give, on the processor."""

import copy

import pytest

from ranktrial.models import loading, trained_products  # noqa: F401 - loading sets what the libraries read as they are imported
from ranktrial.models.adapters import adapter
from ranktrial.models.trained_products import LinearProducts, TrainedLinear, train_fast
from tests.support.tiny_bert import build

torch = pytest.importorskip("torch")
ROUNDING = 2e-6  # of numbers of about 1: sums of some dozen products in fp32, in another order
TEXTS = ["ice", "the price of oats", "a b c d e f g h", "oats of the price of the ice of a price"]


@pytest.fixture(autouse=True)
def anywhere(monkeypatch):
    """oneDNN computes on any processor; whether it is the faster one is not the question here."""
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    monkeypatch.setattr(trained_products, "packs", lambda: True)


def made(layer: torch.nn.Linear) -> torch.nn.Linear:
    """A copy of a layer that oneDNN multiplies for."""
    whole = torch.nn.Sequential(copy.deepcopy(layer))
    train_fast(whole)
    return whole[0]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(5, 24), (3, 7, 24), (1, 24), (24,)])
def test_outputs_and_gradients_are_those_of_torch(bias, shape):
    torch.manual_seed(1)
    plain = torch.nn.Linear(24, 40, bias=bias)
    ours, wanted = made(plain), torch.randn(*shape[:-1], 40)
    assert type(ours) is TrainedLinear
    inputs = [torch.randn(shape, generator=torch.Generator().manual_seed(2)).requires_grad_() for _ in range(2)]
    outputs = [layer(given) for layer, given in zip((plain, ours), inputs, strict=True)]
    assert (outputs[0] - outputs[1]).abs().max() < ROUNDING
    for output in outputs:
        (output * wanted).sum().backward()
    rows = inputs[0].numel() // 24  # gradients of weights are sums over so many rows
    assert (inputs[0].grad - inputs[1].grad).abs().max() < ROUNDING
    assert (plain.weight.grad - ours.weight.grad).abs().max() < ROUNDING * rows
    assert ours.weight.grad.is_contiguous()
    if bias:
        assert (plain.bias.grad - ours.bias.grad).abs().max() < ROUNDING * rows


def test_gradients_are_those_of_small_differences():
    torch.manual_seed(3)
    shapes = ((4, 6), (5, 6), (5,))
    expected = [torch.randn(shape, dtype=torch.float32) for shape in shapes]
    with_gradients = [tensor.clone().requires_grad_() for tensor in expected]
    LinearProducts.apply(*with_gradients).square().sum().backward()
    exact = [tensor.double() for tensor in expected]
    for number, tensor in enumerate(with_gradients):
        direction = torch.randn(tensor.shape, dtype=torch.float64)
        step = 1e-5
        moved = [exact[other] + direction * step if other == number else exact[other] for other in range(3)]
        back = [exact[other] - direction * step if other == number else exact[other] for other in range(3)]
        ahead, behind = (torch.nn.functional.linear(*these).square().sum() for these in (moved, back))
        slope = float((ahead - behind) / (2 * step))
        assert float((tensor.grad.double() * direction).sum()) == pytest.approx(slope, rel=1e-4)


def test_weights_that_are_not_trained_get_no_gradient():
    layer = made(torch.nn.Linear(6, 4))
    layer.weight.requires_grad_(False)
    inputs = torch.randn(3, 6, requires_grad=True)
    layer(inputs).sum().backward()
    assert layer.weight.grad is None and inputs.grad is not None and layer.bias.grad is not None


def test_other_numbers_and_no_rows_are_left_to_torch():
    layer = made(torch.nn.Linear(6, 4))
    assert layer(torch.empty(0, 6)).shape == (0, 4)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.randn(3, 6)).dtype == torch.bfloat16
    double = layer.double()
    inputs = torch.randn(3, 6, dtype=torch.float64)
    assert torch.equal(double(inputs), torch.nn.Linear.forward(double, inputs))


def test_what_a_training_step_gives_every_parameter_of_a_model(tmp_path):
    """Gradients of a whole model, also with activations that are computed again, are those of torch's layers."""
    kind, folder = adapter("bi-encoder"), build(tmp_path / "model", TEXTS, seed=3)
    gradients = []
    for fast, again in ((False, False), (True, False), (True, True)):
        model = kind.load(folder, 32, to_train=True).train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        if fast:
            train_fast(model)
            assert sum(type(module) is TrainedLinear for module in model.modules()) >= 12  # two layers of six
        if again:
            model.transformers_model.gradient_checkpointing_enable()
        model(model.preprocess(TEXTS))["sentence_embedding"].square().sum(dim=1).sqrt().sum().backward()
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
    for other in gradients[1:]:
        for name, plain in gradients[0].items():
            assert (plain is None) == (other[name] is None), name
            if plain is not None:
                assert (plain - other[name]).abs().max() < 1e-4 * max(1, plain.abs().max()), name


def test_processors_without_avx512_keep_to_mkl(monkeypatch):
    monkeypatch.setattr(trained_products, "packs", lambda: False)
    assert type(made(torch.nn.Linear(3, 4))) is torch.nn.Linear


def test_models_to_train_get_such_layers_and_are_saved_as_before(tmp_path):
    kind, folder = adapter("bi-encoder"), build(tmp_path / "model", TEXTS, seed=3)
    before = kind.load(folder, 32, to_train=True)
    after = kind.load(folder, 32, to_train=True)
    train_fast(after)
    assert list(before.state_dict()) == list(after.state_dict())
    after.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    again = kind.load(tmp_path / "saved", 32)
    assert not any(type(module) is TrainedLinear for module in again.modules())
    assert all(
        torch.equal(a, b) for a, b in zip(before.state_dict().values(), again.state_dict().values(), strict=True)
    )
