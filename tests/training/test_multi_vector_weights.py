"""Multi-vector models as others publish them: taken with all that says how they were trained, and loaded as such."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models.types import multi_vector
from scripts.training.weights import weights
from tests.support.calling import call
from tests.support.tiny_bert import build

METADATA = {"query_maxlen": 8, "doc_maxlen": 5, "query_token_id": "[unused0]", "doc_token_id": "[unused1]"}
TEXT = "ash birch cedar ash birch cedar"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("weights") / "tiny", ["ash birch cedar [unused0] [unused1]"], seed=1)


@pytest.fixture
def stanford(tiny, tmp_path) -> Path:
    """A model as Stanford's ColBERT stores it: the projection among the encoder's weights, and a file of metadata."""
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(tiny, tmp_path / "stanford")
    (folder / "modules.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["HF_ColBERT"]}))
    tensors = {f"bert.{name}": rows for name, rows in load_file(folder / "model.safetensors").items()}
    projection = np.random.default_rng(1).standard_normal((16, 32)).astype(np.float32)
    save_file(tensors | {"linear.weight": projection}, folder / "model.safetensors", {"format": "pt"})
    (folder / "artifact.metadata").write_text(json.dumps(METADATA))
    return folder


def take(source: Path, target: Path) -> Path:
    call(weights, {"source": str(source)}, checkpoint=target)
    return target


def test_a_model_of_stanfords_expands_queries_as_it_was_trained(stanford, tmp_path):
    model = multi_vector.load(take(stanford, tmp_path / "out"), 16)
    assert multi_vector.prompts(model) == {"query": "[unused0] ", "document": "[unused1] "}
    assert [rows.shape for rows in multi_vector.encode(model, ["ash", "birch cedar"], 2, "query")] == [(8, 16)] * 2
    assert multi_vector.encode(model, [TEXT], 1, "document")[0].shape == (9, 16)  # max_length counts, not doc_maxlen
    (stanford / "artifact.metadata").unlink()
    with pytest.raises(UserError, match=r"a ColBERT of Stanford's without artifact\.metadata"):
        multi_vector.load(take(stanford, tmp_path / "without"), 16)
    (stanford / "artifact.metadata").write_text("{")
    with pytest.raises(UserError, match=r"artifact\.metadata: damaged, not JSON"):
        take(stanford, tmp_path / "damaged")


def test_a_model_of_pylates_needs_no_pylate_and_other_code_is_refused(tiny, tmp_path):
    made = multi_vector.load(tiny, 16, to_train=True)
    folder = tmp_path / "pylate"
    made.save_pretrained(str(folder), create_model_card=False)
    modules = json.loads((folder / "modules.json").read_text())[:2]
    modules[1]["type"] = "pylate.models.Dense.Dense"
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"model_type": "ColBERT", "query_prefix": "[unused0]", "document_prefix": "[unused1]",
                    "query_length": 8, "document_length": 5, "do_query_expansion": False})
    )  # fmt: skip
    model = multi_vector.load(take(folder, tmp_path / "out"), 16)
    assert multi_vector.prompts(model) == {"query": "[unused0]", "document": "[unused1]"}
    assert multi_vector.encode(model, [TEXT], 1, "query")[0].shape == (9, 128)
    modules[1]["type"] = "pylate.models.Other.Other"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UserError, match=r"'pylate\.models\.Other\.Other' is code that comes with the model"):
        take(folder, tmp_path / "other")
