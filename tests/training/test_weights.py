"""Weights: taken from folders and archives with only what loading needs; everything unsafe refused."""

import hashlib
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.models.types.bi_encoder import encode, load
from scripts.training.weights import weights
from tests.support import tiny_onnx
from tests.support.calling import call
from tests.support.tiny_bert import build

SHA = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("weights") / "tiny", ["ash birch cedar"], seed=1)


@pytest.fixture
def model(tiny, tmp_path) -> Path:
    """A copy of the tiny model to spoil."""
    return shutil.copytree(tiny, tmp_path / "source" / "tiny")


def take(source: Path, target: Path, **settings) -> None:
    call(weights, {"source": str(source)} | settings, checkpoint=target)


def sha256(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def pack(folder: Path, kind: str, target: Path) -> Path:
    """The folder as an archive, one level down, with code and other weights beside the model."""
    (folder / "__init__.py").write_text("raise SystemExit('run')")
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    (folder / "README.md").write_text("a model")
    if kind == "folder":
        return folder.parent
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, f"package/{path.relative_to(folder)}")
    else:
        with tarfile.open(target, "w:gz") as archive:
            archive.add(folder, "package")
    return target


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_only_what_loading_needs_is_taken(model, tmp_path, kind):
    digest = sha256(model / "model.safetensors")
    take(pack(model, kind, tmp_path / "archive"), tmp_path / "out", sha256=digest.upper())
    names = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert names == {
        *("config.json", "modules.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"),
        "1_Pooling/config.json",
    }
    assert encode(load(tmp_path / "out", 16), ["ash"], 1, "document").shape == (1, 32)


def test_a_transformer_in_a_folder_of_its_own_is_taken_with_what_stands_above(model, tmp_path):
    inner = model / "0_Transformer"
    inner.mkdir()
    for path in list(model.iterdir()):
        if path.is_file() and path.name != "modules.json":
            path.rename(inner / path.name)
    modules = json.loads((model / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (model / "modules.json").write_text(json.dumps(modules))
    take(model, tmp_path / "out", sha256=sha256(inner / "model.safetensors"))
    assert encode(load(tmp_path / "out", 16), ["ash"], 1, "document").shape == (1, 32)


def test_shards_are_taken_and_held_to_the_digest_of_all(model, tmp_path):
    from transformers import BertModel

    BertModel.from_pretrained(model).save_pretrained(model, max_shard_size="40KB")
    (model / "model.safetensors").unlink()
    shards = sorted(model.glob("model-*.safetensors"))
    assert len(shards) > 1
    take(model, tmp_path / "out", sha256=sha256(*shards))
    assert encode(load(tmp_path / "out", 16), ["ash"], 1, "document").shape == (1, 32)
    with pytest.raises(UserError, match="SHA-256"):
        take(model, tmp_path / "other", sha256=sha256(shards[0]))
    shards[0].unlink()
    with pytest.raises(UserError, match="not a file beside it"):
        take(model, tmp_path / "other")


def test_real_weights_from_their_wheel(minilm, tmp_path):
    take(minilm, tmp_path / "out", sha256=SHA)
    assert encode(load(tmp_path / "out", 64), ["ash"], 1, "document").shape == (1, 384)


def only_pickle(model: Path) -> None:
    (model / "model.safetensors").rename(model / "pytorch_model.bin")


def pickled_layer(model: Path) -> None:
    (model / "1_Pooling" / "pytorch_model.bin").write_bytes(b"pickle")


def no_weights(model: Path) -> None:
    (model / "model.safetensors").unlink()


def remote_code(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"auto_map": {"AutoModel": "modeling.Model"}}))


def own_module(model: Path) -> None:
    (model / "modules.json").write_text(json.dumps([{"path": "", "type": "modeling.Model"}]))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (only_pickle, "refused, its weights are pytorch_model.bin, which can carry code; expected model.safetensors"),
        (pickled_layer, "1_Pooling/pytorch_model.bin: refused"),
        (no_weights, "no model.safetensors in it"),
        (remote_code, r"config.json: refused, the model needs code that comes with it \(auto_map\)"),
        (own_module, "modules.json: refused, the module 'modeling.Model' is code that comes with the model"),
    ],
)
def test_what_cannot_be_trusted_or_loaded_is_refused(model, tmp_path, spoil, said):
    spoil(model)
    with pytest.raises(UserError, match=said) as raised:
        take(model.parent, tmp_path / "out")
    assert str(raised.value).startswith(f"{model.parent}: ")
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.glob("*out*"))


@pytest.fixture
def several(tiny, tmp_path) -> Path:
    """A package with two ONNX files: one beside its vocabulary, one in a folder below its tokenizer."""
    folder = tmp_path / "package"
    for name in ("small/onnx/model_int8.onnx", "large/model.onnx"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(tiny_onnx.model([tiny_onnx.node("Identity", ["in"], [name])], [], [], []))
    shutil.copy(tiny / "tokenizer.json", folder / "small/tokenizer.json")
    (folder / "large/vocab.txt").write_text("[PAD]")
    (folder / "large/code.py").write_text("raise SystemExit('run')")
    return folder


@pytest.mark.parametrize(
    ("file", "files"),
    [
        ("small/onnx/model_int8.onnx", {"model.onnx", "tokenizer.json"}),
        ("large/model.onnx", {"model.onnx", "vocab.txt"}),
    ],
)
def test_an_onnx_file_is_taken_with_its_tokenizer_alone(several, tmp_path, file, files):
    take(several, tmp_path / "out", backend="onnx", file=file, sha256=sha256(several / file).upper())
    assert {path.name for path in (tmp_path / "out").iterdir()} == files
    assert (tmp_path / "out/model.onnx").read_bytes() == (several / file).read_bytes()


def test_what_is_wrong_with_onnx_files_is_said_and_nothing_kept(several, tmp_path):
    def refused(said: str, **settings) -> None:
        with pytest.raises(UserError, match=said) as raised:
            take(several, tmp_path / "out", backend="onnx", **settings)
        assert str(raised.value).startswith(f"{several}: ") and "\n" not in str(raised.value)
        assert not (tmp_path / "out").exists()

    refused("2 ONNX files in it; name one with the model's key file: large/model.onnx, small/onnx/model_int8.onnx")
    refused("no file 'model.onnx' in it", file="model.onnx")
    refused(
        r"model.onnx: SHA-256 is [0-9a-f]{64}, but the configuration says 00", file="large/model.onnx", sha256="0" * 64
    )
    (several / "large/vocab.txt").unlink()
    refused("model.onnx: no tokenizer beside it", file="large/model.onnx")
    shutil.rmtree(several / "small")
    (several / "large/model.onnx").unlink()
    refused("no ONNX file in it")


def test_a_wrong_digest_is_refused(model, tmp_path):
    with pytest.raises(UserError, match=r"SHA-256 is [0-9a-f]{64}, but the configuration says 00"):
        take(model, tmp_path / "out", sha256="0" * 64)
    assert not (tmp_path / "out").exists()


def test_an_absent_file_is_one_line(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        take(tmp_path / "absent", tmp_path / "out")
