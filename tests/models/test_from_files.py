"""Weights that are not the model's: every kind refuses them in one line, and only a head to be trained may be new."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from ranktrial.models.adapters import adapter
from ranktrial.training.training_settings import Settings
from scripts.training.fine_tune import load as load_to_train
from tests.support.one_line import one_line, refused
from tests.support.tiny_bert import build, build_labelling, build_masked
from tests.support.tiny_language_model import build as build_language_model
from tests.support.tiny_routes import build_routed
from tests.support.tiny_task import SCHEDULE

TEXTS = ["ash elm fig oak yew", "the price of oats in august", "rain"]
LENGTH = 16
MODEL_TYPES = {
    "bi": "bi-encoder",
    "dense": "bi-encoder",
    "cross": "cross-encoder",
    "language-model": "cross-encoder",
    "sparse": "sparse-encoder",
    "routed": "sparse-encoder",
    "late": "multi-vector",
    "tagger": "token-classification",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A small model of each kind, by the names of MODEL_TYPES."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer
    from transformers import BertForTokenClassification

    folder = tmp_path_factory.mktemp("models")
    build(folder / "bi", TEXTS, seed=1)
    modules = [Transformer(str(folder / "bi")), Pooling(32), Dense(32, 8)]
    SentenceTransformer(modules=modules).save(str(folder / "dense"), create_model_card=False)
    build_labelling(folder / "cross", TEXTS, seed=1, labels=1)
    build_language_model(folder / "language-model", ["ash elm fig oak yew"], seed=1)
    build_masked(folder / "sparse", TEXTS, seed=1)
    build_routed(folder / "routed", TEXTS, seed=1)
    late = adapter("multi-vector").load(folder / "bi", LENGTH, to_train=True)
    late.save_pretrained(str(folder / "late"), create_model_card=False)
    shutil.copytree(folder / "bi", folder / "tagger")
    (folder / "tagger" / "modules.json").unlink()
    BertForTokenClassification.from_pretrained(folder / "bi").save_pretrained(folder / "tagger")
    return folder


@pytest.fixture
def copied(models, tmp_path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copytree(models / name, tmp_path / name))


def load(name: str, folder: Path):
    kind = adapter(MODEL_TYPES[name])
    if name == "tagger":
        return kind.load_tagger(folder, LENGTH, 2)
    return kind.load(folder, 60 if name == "language-model" else LENGTH)


def inner(folder: Path) -> Path:
    """The folder of the transformer."""
    return next(
        iter(sorted(folder.rglob("config.json"), key=lambda path: "num_hidden_layers" not in path.read_text()))
    ).parent


def tensors(file: Path) -> dict:
    from safetensors.numpy import load_file

    return load_file(file)


def store(file: Path, rows: dict) -> None:
    from safetensors.numpy import save_file

    save_file(rows, file, {"format": "pt"})


def stated(folder: Path, **keys) -> None:
    """Change keys of a config.json."""
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))


def without_a_tensor(folder: Path) -> str:
    store(folder / "model.safetensors", {})
    return "tensors are not in it ("


def without_a_layer(folder: Path) -> str:
    rows = tensors(folder / "model.safetensors")
    store(folder / "model.safetensors", {name: value for name, value in rows.items() if ".1." not in name})
    return ".1."


def under_other_names(folder: Path) -> str:
    rows = tensors(folder / "model.safetensors")
    store(folder / "model.safetensors", {f"inner.{name}": value for name, value in rows.items()})
    return "have no place in the model (inner."


def one_more_layer(folder: Path) -> str:
    stated(folder, num_hidden_layers=3)
    return ".2."


def one_layer_less(folder: Path) -> str:
    stated(folder, num_hidden_layers=1)
    return "have no place in the model ("


def another_width(folder: Path) -> str:
    stated(folder, intermediate_size=48)
    return "of its tensors have another shape ("


def without_a_bias(folder: Path) -> str:
    rows = tensors(folder / "model.safetensors")
    name = next(name for name in rows if name.endswith((".query.bias", ".q_norm.weight")))
    del rows[name]
    store(folder / "model.safetensors", rows)
    return f"1 of the model's {len(rows) + 1} tensors are not in it ("


FAULTS = [without_a_tensor, without_a_layer, under_other_names, one_more_layer, one_layer_less, another_width]


@pytest.mark.parametrize("name", MODEL_TYPES)
def test_weights_of_another_model_are_refused_in_one_line(name, copied, tmp_path):
    load(name, copied(name))
    for fault in FAULTS:
        folder = Path(shutil.copytree(tmp_path / name, tmp_path / fault.__name__))
        said = fault(inner(folder))
        with refused(f"{inner(folder)}/model.safetensors: not the weights of the model", said):
            load(name, folder)


def test_a_missing_tensor_is_named_and_counted(copied):
    folder = copied("bi")
    without_a_bias(folder)
    with refused("1 of the model's 39 tensors are not in it (encoder.layer.0.attention.self.query.bias)"):
        load("bi", folder)


def test_a_training_needs_the_encoder_too(copied):
    for name in ("bi", "cross", "late"):
        folder = copied(name)
        without_a_layer(inner(folder))
        with refused("16 of the model's", "layer.1."):
            load_to_train(folder, Settings(**SCHEDULE | {"type": MODEL_TYPES[name]}))


def test_a_head_that_stands_in_the_configuration_alone_is_new_for_a_training_only(copied, capsys):
    folder = copied("cross")
    rows = tensors(folder / "model.safetensors")
    store(folder / "model.safetensors", {name: value for name, value in rows.items() if "classifier" not in name})
    with refused("2 of the model's 41 tensors are not in it (classifier.weight, classifier.bias)"):
        load("cross", folder)
    model = load_to_train(folder, Settings(**SCHEDULE | {"type": "cross-encoder"}))
    assert [*model.new_modules] == ["classifier"]
    assert f"{folder}: new, drawn from seed 1: classifier\n" in capsys.readouterr().err
    store(folder / "model.safetensors", {name: value for name, value in rows.items() if name != "classifier.bias"})
    with pytest.raises(UserError, match=r"1 of the model's 41 tensors are not in it \(classifier.bias\)"):
        load_to_train(folder, Settings(**SCHEDULE | {"type": "cross-encoder"}))


def test_a_pooler_is_new_with_the_head_that_reads_it_and_not_missed_where_nothing_does(copied):
    """Weights of a model for masked words have none."""
    folder = copied("sparse")
    model = adapter("cross-encoder").load(folder, LENGTH, to_train=True)
    assert sorted(model.new_modules) == ["bert.pooler", "classifier"]
    assert adapter("bi-encoder").load(folder, LENGTH).new_modules == {}
    pooled = {"text": {"method": "forward", "method_output_name": "pooler_output"}}
    first = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    (folder / "modules.json").write_text(json.dumps([first]))
    config = {"modality_config": pooled, "module_output_name": "sentence_embedding"}
    (folder / "sentence_bert_config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=r"2 of the model's 39 tensors are not in it \(pooler.dense.weight, pooler"):
        adapter("bi-encoder").load(folder, LENGTH)


def test_a_dense_layer_and_weights_of_terms_have_to_be_whole(copied):
    for name, inside, tensor in (("dense", "2_Dense", "linear.bias"), ("late", "1_Dense", "linear.weight")):
        file = copied(name) / inside / "model.safetensors"
        rows = tensors(file)
        store(file, {f"other.{key}" if key == tensor else key: value for key, value in rows.items()})
        with pytest.raises(UserError) as refused:
            load(name, file.parents[1])
        size = len(rows)
        one_line(refused, f"{file}: ", f"1 of the model's {size} tensors are not in it ({tensor})", f"(other.{tensor})")
        store(file, rows | {tensor: np.zeros((3, 5), np.float32)})
        with pytest.raises(UserError, match=rf"1 of its tensors have another shape \({tensor} is \[3, 5\], not \["):
            load(name, file.parents[1])
    routed = copied("routed")
    file = next(routed.rglob("query_0*")) / "model.safetensors"
    store(file, {"weights": tensors(file)["weight"]})
    with pytest.raises(UserError, match=r"1 of the model's 1 tensors are not in it \(weight\)"):
        load("routed", routed)


def test_a_projection_that_no_file_has_is_refused(copied):
    """A plain encoder that says of itself that it is a multi-vector model: the library draws the projection."""
    folder = copied("bi")
    (folder / "modules.json").unlink()
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"model_type": "ColBERT"}))
    with pytest.raises(UserError, match=r"1 tensors of its modules are in no safetensors file \(1.linear.weight\)"):
        load("late", folder)
    assert [*adapter("multi-vector").load(folder, LENGTH, to_train=True).new_modules] == ["1_Dense"]


def test_what_other_tasks_and_former_versions_stored_is_no_fault(copied):
    folder = copied("bi")
    rows = tensors(folder / "model.safetensors")
    extra = {"embeddings.position_ids": np.arange(64)[None], "cls.predictions.bias": np.zeros(9, np.float32)}
    before = adapter("bi-encoder").encode(load("bi", folder), TEXTS, 2, "query")
    store(folder / "model.safetensors", {f"bert.{name}": value for name, value in (rows | extra).items()})
    assert np.array_equal(adapter("bi-encoder").encode(load("bi", folder), TEXTS, 2, "query"), before)
    one = {"encoder.layer.0.attention.self.query.lora_A.weight": np.zeros((2, 32), np.float32)}
    store(folder / "model.safetensors", rows | one)
    with pytest.raises(UserError, match="1 of its tensors have no place in the model"):
        load("bi", folder)


def outputs(name: str, model) -> np.ndarray:
    """What a loaded model gives for some texts or pairs."""
    kind = adapter(MODEL_TYPES[name])
    if name == "tagger":
        ids = model.tokenizer(TEXTS[0], return_tensors="pt")
        return model.model(**ids).logits.detach().numpy()
    if not kind.SEARCHES:
        return kind.score_pairs(model, [("ash elm", "fig"), ("oak", "yew yew")], 2)
    rows = kind.encode(model, TEXTS, 2, "document")
    return np.concatenate(rows) if isinstance(rows, list) else rows if isinstance(rows, np.ndarray) else rows.toarray()


@pytest.mark.parametrize("name", MODEL_TYPES)
def test_weights_compute_in_fp32_however_they_are_stored(name, copied, tmp_path):
    """The same numbers stored in 16 and in 32 bits give the same, also where a model says how it is to be loaded."""
    import torch
    from safetensors.torch import load_file, save_file

    found = []
    for form in (torch.bfloat16, torch.float32):
        folder = Path(shutil.copytree(copied(name) if not found else tmp_path / name, tmp_path / str(form)))
        for file in folder.rglob("*.safetensors"):
            save_file({key: rows.bfloat16().to(form) for key, rows in load_file(file).items()}, file, {"format": "pt"})
        if form == torch.bfloat16:
            stated(inner(folder), dtype="bfloat16")
        if form == torch.bfloat16 and name == "bi":
            stored = {"model_args": {"torch_dtype": "bfloat16"}}
            (folder / "sentence_bert_config.json").write_text(json.dumps(stored))
        model = load(name, folder)
        parameters = model.model.parameters() if name == "tagger" else model.parameters()
        assert {one.dtype for one in parameters} == {torch.float32}
        found.append(outputs(name, model))
    # A product may add in another order where its memory is aligned otherwise: some units in the last place of fp32,
    # where products in bf16 would differ 65,536 times as much.
    rounding = 16 * np.finfo(np.float32).eps * np.abs(found[0]).max()
    assert np.abs(found[0] - found[1]).max() <= rounding and np.ptp(found[0]) > 0


def test_trainings_change_weights_of_fp32_however_they_are_stored(copied):
    import torch
    from safetensors.torch import load_file, save_file

    folder = copied("bi")
    file = folder / "model.safetensors"
    save_file({key: rows.half() for key, rows in load_file(file).items()}, file, {"format": "pt"})
    stated(folder, dtype="float16")
    model = load_to_train(folder, Settings(**SCHEDULE))
    assert {one.dtype for one in model.parameters()} == {torch.float32}


def test_a_timing_says_what_products_and_weights_are_computed_in(models):
    for name, kind in MODEL_TYPES.items():
        if name not in ("tagger", "cross", "language-model"):
            assert adapter(kind).facts(load(name, models / name)) == {"precision": "fp32", "weights_precision": "fp32"}
    facts = adapter("cross-encoder").load_scorer(models / "cross", LENGTH, 2, "torch").facts
    assert facts == {"precision": "fp32", "weights_precision": "fp32"}


def test_quantised_weights_are_refused(copied):
    folder = copied("bi")
    stated(folder, quantization_config={"quant_method": "fp8"})
    with pytest.raises(UserError, match=r"config.json: its weights are quantised \(quantization_config\)"):
        load("bi", folder)
