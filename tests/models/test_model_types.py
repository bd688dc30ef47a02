"""Kinds of model: found by their files, declared without torch, named nowhere else."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.models.adapters import MODEL_TYPES, adapter, adapters, tags, writes
from ranktrial.models.losses import PAIRS
from tests.support.sources import our_sources

ROOT = Path(__file__).parents[2]
FOLDER = MODEL_TYPES.replace(".", "/")


def test_each_model_type_says_what_it_is():
    assert {"bi-encoder", "cross-encoder"} <= set(adapters())
    for name, model_type in adapters().items():
        assert adapter(name) is model_type and name == model_type.NAME
        assert hasattr(model_type, "encode") == model_type.SEARCHES and hasattr(model_type, "load_tagger") == tags(name)
        assert hasattr(model_type, "load_scorer") == (not model_type.SEARCHES and not tags(name) and not writes(name))
        assert hasattr(model_type, "load_writer") == writes(name)
        assert set(model_type.BACKENDS) <= {"torch", "onnx"} and model_type.BACKENDS
        if model_type.LOSSES:
            assert model_type.DEFAULT_LOSS in model_type.LOSSES
        if PAIRS in model_type.LOSSES.values():
            assert model_type.LOSSES[model_type.DEFAULT_LOSS_OF_PASSAGES] == PAIRS
    with pytest.raises(UserError, match=f"unknown 'tri-encoder'; expected one of {', '.join(adapters())}"):
        adapter("tri-encoder")


def test_the_schema_says_what_they_state():
    choosing = entry_of(schema(), "models")["properties"]["type"]
    assert choosing["enum"] == list(adapters())
    assert choosing["description"] == "; ".join(
        f"{name}: {model_type.DESCRIPTION}" for name, model_type in adapters().items()
    )


def test_the_workflow_is_planned_with_them_without_torch():
    code = (
        "import sys; from ranktrial.models.adapters import adapters; adapters(); "
        "import ranktrial.models.losses; "
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'datasets'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def named(text: str) -> set[str]:
    """The model types that stand in a Python file as whole texts, as they do in a condition."""
    nodes = ast.walk(ast.parse(text))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and node.value in adapters()}


def test_no_code_but_their_own_names_a_model_type():
    assert named('if model["type"] == "bi-encoder": pass') == {"bi-encoder"}
    files = [path for path in our_sources() if path.parent != ROOT / FOLDER]
    assert {path: names for path in files if (names := named(path.read_text()))} == {}
    quoted = re.compile("|".join(f"[\"']{name}[\"']" for name in adapters()))
    rules = [*(ROOT / "rules").rglob("*.smk"), ROOT / "Snakefile"]
    assert len(rules) > 10 and [path for path in rules if quoted.search(path.read_text())] == []
