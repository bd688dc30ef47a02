"""A secret, and a configuration that must not hold it."""

from pathlib import Path

from tests.support.configuration import changed
from tests.support.located import CONFIG

SECRET = "hUnter2-s3cr3t/+=x"
ROOT = Path(__file__).parents[2]


def put(path: str, value) -> dict:
    """CONFIG with the value at a path of keys."""
    return changed(CONFIG, {path: value})
