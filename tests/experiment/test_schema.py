"""The schema: assembled from declarations, in step with its files, for editors too, and kind to finished jobs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
import yaml

from scripts.common import plugins
from scripts.common.strict_yaml import read_yaml
from scripts.experiment.editor_schema import editor_schema
from scripts.experiment.schema import CHOICES, add_kinds, schema
from scripts.experiment.write_schema import files, in_yaml, with_table

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted(path for path in (ROOT / "config").glob("*.yaml") if path.name != "schema.yaml")
MODELINE = "# yaml-language-server: $schema=schema.editor.json"
EDITOR = jsonschema.Draft202012Validator(editor_schema(schema()))


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_written_files_are_what_make_schema_writes():
    for path, text in files().items():
        assert path.read_text(encoding="utf-8") == text, f"make schema writes another {path.name}"


def test_the_table_of_formats_is_written_anew_and_nothing_else_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    line = "| `beir` | "
    assert readme.count(line) == 1 and with_table(readme.replace(line, "| `old` | ")) == readme


def test_the_schema_says_the_same_in_yaml():
    assert yaml.safe_load(in_yaml(schema())) == schema()


def test_a_long_text_and_words_that_yaml_reads_otherwise_come_back():
    value = {"a": {"description": "x: y # z " * 40 + "end"}, "yes": ["no", "1", 1, None, {"pattern": "^[^\\s]*$"}]}
    assert yaml.safe_load(in_yaml(value)) == value


LOGARITHM = {"base": {"description": "of the logarithm", "enum": [2, 10], "default": 2}}


def definition():
    return {"properties": {"effect": {"enum": ["MD"], "description": "of a task"}, "alpha": {"type": "number"}}}


def test_a_kind_adds_its_name_its_meaning_and_its_keys():
    made = definition()
    ratio = SimpleNamespace(DESCRIPTION="ratio of means", KEYS=LOGARITHM)
    hidden = SimpleNamespace(IMPLIED=True, KEYS={"depth": {"type": "integer"}} | LOGARITHM)
    add_kinds(made, "effect", {"ratio": ratio, "hidden": hidden})
    assert made["properties"]["effect"] == {"enum": ["MD", "ratio"], "description": "of a task; ratio: ratio of means"}
    assert list(made["properties"]) == ["effect", "alpha", "base", "depth"]
    assert made["properties"]["base"] == LOGARITHM["base"] | {"description": "ratio, hidden: of the logarithm"}


def test_kinds_and_base_state_a_key_alike():
    one, other = (SimpleNamespace(KEYS={"file": {"type": "string"}}) for _ in range(2))
    add_kinds(definition(), "effect", {"one": one, "other": other})
    other.KEYS = {"file": {"type": "integer"}}
    with pytest.raises(ValueError, match="kind 'other' states the key 'file' otherwise than kind 'one'"):
        add_kinds(definition(), "effect", {"one": one, "other": other})
    one.KEYS = {"alpha": {"description": "x", "type": "number"}}
    add_kinds(definition(), "effect", {"one": one})
    one.KEYS = {"alpha": {"type": "string"}}
    with pytest.raises(ValueError, match="kind 'one' states the key 'alpha' otherwise than the base"):
        add_kinds(definition(), "effect", {"one": one})


def test_a_kind_that_comes_as_one_file_is_found(tmp_path, monkeypatch):
    """The toy kind stands in a folder of another place, which takes that of the effects."""
    folder = tmp_path / "toy_effects"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "log_ratio.py").write_text(
        'NAME = "log-ratio"\nDESCRIPTION = "log of the ratio of means"\nKEYS = {"base": {"type": "number", "default": 2}}\n'
    )
    monkeypatch.setattr(plugins, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    effect = next(choice for choice in CHOICES if choice.key == "effect")
    made = copy.deepcopy(schema()["$defs"][effect.definition])
    add_kinds(made, effect.key, plugins.load_all("toy_effects"))
    assert made["properties"]["effect"]["enum"][-1] == "log-ratio"
    assert made["properties"]["effect"]["description"].endswith("log-ratio: log of the ratio of means")
    assert made["properties"]["base"] == {"type": "number", "default": 2}


def test_there_are_experiments_to_try():
    assert len(EXPERIMENTS) >= 6


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_editor_finds_no_error_in_what_is_shipped(path):
    assert path.read_text().splitlines()[0] == MODELINE
    errors = [f"{error.json_path}: {error.message}" for error in EDITOR.iter_errors(read_yaml(path))]
    assert errors == []


def without_lists():
    """A configuration with a value where fan-out takes lists, and one where it does not."""
    return {
        "experiment": "x",
        "datasets": {"d": {"format": "beir", "location": "d"}},
        "models": {"m": {"type": "bi-encoder", "weights": "m", "max_length": 16}},
        "recipes": {"r": {"train_on": "d", "epochs": 1, "negatives": {"from": "bm25"}, "start_from": None}},
        "systems": {"s": {"model": "m", "recipe": "r", "seeds": 2, "rerank": {"first_stage": "b", "depth": 5}}},
        "comparisons": {"c": {"control": "b", "treatment": "s", "same": ["model"], "figure": {"sort": "effect"}}},
        "tasks": ["d"],
    }


def put(config, path, value):
    *folders, last = path.split(".")
    for key in folders:
        config = config.setdefault(key, {})
    config[last] = value


FANNED_OUT = {
    "models.m.max_length": ([16, 32], [16, "32"]),
    "models.m.type": (["bi-encoder"], ["bi-encoder", "trie"]),
    "recipes.r.epochs": ([1, 2.5], [1, True]),
    "recipes.r.negatives.from": (["bm25", "random", ["bm25", "s"]], ["bm25", ["s", 1]]),
    "recipes.r.queries": (["all", 32], ["some", 32]),
    "recipes.r.start_from": ([None, "r"], [0]),
    "systems.s.model": (["m", "n"], [["m"]]),
    "systems.s.rerank.depth": ([5, 10], [5, 0]),
    "systems.s.seeds": ([1, 2], [1, 0]),
    "systems.s.runs.d": (["a.trec", "b.trec"], ["a.trec", 2]),
    "comparisons.c.control": (["b", "s"], ["b", 1]),
    "comparisons.c.treatment": (["b", "s"], ["b", {}]),
    "comparisons.c.figure.sort": (["effect", "weight"], ["effect", "size"]),
}


@pytest.mark.parametrize(("path", "good", "bad"), [(key, *lists) for key, lists in FANNED_OUT.items()], ids=FANNED_OUT)
def test_an_editor_allows_lists_of_what_may_stand_alone(path, good, bad):
    config = without_lists()
    assert EDITOR.is_valid(config)
    put(config, path, good)
    assert EDITOR.is_valid(config)
    put(config, path, bad)
    assert not EDITOR.is_valid(config)
    put(config, path, [])
    assert not EDITOR.is_valid(config)


@pytest.mark.parametrize(
    ("path", "value"),
    [("experiment", ["x"]), ("depth", [10, 20]), ("datasets.d.format", ["beir"]), ("systems.s.grid.k1", 1),
     ("comparisons.c.same", "model"), ("systems.s.modle", "m"), ("systems.s.rerank", ["b"])],
)  # fmt: skip
def test_an_editor_shows_what_stays_wrong(path, value):
    config = without_lists()
    put(config, path, value)
    assert not EDITOR.is_valid(config)


def test_an_editor_is_told_meaning_and_default_and_follows_no_reference():
    whole = editor_schema(schema())
    depth = whole["properties"]["systems"]["additionalProperties"]["properties"]["rerank"]["properties"]["depth"]
    assert depth["default"] == 100
    labels = whole["properties"]["recipes"]["additionalProperties"]["properties"]["labels"]
    assert labels["description"].startswith("human: the qrels") and labels["default"] == "human"
    assert "$ref" not in json.dumps(whole)
