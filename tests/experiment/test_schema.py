"""The schema: assembled from declarations, in step with its files, for editors too, and kind to finished jobs."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal

import jsonschema
import pytest

from ranktrial.common import plugins
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.configuration.key_page import editor_schema
from ranktrial.configuration.key_schema import of_record
from ranktrial.configuration.schema import Choice, add_plugins, schema, with_plugins
from scripts.experiment.write_schema import FORMATS_PAGE, PAGE, files, with_table

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted((ROOT / "config").glob("*.yaml"))
MODELINE = "# yaml-language-server: $schema=schema.editor.json"
EDITOR = jsonschema.Draft202012Validator(editor_schema(schema()))


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_written_files_are_what_make_schema_writes():
    for path, text in files().items():
        assert path.read_text(encoding="utf-8") == text, f"make schema writes another {path.name}"


def test_the_table_of_formats_is_written_anew_and_nothing_else_of_its_page():
    page = FORMATS_PAGE.read_text(encoding="utf-8")
    line = "| `beir` | "
    assert page.count(line) == 1 and with_table(page.replace(line, "| `old` | ")) == page


def test_every_key_has_a_sentence_on_its_page_once():
    items = [line.strip() for line in files()[PAGE].splitlines() if line.strip().startswith("- `")]
    assert len(items) > 250 and not [item for item in items if item.endswith(":")]
    meanings = [item.split("): " if "): " in item else ": ", 1)[1] for item in items]
    assert not [meaning for meaning in meanings if meaning[:60] in meaning[60:]]


@dataclass(frozen=True, kw_only=True)
class Section:
    effect: Annotated[str, "of a task"] = "MD"
    alpha: float = 0.05


@dataclass(frozen=True, kw_only=True)
class Logarithm:
    base: Annotated[Literal[2, 10], "of the logarithm"] = 2


@dataclass(frozen=True, kw_only=True)
class OtherLogarithm:
    base: Annotated[int, "of the logarithm"] = 2


EFFECTS = Choice("toys", "comparisons", "effect")


def kind(name, keys=None, **stated):
    return SimpleNamespace(NAME=name, **stated, **({"Keys": keys} if keys else {}))


def with_toys(*kinds):
    """The schema of the section with these kinds."""
    made = of_record(with_plugins(Section, {f"effect: {one.NAME}": one for one in kinds}))
    add_plugins(made, EFFECTS, {one.NAME: one for one in kinds})
    return made["properties"]


def test_a_plug_in_adds_its_name_its_meaning_and_its_keys():
    made = with_toys(kind("MD"), kind("ratio", Logarithm, DESCRIPTION="ratio of means"), kind("odds", Logarithm))
    assert made["effect"] == {
        "enum": ["MD", "ratio", "odds"], "description": "of a task; ratio: ratio of means", "default": "MD",
    }  # fmt: skip
    assert list(made) == ["effect", "alpha", "base"]
    assert made["base"] == {
        "description": "of the logarithm; only with effect: ratio or effect: odds",
        "enum": [2, 10],
        "default": 2,
    }


def test_plug_ins_state_a_key_alike_and_none_of_their_section():
    with pytest.raises(
        ValueError, match="the plug-in of effect: other states the key 'base' otherwise than that of effect: one"
    ):
        with_plugins(Section, {"effect: one": kind("one", Logarithm), "effect: other": kind("other", OtherLogarithm)})
    with pytest.raises(ValueError, match="the plug-in of effect: one states 'effect', which is a key of its section"):
        with_plugins(Section, {"effect: one": kind("one", Section)})


def test_a_plug_in_that_comes_as_one_file_is_found(tmp_path, monkeypatch):
    """The toy kind stands in a folder of another place, which takes that of the effects."""
    folder = tmp_path / "toy_effects"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "log_ratio.py").write_text(
        "from tests.experiment.test_schema import Logarithm as Keys\n"
        'NAME, DESCRIPTION = "log-ratio", "log of the ratio of means"\n'
    )
    monkeypatch.setattr(plugins, "own_file", tmp_path.joinpath)
    monkeypatch.syspath_prepend(tmp_path)
    made = with_toys(*plugins.load_all("toy_effects").values())
    assert made["effect"]["enum"] == ["log-ratio"] and made["base"]["default"] == 2
    assert made["effect"]["description"].endswith("log-ratio: log of the ratio of means")


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


def test_an_editor_is_given_meaning_and_default_and_follows_no_reference():
    whole = editor_schema(schema())
    depth = whole["properties"]["systems"]["additionalProperties"]["properties"]["rerank"]["properties"]["depth"]
    assert depth["default"] == 100
    labels = whole["properties"]["recipes"]["additionalProperties"]["properties"]["labels"]
    assert labels["description"].startswith("human: the qrels") and labels["default"] == "human"
    assert "$ref" not in json.dumps(whole)
