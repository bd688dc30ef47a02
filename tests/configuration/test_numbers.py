"""Numbers of a configuration: each is finite, of 64 bits, bounded, and one setting however it is written."""

import json

import pytest

from ranktrial.configuration.reading import complete
from ranktrial.configuration.schema import schema
from tests.configuration.test_reading import refused
from tests.experiment.test_config import changed, resolved


def numbers(part, path=()):
    """Each place of the schema where a number stands, as (key path, its type)."""
    if part.get("type") in ("number", "integer"):
        yield path, part["type"]
    for key, below in part.get("properties", {}).items():
        yield from numbers(below, (*path, key))
    if isinstance(part.get("additionalProperties"), dict):
        name = "32" if path[-1:] == ("epochs",) else "x"  # those of epochs are numbers of queries
        yield from numbers(part["additionalProperties"], (*path, name))
    if "items" in part:
        yield from numbers(part["items"], (*path, []))
    for alternative in part.get("anyOf", []):
        yield from numbers(alternative, path)


ROOT = schema()
NUMBERS = list(dict.fromkeys((json.dumps(path), kind) for path, kind in numbers(ROOT)))
NULL_ALLOWED = ("micro_batch", "batch_tokens", "range_max", "head_learning_rate", "max_query_length", "max_document_length",
                "absolute_margin", "relative_margin", "max_score", "min_score",
                "document_regularizer_weight", "query_regularizer_weight", "temperature", "scale",
                "every", "early_stopping_patience", "steps_per_epoch", "folds", "left_out_fold",
                "found_within")  # fmt: skip
OF_ANY_TYPE = ["systems", "x", "parameters", "x"]  # of a user's ranker, who alone knows what they mean
ENTRIES = {"datasets": "d", "models": "m", "recipes": "r", "systems": "tuned", "comparisons": "c",
           "multiple_comparisons": "f"}  # fmt: skip


def with_number(path, value):
    """BASE with a value at a place of the schema."""
    config = changed({"systems/tuned/rerank": {"first_stage": "bm25"}, "multiple_comparisons/f": {"systems": "all"}})
    config["systems"]["tuned"]["endpoint"] = {"url": "https://h/v1", "model": "m", "price": {"input": 1, "output": 1}}
    config["systems"]["tuned"] |= {"embeddings": {"precision": "int8"}, "approximate": {"index": "HNSW32"}}
    if path[0] == "models" and "endpoint" in path:
        config["models"]["m"]["endpoint"] = {"url": "https://h/v1", "protocol": "openai"}
    if path[0] == "datasets" and "judge" in path:
        config["datasets"]["d"]["judge"] = {"of": ["bm25"], "endpoint": dict(config["systems"]["tuned"]["endpoint"])}
    config["matrices"] = {"x": {"zero_shot": "tuned", "full_shot": "tuned", "baseline": "bm25", "measure": "RR@10"}}
    config["curves"] = {"x": {"systems": "tuned", "baseline": "bm25", "measure": "RR@10"}}
    config["plan_study"] = {"assumed": {"x": {"query_sd": 0.2, "collection_sd": 0.02}}}
    path = [path[0], ENTRIES[path[0]], *path[2:]] if path[0] in ENTRIES else path
    path = [*path[:-1], "1"] if "grades" in path else path  # its keys are grades
    for key in reversed(path[1:]):
        value = [value, 1] if key == [] else {key: value}
    merge(config, {path[0]: value})
    return config


def merge(into, new):
    """Put the values of nested mappings into others in place."""
    for key, one in new.items():
        if isinstance(one, dict) and isinstance(into.get(key), dict):
            merge(into[key], one)
        else:
            into[key] = one


def test_the_schema_has_the_numbers_that_the_next_test_is_about():
    assert len(NUMBERS) > 25


@pytest.mark.parametrize(("path", "kind"), NUMBERS)
def test_every_number_is_finite_of_64_bits_and_a_number(path, kind):
    path = json.loads(path)
    key = [part for part in path if part != []][-1]
    for bad in (float("nan"), float("inf"), -float("inf"), 2**63, -(2**63), 10**400, True, "4", "nan", None, []):
        if bad is None and (key in NULL_ALLOWED or path == ["recipes", "x", "margin"]):
            continue
        if isinstance(bad, str) and path == ["models", "x", "label"]:  # a label has a number or a name
            continue
        if isinstance(bad, bool | str | list) and path == OF_ANY_TYPE:
            continue
        message = refused(complete, with_number(path, bad), "c.yaml")
        assert key in message or (key == "x" and ("score" in message or "grades" in message))
    if kind == "integer" and path != OF_ANY_TYPE:
        assert "whole number" in refused(complete, with_number(path, 1.5), "c.yaml")


@pytest.mark.parametrize(
    "path", [path for path, _ in NUMBERS if "margin" not in path and path != json.dumps(OF_ANY_TYPE)]
)  # of any scale
def test_every_number_has_a_sensible_upper_bound(path):
    path = json.loads(path)
    assert "too large" in refused(complete, with_number(path, 2**62), "c.yaml")


@pytest.mark.parametrize(
    ("key", "written", "whole"),
    [("depth", 10.0, 10), ("seed", 4.2e01, 42), ("systems/tuned/seeds", 2.0, 2), ("recipes/r/epochs", 3.0, 3), ("recipes/r/batch_size", 8.0, 8), ("comparisons/c/ddof", 0.0, 0), ("systems/tuned/seeds", [1.0, 2], [1, 2])],
)  # fmt: skip
def test_a_whole_number_is_one_setting_however_it_is_written(key, written, whole):
    one, other = (complete(changed({key: value}), "c.yaml")[0] for value in (written, whole))
    assert json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    resolved({key: written})


def test_names_that_are_made_of_numbers_do_not_depend_on_how_these_are_written():
    names = [set(complete(changed({"recipes/r/epochs": [1, two]}), "c.yaml")[0]["recipes"]) for two in (2, 2.0)]
    assert names[0] == names[1] == {"r-1", "r-2"}


def test_the_largest_seed_is_taken_by_numpy_and_torch():
    import numpy as np
    import torch

    largest = ROOT["properties"]["seed"]["maximum"]
    np.random.seed(largest)
    torch.manual_seed(largest << 20)
    with pytest.raises(ValueError):
        np.random.seed(largest + 1)
