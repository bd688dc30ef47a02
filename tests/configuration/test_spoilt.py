"""Configurations spoilt at random: each is resolved, or refused in one line."""

import copy
import random
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.configuration.reading import read_yaml
from ranktrial.experiment.descriptions import cautions
from ranktrial.experiment.resolution import resolve

ROOT = Path(__file__).parents[2]
VALUES = [None, True, False, 0, 1, -1, 2, 0.5, 1e300, "", "x", "d", "a/b", "bm25", "all", "none", "selected", "untrained",
          [], ["x"], [1], [[]], [None], {}, {"x": 1}, {"task": "d"}, {"test": "x"}, "pypi:a==1", "../x", "RR@0", "nDCG@10",
          ["nDCG@10"], "http://h/x", 10**30, {"x": {"y": {}}}]  # fmt: skip


def places(value, path=()):
    """All keys and places below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def spoilt(config: dict, rng: random.Random) -> dict:
    """The configuration with one to three keys removed, replaced, renamed, doubled or swapped."""
    config = copy.deepcopy(config)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        known = list(places(config))
        *path, last = rng.choice(known)
        part = config
        for key in path:
            part = part[key]
        kind = rng.choice(["remove", "replace", "replace", "rename", "double", "swap"])
        if kind == "remove":
            del part[last]
        elif kind == "replace":
            part[last] = copy.deepcopy(rng.choice(VALUES))
        elif kind == "swap":
            *other_path, other = rng.choice(known)
            value = config
            for key in other_path:
                value = (
                    value[key]
                    if isinstance(value, list | dict)
                    and key in (value if isinstance(value, dict) else range(len(value)))
                    else {}
                )
            if isinstance(value, dict):
                part[last] = copy.deepcopy(value.get(other))
        elif isinstance(part, list):
            part.append(copy.deepcopy(part[last]))
        else:
            part[str(rng.choice(["x", "selected", "untrained", f"{last}-x"]))] = copy.deepcopy(part[last])
            if kind == "rename":
                del part[last]
    return config


WHOLE = [path for path in sorted((ROOT / "config").glob("*.yaml")) if path.stem not in ("schema", "factcheck")]
LARGE = ("transfer-open", "transfer-laptop")  # transfer-matrix and transfer have the same sections


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.long] * (path.stem in LARGE)) for path in WHOLE],
    ids=lambda path: path.stem,
)
def test_no_configuration_ends_in_a_traceback(path):
    """A seeded fuzz: each spoilt configuration is resolved, or refused in one line that names the file."""
    content, rng, refused = read_yaml(path), random.Random(10), 0
    try:
        resolve(copy.deepcopy(content), path.name)
    except UserError as error:
        pytest.skip(f"its data are not here: {error}")
    for number in range(60):
        config = spoilt(content, rng)
        try:
            cautions(resolve(config, "c.yaml"))
        except UserError as error:
            refused += 1
            assert "\n" not in str(error), (number, error)
    assert 15 < refused < 60
