"""Kinds of model: found by their files, declared without torch, named nowhere else; a new one is one new file."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import ranking, read_run, write_run
from ranktrial.models.adapters import MODEL_TYPES, adapter, adapters, tags, writes
from ranktrial.models.losses import PAIRS
from tests.support.sources import copy_sources, our_sources

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


# A model_type from outside: words of a text are counted in buckets, by a checksum. Its weights are a count of buckets.
HASHED = '''
"""Bags of words, hashed into as many buckets as a file says."""

import json
import zlib

import numpy as np

NAME = "hashed-words"
SEARCHES = True
BACKENDS = ("torch",)
DESCRIPTION = "words are counted; max_length is of a text"
LOSSES = {}


def load(folder, max_length, to_train=False):
    return json.loads((folder / "config.json").read_text())["buckets"], max_length


def encode(model, texts, batch_size, role):
    buckets, max_length = model
    vectors = np.zeros((len(texts), buckets), np.float32)
    for row, text in enumerate(texts):
        for word in text.split()[:max_length]:
            vectors[row, zlib.crc32(word.encode()) % buckets] += 1
    return vectors
'''
DOCUMENTS = {"a": "ash elm", "b": "elm fig fig", "c": "oak yew", "d": "ash ash fig oak oak oak"}


@pytest.fixture(scope="module")
def outside(tmp_path_factory) -> Path:
    """A copy of scripts/ with one file more, and a collection."""
    folder = tmp_path_factory.mktemp("outside")
    copy_sources(folder)
    (folder / FOLDER / "hashed_words.py").write_text(HASHED)
    (folder / "model").mkdir()
    (folder / "model/config.json").write_text(json.dumps({"buckets": 4096}))
    write_corpus(folder / "corpus.jsonl", (Document(name, "", text) for name, text in DOCUMENTS.items()))
    write_queries(folder / "queries.jsonl", {"q": "fig elm", "r": "oak"})
    write_run(folder / "first", {"q": dict.fromkeys("abc", 1.0), "r": dict.fromkeys("ab", 1.0)}, "x")
    return folder


def run(folder: Path, script: str, settings: dict, **paths: str) -> subprocess.CompletedProcess:
    options = [part for name, path in paths.items() for part in (f"--{name.replace('_', '-')}", path)]
    command = [sys.executable, f"scripts/{script}", *options, "--settings", json.dumps(settings)]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def overlap(query: str, name: str) -> float:
    return float(sum(DOCUMENTS[name].split().count(word) for word in query.split()))


def test_a_kind_from_outside_encodes_searches_and_re_ranks(outside):
    given = {"type": "hashed-words", "max_length": 5, "batch_size": 2}
    model = {"checkpoint": "model", "corpus": "corpus.jsonl"}
    done = run(outside, "inference/encode.py", given, **model, index="e.index", timing="e.json")
    assert done.returncode == 0, done.stderr
    assert np.load(outside / "e.index/vectors.npy").sum(axis=1).tolist() == [2, 3, 2, 5]  # max_length words at most

    ranking_settings = given | {"depth": 2, "tag": "toy"}
    paths = model | {"queries": "queries.jsonl", "run": "run", "timing": "t.json"}
    done = run(outside, "inference/search.py", ranking_settings, **paths, index="e.index")
    assert done.returncode == 0, done.stderr
    found = read_run(outside / "run")
    assert {query: ranking(scores) for query, scores in found.items()} == {"q": ["b", "d"], "r": ["d", "c"]}
    assert found["q"] == {"b": overlap("fig elm", "b"), "d": overlap("fig elm", "d")}

    done = run(outside, "inference/rerank.py", ranking_settings | {"backend": "torch"}, **paths, first_stage="first")
    assert done.returncode == 0, done.stderr
    candidates = {"q": ["c", "b"], "r": ["b", "a"]}  # the first stage's two best, of equal scores by descending id
    for query, text in (("q", "fig elm"), ("r", "oak")):
        assert read_run(outside / "run")[query] == {name: overlap(text, name) for name in candidates[query]}


RESOLVE = """
import json, sys
from ranktrial.common.errors import UserError
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.experiment.resolution import resolve
for config in json.load(sys.stdin):
    try:
        print({name: system.type for name, system in resolve(config, "toy.yaml").systems.items()})
    except UserError as error:
        print(error)
"""


def test_a_configuration_takes_a_kind_from_outside_and_is_checked_by_what_it_declares(outside):
    systems = {"bm25": {"type": "bm25"}, "alone": {"model": "toy"}, "all": {"model": "toy", "candidates": "all"}}
    systems["again"] = {"model": "toy", "rerank": {"first_stage": "bm25"}}
    config = {
        "experiment": "toy",
        "datasets": {"d": {"format": "beir", "location": "model"}},
        "models": {"toy": {"type": "hashed-words", "weights": "model"}},
        "recipes": {"r": {"train_on": "d"}},
        "systems": systems,
        "tasks": ["d"],
    }
    trained = config | {"systems": {"trained": {"model": "toy", "recipe": "r"}}}
    onnx = config | {"models": {"toy": {"type": "hashed-words", "weights": "model", "backend": "onnx"}}}
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE],
        cwd=outside,
        env=os.environ | {"PYTHONPATH": str(outside)},
        input=json.dumps([config, trained, onnx]),
        capture_output=True,
        text=True,
        check=True,
    )
    resolved, no_recipe, no_backend = done.stdout.splitlines()
    assert resolved == str({"bm25": "bm25", "alone": "retrieve", "all": "retrieve", "again": "rerank"})
    assert "a hashed-words cannot be trained here" in no_recipe
    assert no_backend.endswith(
        "backend onnx ranks with bi-encoders and cross-encoders only; a hashed-words takes backend: torch"
    )
