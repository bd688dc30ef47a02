"""Adapters (LoRA): trained alone, saved apart with their base's digest, merged, resumed; and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.settings import read_settings
from ranktrial.models import lora
from ranktrial.models.adapters import adapter
from ranktrial.models.training_keys import Lora
from scripts.training.weights import weights as take_weights
from tests.support import tiny_language_model
from tests.support.calling import call
from tests.support.tiny_task import read_log, same, train, weights
from tests.training.conftest import task as task

GIVEN = {"r": 4, "lora_alpha": 8, "lora_dropout": 0.1, "target_modules": "all-linear", "merge": False}
MODEL_TYPES = ["bi-encoder", "cross-encoder",
         *(pytest.param(kind, marks=pytest.mark.long) for kind in ("multi-vector", "sparse-encoder"))]  # fmt: skip
TEXTS = ["ashen elmling", "oak yewwood figling", "elmwood"]
FAST = {"epochs": 2, "learning_rate": 1e-2}


def computed(kind: str, folder: Path) -> np.ndarray:
    """What a checkpoint gives: vectors of three texts, or scores of all pairs of them."""
    model_kind = adapter(kind)
    if not model_kind.SEARCHES:
        return model_kind.load_scorer(folder, 16, 2, "torch").score([(a, b) for a in TEXTS for b in TEXTS])
    encoded = model_kind.encode(model_kind.load(folder, 16), TEXTS, 2, "query")
    return (
        np.concatenate(encoded)
        if isinstance(encoded, list)
        else np.asarray(getattr(encoded, "todense", encoded.copy)())
    )


@pytest.fixture(scope="module")
def apart(task, tmp_path_factory) -> Path:
    """A trained bi-encoder whose adapter lies apart."""
    out = tmp_path_factory.mktemp("apart")
    train(task, out, lora=GIVEN, **FAST)
    return out


@pytest.mark.parametrize("kind", MODEL_TYPES)
def test_only_the_adapter_is_trained_and_merged_weights_give_the_same(task, tmp_path, kind):
    for merge in (False, True):
        train(task, tmp_path / str(merge), type=kind, lora=GIVEN | {"merge": merge}, **FAST)
    unmerged, merged = tmp_path / "False/model", tmp_path / "True/model"
    start = task / ("masked" if kind == "sparse-encoder" else "start")
    assert (unmerged / "model.safetensors").samefile(start / "model.safetensors")  # the base is not even copied
    assert not (merged / "adapter").exists()
    one, other = computed(kind, unmerged), computed(kind, merged)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    changed = load_file(merged / "model.safetensors")
    untouched = {name.removeprefix("bert."): rows for name, rows in load_file(start / "model.safetensors").items()}
    differ = {name for name, rows in changed.items()
              if name.removeprefix("bert.") in untouched and not np.array_equal(rows, untouched[name.removeprefix("bert.")])}  # fmt: skip
    assert differ and all(name.endswith(".weight") and "LayerNorm" not in name for name in differ)
    assert not any("embeddings" in name for name in differ)
    timing = json.loads((tmp_path / "False/timing.json").read_text())
    stored = load_file(unmerged / "adapter/adapter_model.safetensors")
    beside = [load_file(path) for path in unmerged.glob("*/model.safetensors")]  # of multi-vectors the new projection
    assert timing["trainable_parameters"] == sum(rows.size for file in (stored, *beside) for rows in file.values())
    files = [unmerged / "adapter/adapter_model.safetensors", *unmerged.glob("*/model.safetensors")]
    assert (
        timing["saved_bytes"]
        == sum(file.stat().st_size for file in files)
        < (start / "model.safetensors").stat().st_size
    )
    head = {name for name in stored if "lora_" not in name}
    assert head == (
        {f"{lora.PREFIX}classifier.{part}" for part in ("weight", "bias")} if kind == MODEL_TYPES[1] else set()
    )


def test_peft_itself_reads_the_adapter_and_merges_it_to_the_same(apart):
    import torch
    from peft import PeftModel
    from transformers import AutoModel

    folder = apart / "model"
    whole = PeftModel.from_pretrained(AutoModel.from_pretrained(folder), folder / "adapter").merge_and_unload().eval()
    model = adapter("bi-encoder").load(folder, 16)
    tokens = model.tokenize(TEXTS)
    with torch.no_grad():
        theirs = whole(tokens["input_ids"], tokens["attention_mask"]).last_hidden_state
        ours = model.transformers_model(tokens["input_ids"], tokens["attention_mask"]).last_hidden_state
    torch.testing.assert_close(theirs, ours, rtol=1e-4, atol=1e-5)
    lora.merge(model)
    for name, rows in whole.state_dict().items():
        torch.testing.assert_close(rows, model.transformers_model.state_dict()[name])


def test_the_library_alone_adds_the_adapter(apart):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(apart / "model"), device="cpu")
    base = model.encode(TEXTS)
    model.load_adapter(str(apart / "model/adapter"))
    ours = adapter("bi-encoder").load(apart / "model", 16)
    np.testing.assert_allclose(model.encode(TEXTS), ours.encode(TEXTS), rtol=1e-4, atol=1e-5)
    assert np.abs(base - ours.encode(TEXTS)).max() > 1e-3


def test_a_head_learns_at_its_own_rate_where_it_is_new_and_is_left_alone_where_it_is_not(task, tmp_path):
    given = {"type": "cross-encoder", "lora": GIVEN, "head_learning_rate": 0.05, **FAST}
    train(task, tmp_path / "new", **given)
    assert max(float(row["head_learning_rate"]) for row in read_log(tmp_path / "new")) == pytest.approx(0.05, rel=0.3)
    folder = tmp_path / "task"
    folder.mkdir()
    for file in ("corpus.jsonl", "queries.jsonl", "negatives.tsv"):
        (folder / file).symlink_to(task / file)
    (folder / "start").symlink_to(tmp_path / "new/model")
    with pytest.raises(UserError, match=r"no prediction head to train; .* with lora, one that the weights have"):
        train(folder, tmp_path / "old", **given)
    del given["head_learning_rate"]
    train(folder, tmp_path / "old", **given)
    names = load_file(tmp_path / "old/model/adapter/adapter_model.safetensors")
    assert names and not any("classifier" in name for name in names)


def test_a_language_model_is_adapted(tmp_path):
    folder = tiny_language_model.build(tmp_path / "start", [" ".join(TEXTS)], seed=1)
    kind = adapter("cross-encoder")
    model = kind.load(folder, 48, to_train=True)
    lora.add(model, read_settings(Lora, GIVEN), model.new_modules.values(), kind.training().head(model))
    names = set(lora.trainable(model))
    assert names and all("lora_" in name and "lm_head" not in name for name in names)
    for name, parameter in lora.trainable(model).items():
        parameter.data.fill_(0.02 if "lora_A" in name else 0.05)
    pairs = [(a, b) for a in TEXTS for b in TEXTS]
    expected = kind.score_pairs(model, pairs, 2)
    (tmp_path / "trained").mkdir()
    assert lora.save(model, tmp_path / "trained", folder, merged=False) < (folder / "model.safetensors").stat().st_size
    scores = kind.load_scorer(tmp_path / "trained", 48, 2, "torch").score(pairs)
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    before = kind.load_scorer(folder, 48, 2, "torch").score(pairs)
    assert np.abs(scores - before).max() > 1e-4


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder"])
def test_a_stopped_training_of_an_adapter_ends_like_an_undisturbed_one(task, tmp_path, monkeypatch, kind):
    from ranktrial.training.checkpoints import Recorder

    given = {"type": kind, "lora": GIVEN, **FAST}
    train(task, tmp_path / "whole", **given)

    def stop(self, args, state, control, **others):
        if state.global_step == 5:
            raise RuntimeError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "on_step_begin", stop)
        with pytest.raises(RuntimeError, match="stopped"):
            train(task, tmp_path / "stopped", **given)
    saved = sorted(path.name for path in (tmp_path / "stopped/model.resume/checkpoint-4").glob("*.safetensors"))
    assert saved == ["trainable.safetensors"]
    train(task, tmp_path / "stopped", **given)
    assert json.loads((tmp_path / "stopped/timing.json").read_text())["resumed_at_step"] == 4
    assert same(tmp_path / "stopped", tmp_path / "whole")
    assert [row["loss"] for row in read_log(tmp_path / "stopped")] == [
        row["loss"] for row in read_log(tmp_path / "whole")
    ]


@pytest.mark.parametrize("lora_again", [None, GIVEN])
def test_a_training_that_starts_from_an_adapter_starts_from_what_it_makes_of_its_base(
    apart, task, tmp_path, lora_again
):
    """The same training from merged weights ends with the same."""
    for name, start in (("from-adapter", apart / "model"), ("from-merged", tmp_path / "merged")):
        if name == "from-merged":
            model = adapter("bi-encoder").load(apart / "model", 16)
            lora.merge(model)
            start.mkdir()
            model.save_pretrained(str(start))
        folder = tmp_path / f"task-{name}"
        folder.mkdir()
        for file in ("corpus.jsonl", "queries.jsonl", "negatives.tsv"):
            (folder / file).symlink_to(task / file)
        (folder / "start").symlink_to(start)
        train(folder, tmp_path / name, lora=lora_again, **FAST)
    assert ((tmp_path / "from-adapter/model/adapter").exists()) == bool(lora_again)
    one, other = weights(tmp_path / "from-adapter"), weights(tmp_path / "from-merged")
    assert one.keys() == other.keys()
    for name, rows in one.items():
        np.testing.assert_allclose(rows, other[name], rtol=1e-5, atol=1e-7)


def changed_json(path: Path, **values) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def other_base(folder: Path) -> None:
    rows = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()  # a hard link to the start's
    save_file(
        {name: one + 0 if "bias" in name else one * 2 for name, one in rows.items()}, folder / "model.safetensors"
    )


def pickle_beside(folder: Path) -> None:
    (folder / "adapter/adapter_model.bin").write_bytes(b"\x80\x04.")


def instead_of_safetensors(folder: Path) -> None:
    (folder / "adapter/adapter_model.safetensors").unlink()


def less_tensors(folder: Path) -> None:
    file = folder / "adapter/adapter_model.safetensors"
    save_file(dict(list(load_file(file).items())[1:]), file)


def larger_tensor(folder: Path) -> None:
    file = folder / "adapter/adapter_model.safetensors"
    rows = load_file(file)
    save_file(rows | {next(iter(rows)): np.zeros((5, 5), np.float32)}, file)


def damaged(folder: Path) -> None:
    (folder / "adapter/adapter_model.safetensors").write_bytes(b"\x10" + bytes(30))


def settings(**values):
    return lambda folder: changed_json(folder / "adapter/adapter_config.json", **values)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            other_base,
            "an adapter for another base: it was made for weights with SHA-256 [0-9a-f]{64}, and those beside",
        ),
        (pickle_beside, "adapter_model.bin: refused"),
        (instead_of_safetensors, "an adapter without adapter_model.safetensors"),
        (less_tensors, "no tensor '.*', which its configuration announces"),
        (larger_tensor, "the tensor '.*' does not fit the base"),
        (damaged, "damaged weights"),
        (settings(peft_type="PREFIX_TUNING"), "peft_type is 'PREFIX_TUNING'; only LoRA"),
        (settings(use_dora=True), "use_dora is True, and only plain LoRA"),
        (settings(unheard_of=1), "unheard_of is 1, and only plain LoRA"),
        (settings(r="8"), "r is 8; expected a number"),
        (settings(r=0), "r is 0; expected a whole number from 1 to 4096"),
        (settings(r=999999), "r is 999999; expected a whole number from 1 to 4096"),
        (settings(target_modules="(a+)+$"), "target_modules is .*; expected a list of modules"),
        (settings(target_modules=["nowhere"]), "adapter_config.json: .*nowhere.* not found"),
        (settings(modules_to_save=["encoder"]), "which its configuration announces|does not fit"),
    ],
)
def test_an_adapter_that_is_not_right_is_refused_in_a_line(apart, tmp_path, spoil, said):
    folder = tmp_path / "model"
    shutil.copytree(apart / "model", folder)
    spoil(folder)
    with pytest.raises(UserError, match=said) as raised:
        adapter("bi-encoder").load(folder, 16)
    assert "\n" not in str(raised.value)


def test_a_base_by_other_means_has_the_digest_of_its_file(apart):
    stored = json.loads((apart / "model/adapter/base.json").read_text())
    assert stored == {"sha256": sha256(apart / "model/model.safetensors")}
    config = json.loads((apart / "model/adapter/adapter_config.json").read_text())
    assert config["base_model_name_or_path"] is None  # no path of the machine


def test_layers_that_are_not_there_are_a_mistake(task, tmp_path):
    with pytest.raises(UserError, match=r"lora.target_modules: .*no_such_layer"):
        train(task, tmp_path, lora=GIVEN | {"target_modules": ["no_such_layer"]})
    train(task, tmp_path, lora=GIVEN | {"target_modules": ["query", "value"]}, epochs=1)
    names = load_file(tmp_path / "model/adapter/adapter_model.safetensors")
    assert len(names) == 8 and all(".query." in name or ".value." in name for name in names)


def take(source: Path, target: Path) -> None:
    call(take_weights, {"source": str(source)}, checkpoint=target)


def test_a_checkpoint_with_an_adapter_is_taken_as_weights_whole_or_not_at_all(apart, tmp_path):
    source = tmp_path / "source"
    shutil.copytree(apart / "model", source)
    take(source, tmp_path / "taken")
    np.testing.assert_array_equal(computed("bi-encoder", tmp_path / "taken"), computed("bi-encoder", apart / "model"))
    other_base(source)
    with pytest.raises(UserError, match=r"source: adapter: an adapter for another base: it was made for"):
        take(source, tmp_path / "refused")
    shutil.copy(source / "adapter/adapter_config.json", source)
    with pytest.raises(UserError, match=r"source: adapter_config\.json beside the weights: refused"):
        take(source, tmp_path / "refused")
    with pytest.raises(UserError, match=r"adapter: an adapter \(adapter_model\.safetensors\) without its base's model"):
        take(source / "adapter", tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
