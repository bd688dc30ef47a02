"""Files of models, damaged in every way: the step that takes weights says so in one line, or takes what is right."""

import contextlib
import copy
import json
import random
import shutil
import struct
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.models.model_files import check_weights, modules, read_object, shards, tensors
from ranktrial.models.onnx_session import read_onnx
from scripts.training.weights import weights
from tests.support import tiny_onnx
from tests.support.calling import call
from tests.support.tiny_bert import build

TRANSFORMER = "sentence_transformers.models.Transformer"


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("model") / "tiny", ["ash birch cedar"], seed=1)


@pytest.fixture
def model(whole, tmp_path) -> Path:
    return shutil.copytree(whole, tmp_path / "model")


def take(source: Path, target: Path, **settings) -> str | None:
    """What the step says of a model; None where it takes it. Anything but a UserError of one line fails."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        call(weights, {"source": str(source)} | settings, checkpoint=target)
    except UserError as error:
        assert "\n" not in str(error) and str(error).startswith(f"{source}: ")
        assert not target.exists()
        return str(error)
    return None


WRONG = [None, True, 7, -1, 1.5, "text", [], {}, [None], [[]], {"a": [1]}, ["text"]]
JSON_FILES = ["config.json", "modules.json", "1_Pooling/config.json", "tokenizer.json", "tokenizer_config.json"]


@pytest.mark.parametrize("name", JSON_FILES)
def test_json_of_another_shape(model, tmp_path, name):
    """The whole, each key and some inner value exchanged or taken out; none ends in anything but one line."""
    path = model / name
    content = json.loads(path.read_text())
    rng, said = random.Random(1), []

    def tried(value):
        path.write_text(json.dumps(value))
        said.append(take(model, tmp_path / "out"))

    for wrong in WRONG:
        tried(wrong)
    refused = [one for one in said if one]
    assert len(refused) >= len(WRONG) - 4, "an object has to be an object"
    keys = list(content) if isinstance(content, dict) else range(len(content))
    for key in keys:
        for wrong in (None, 7, "text", [], {}):
            changed = copy.deepcopy(content)
            changed[key] = wrong
            tried(changed)
        changed = copy.deepcopy(content)
        del changed[key]
        tried(changed)
    for _ in range(20):
        changed = copy.deepcopy(content)
        spoil(changed, rng)
        tried(changed)
    assert not (tmp_path / "out").exists() or said[-1] is None


def spoil(value, rng: random.Random) -> None:
    """Exchange some value deep inside."""
    while True:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        if not (isinstance(value[key], dict | list) and value[key]) or rng.random() < 0.3:
            value[key] = rng.choice(WRONG)
            return
        value = value[key]


BYTES = {
    "empty": b"",
    "half": b'{"a": ',
    "two": b"{}{}",
    "NUL": b"{}\0",
    "Latin-1": '{"ä": 1}'.encode("latin-1"),
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "a key twice": b'{"a": 1, "a": 2}',
    "deep": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "half a surrogate": b'{"a": "\\ud800"}',
    "a million digits": b'{"a": ' + b"9" * 1_000_000 + b"}",
    "1e999": b'{"a": 1e999}',
    "no JSON": b"<html>",
}


@pytest.mark.parametrize("name", JSON_FILES)
@pytest.mark.parametrize("content", BYTES.values(), ids=BYTES)
def test_json_that_is_none(model, tmp_path, name, content):
    (model / name).write_bytes(content)
    said = take(model, tmp_path / "out")
    assert said and Path(name).name in said


def test_integers_that_tokenizers_really_write_are_taken(model, tmp_path):
    path = model / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": int(1e30)}))
    assert take(model, tmp_path / "out") is None


MODULES = {
    "null": None,
    "an object": {"path": "", "type": TRANSFORMER},
    "empty": [],
    "of texts": ["Transformer"],
    "of lists": [[]],
    "no path": [{"type": TRANSFORMER}],
    "no type": [{"path": ""}],
    "path null": [{"path": None, "type": TRANSFORMER}],
    "path a number": [{"path": 0, "type": TRANSFORMER}],
    "path a list": [{"path": [""], "type": TRANSFORMER}],
    "type a number": [{"path": "", "type": 1}],
    "outside": [{"path": "../x", "type": TRANSFORMER}],
    "inner outside": [{"path": "a/../../x", "type": TRANSFORMER}],
    "absolute": [{"path": "/etc", "type": TRANSFORMER}],
    "NUL": [{"path": "a\0b", "type": TRANSFORMER}],
    "a line's end": [{"path": "a\nb", "type": TRANSFORMER}],
    "long": [{"path": "a" * 300, "type": TRANSFORMER}],
    "backslash": [{"path": "..\\x", "type": TRANSFORMER}],
    "one path twice": [{"path": "", "type": TRANSFORMER}, {"path": "", "type": TRANSFORMER}],
    "code": [{"path": "", "type": "modeling.Model"}],
    "code that looks like ours": [{"path": "", "type": "sentence_transformersx.Model"}],
    "no such folder": [{"path": "nowhere", "type": TRANSFORMER}],
}


@pytest.mark.parametrize("content", MODULES.values(), ids=MODULES)
def test_odd_modules(model, tmp_path, content):
    (model / "modules.json").write_text(json.dumps(content))
    assert "modul" in take(model, tmp_path / "out")


INDICES = {
    "null": None,
    "a list": [],
    "no map": {},
    "map null": {"weight_map": None},
    "map a list": {"weight_map": ["a.safetensors"]},
    "map empty": {"weight_map": {}},
    "name a number": {"weight_map": {"a": 1}},
    "name a list": {"weight_map": {"a": ["a.safetensors"]}},
    "name null": {"weight_map": {"a": None}},
    "name empty": {"weight_map": {"a": ""}},
    "outside": {"weight_map": {"a": "../model.safetensors"}},
    "absolute": {"weight_map": {"a": "/etc/passwd"}},
    "a folder": {"weight_map": {"a": "1_Pooling"}},
    "a pickle": {"weight_map": {"a": "pytorch_model.bin"}},
    "missing": {"weight_map": {"a": "other.safetensors"}},
    "no such tensor": {"weight_map": {"a": "one.safetensors"}},
    "a line's end": {"weight_map": {"a": "one\n.safetensors"}},
    "itself": {"weight_map": {"a": "model.safetensors.index.json"}},
}


@pytest.mark.parametrize("content", INDICES.values(), ids=INDICES)
def test_odd_indices_of_shards(model, tmp_path, content):
    (model / "model.safetensors").rename(model / "one.safetensors")
    (model / "pytorch_model.bin").write_bytes(b"pickle")
    (model / "model.safetensors.index.json").write_text(json.dumps(content))
    said = take(model, tmp_path / "out")
    assert "model.safetensors.index.json" in said


def test_a_right_index_is_taken(model, tmp_path):
    (model / "model.safetensors").rename(model / "one.safetensors")
    where = dict.fromkeys(tensors(model / "one.safetensors"), "one.safetensors")
    (model / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    assert take(model, tmp_path / "out") is None
    assert shards(model / "model.safetensors.index.json") == {"one.safetensors": set(where)}


def packed(header, body: bytes = bytes(8), length: int | None = None) -> bytes:
    said = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(said) if length is None else length) + said + body


def one(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"a": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}, **more}


RIGHT = packed(one())
WEIGHTS = {
    "empty": b"",
    "seven bytes": b"1234567",
    "header of 0 bytes": bytes(8),
    "header of 2^64-1 bytes": b"\xff" * 8 + RIGHT[8:],
    "header of 2^63 bytes": struct.pack("<Q", 1 << 63) + RIGHT[8:],
    "header beyond the file": packed(one(), length=len(RIGHT)),
    "header cut": RIGHT[:20],
    "header no JSON": packed(b"{'a'}"),
    "header no UTF-8": packed(b'{"\xff": 1}'),
    "header a list": packed([]),
    "header null": packed(None),
    "header deep": packed(b"[" * 100_000),
    "a tensor twice": packed(b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'),
    "tensor null": packed({"a": None}),
    "tensor a list": packed({"a": []}),
    "no dtype": packed({"a": {"shape": [2], "data_offsets": [0, 8]}}),
    "odd dtype": packed(one("F33")),
    "dtype a list": packed(one(["F32"])),
    "no shape": packed({"a": {"dtype": "F32", "data_offsets": [0, 8]}}),
    "shape negative": packed(one(shape=(-2,))),
    "shape a text": packed({"a": {"dtype": "F32", "shape": "2", "data_offsets": [0, 8]}}),
    "shape a fraction": packed(one(shape=(2.0,))),
    "shape true": packed(one(shape=(2, True))),
    "shape too large": packed(one(shape=(3,))),
    "shape huge": packed(one(shape=(1 << 62, 1 << 62))),
    "shape of 1000 dimensions": packed(one(shape=[1] * 998 + [2])),
    "offsets one": packed(one(offsets=(0,))),
    "offsets three": packed(one(offsets=(0, 8, 8))),
    "offsets turned round": packed(one(offsets=(8, 0))),
    "offsets negative": packed(one(offsets=(-8, 0))),
    "offsets beyond the file": packed(one(offsets=(8, 16))),
    "offsets huge": packed(one(offsets=(1 << 63, (1 << 63) + 8))),
    "offsets fractions": packed(one(offsets=(0.0, 8.0))),
    "offsets texts": packed(one(offsets=("0", "8"))),
    "two tensors in one place": packed(one(b={"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})),
    "two tensors overlap": packed(one(b={"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}), bytes(12)),
    "a gap": packed(one(b={"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}), bytes(16)),
    "bytes cut": RIGHT[:-1],
    "bytes more": RIGHT + b"x",
    "metadata a list": packed(one(__metadata__=[])),
    "metadata of numbers": packed(one(__metadata__={"a": 1})),
    "a pickle": b"\x80\x04K\x01.",
    "a zip": b"PK\x03\x04" + bytes(40),
    "HTML": b"<!doctype html><html></html>",
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
}  # fmt: skip


@pytest.mark.parametrize("content", WEIGHTS.values(), ids=WEIGHTS)
def test_damaged_safetensors(model, tmp_path, content):
    (model / "model.safetensors").write_bytes(content)
    assert "model.safetensors: damaged weights (" in take(model, tmp_path / "out")


@pytest.mark.parametrize("content", [RIGHT, packed({}, b""), packed(one(__metadata__={"format": "pt"}))])
def test_right_safetensors(tmp_path, content):
    (tmp_path / "model.safetensors").write_bytes(content)
    assert tensors(tmp_path / "model.safetensors") == ({"a": (2,)} if len(content) > 12 else {})
    assert check_weights(tmp_path) == [tmp_path / "model.safetensors"]


def test_what_is_taken_for_whole_the_library_takes_too(model):
    """Bytes of the header flipped by chance: our reader lets nothing pass that safetensors refuses."""
    from safetensors import SafetensorError, safe_open

    file = model / "model.safetensors"
    content, rng, passed = file.read_bytes(), random.Random(2), 0
    length = struct.unpack("<Q", content[:8])[0]
    for _ in range(400):
        spoilt = bytearray(content)
        spoilt[rng.randrange(8 + length)] ^= 1 << rng.randrange(8)
        file.write_bytes(spoilt)
        try:
            names = tensors(file)
        except UserError:
            continue
        passed += 1
        with contextlib.suppress(SafetensorError), safe_open(file, "np") as opened:
            assert set(opened.keys()) == names.keys()
            assert all(tuple(opened.get_slice(name).get_shape()) == shape for name, shape in names.items())
            continue
        pytest.fail("taken here, refused by the library")
    assert passed  # letters of names change


TOKENIZERS = {
    "empty object": b"{}",
    "no model": b'{"version": "1.0", "model": null}',
    "odd model": b'{"version": "1.0", "model": {"type": "Odd"}}',
    "vocabulary a list": b'{"version": "1.0", "model": {"type": "WordPiece", "vocab": []}}',
    "a list": b"[]",
    "a text": b'"tokenizer"',
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("content", TOKENIZERS.values(), ids=TOKENIZERS)
def test_damaged_tokenizers(model, tmp_path, content):
    (model / "tokenizer.json").write_bytes(content)
    assert "tokenizer.json" in take(model, tmp_path / "out")


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\xff\xfe", "ä".encode("latin-1")], ids=["empty", "blank", "bytes", "Latin-1"]
)
@pytest.mark.parametrize("name", ["vocab.txt", "merges.txt"])
def test_damaged_vocabularies(model, tmp_path, name, content):
    (model / name).write_bytes(content)
    assert f"{name}: damaged" in take(model, tmp_path / "out")


GOOD_ONNX, VERSION = tiny_onnx.model([], [], [], []), b"\x08\x08"
ONNX = {
    "empty": b"",
    "text": b"not a model\n",
    "HTML": b"<!doctype html>",
    "a zip": b"PK\x03\x04" + bytes(40),
    "zeros": bytes(100),
    "cut": GOOD_ONNX[:-3],
    "cut in the graph": GOOD_ONNX[:5],
    "no graph": VERSION,
    "no operators": VERSION + b"\x3a\x00",
    "a length beyond the file": VERSION + b"\x3a\xff\xff\xff\xff\x0f",
    "an endless number": b"\x08" + b"\xff" * 30,
    "a group": GOOD_ONNX + b"\x0b",
    "safetensors": RIGHT,
}


@pytest.mark.parametrize("content", ONNX.values(), ids=ONNX)
def test_what_is_no_onnx_file(whole, tmp_path, content):
    folder = tmp_path / "onnx"
    folder.mkdir()
    shutil.copy(whole / "tokenizer.json", folder)
    (folder / "model.onnx").write_bytes(content)
    said = take(folder, tmp_path / "out", backend="onnx")
    assert "model.onnx: not an ONNX file, or damaged" in said


@pytest.mark.parametrize("content", TOKENIZERS.values(), ids=TOKENIZERS)
def test_damaged_tokenizers_beside_an_onnx_file(tmp_path, content):
    folder = tmp_path / "onnx"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(GOOD_ONNX)
    (folder / "tokenizer.json").write_bytes(content)
    assert "tokenizer.json" in take(folder, tmp_path / "out", backend="onnx")


def test_right_onnx_files(tmp_path):
    import numpy as np

    (tmp_path / "a.onnx").write_bytes(GOOD_ONNX)
    read_onnx(tmp_path / "a.onnx")
    ones = np.ones((4, 2), dtype=np.float32)
    read_onnx(tiny_onnx.cross_encoder(tmp_path / "b.onnx", ones, ones[:2, :1], ones[:2]))


CONFIGS = {
    "architectures a text": {"architectures": "BertModel"},
    "architectures of numbers": {"architectures": [1]},
    "id2label a list": {"id2label": ["a"]},
    "id2label a number": {"id2label": 2},
    "model_type a list": {"model_type": ["bert"]},
    "positions a text": {"max_position_embeddings": "512"},
    "positions true": {"max_position_embeddings": True},
    "positions negative": {"max_position_embeddings": -512},
    "positions a fraction": {"max_position_embeddings": 512.5},
    "padding a list": {"pad_token_id": [0]},
    "code": {"auto_map": {"AutoModel": "modeling.Model"}},
}


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_odd_configurations(model, tmp_path, changes):
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | changes))
    assert "config.json: " in take(model, tmp_path / "out")


def test_missing_files_of_a_model(tmp_path):
    assert modules(tmp_path) == [] and check_weights(tmp_path) == []
    with pytest.raises(UserError, match=r"not a model, it has no config\.json"):
        read_object(tmp_path / "config.json")
