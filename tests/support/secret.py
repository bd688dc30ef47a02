"""A secret, and a configuration that must not hold it."""

import copy
from pathlib import Path

SHA = "0" * 64


SECRET = "hUnter2-s3cr3t/+=x"


CONFIG = {
    "experiment": "e",
    "datasets": {"d": {"format": "beir", "location": "tests"}},
    "models": {"m": {"type": "bi-encoder", "weights": "org/name"}},
    "systems": {"bm25": {"type": "bm25"}, "dense": {"model": "m"}},
    "tasks": ["d"],
}


ROOT = Path(__file__).parents[2]


def put(path: str, value) -> dict:
    """CONFIG with the value at a path of keys."""
    config = copy.deepcopy(CONFIG)
    *way, last = path.split("/")
    part = config
    for one in way:
        part = part.setdefault(one, {})
    part[last] = value
    return config
