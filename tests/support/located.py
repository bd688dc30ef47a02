"""Configurations with one location, and what refuses them."""

import copy

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.resolution import resolve

SHA = "0" * 64


CONFIG = {
    "experiment": "e",
    "datasets": {"d": {"format": "beir", "location": "tests"}},
    "models": {"m": {"type": "bi-encoder", "weights": "org/name"}},
    "systems": {"bm25": {"type": "bm25"}, "dense": {"model": "m"}},
    "tasks": ["d"],
}


def with_dataset(**entry) -> dict:
    config = copy.deepcopy(CONFIG)
    config["datasets"]["d"] |= entry
    return config


def with_model(**entry) -> dict:
    config = copy.deepcopy(CONFIG)
    config["models"]["m"] |= entry
    return config


def refusal(config: dict) -> str:
    with pytest.raises(UserError) as error:
        resolve(config, "c.yaml")
    assert "\n" not in str(error.value) and len(str(error.value)) < 400
    assert str(error.value).startswith("c.yaml: ")
    return str(error.value)


RIGHT = [
    "https://h/x.zip",
    "http://127.0.0.1:8080/x.zip",
    "https://[2001:db8::1]:443/a/x.zip",
    "https://h.example.org./x%20y.zip",
    "https://h/ä.zip",
    "https://h/x?download=1",
    "https://h/x?file=corpus/v2.tar.gz&raw=true",
    "https://h/x.zip?token=${TOKEN}",
    "https://${NAME}:${PASSWORD}@h/x.zip",
    "https://${TOKEN}@h/x.zip",
    "https://ann:${PASSWORD}@h/x.zip",
    "https://h/${PART}/x.zip",
    "https://raw.h/@scope/name/x.tgz",
    "https://h/a/b/",
    "pypi:six==1.16.0",
    "pypi:insuranceqa_data==1.2",
    "pypi:a.b-c==2.0rc1",
    "pypi:x==1!2.0.post1.dev3+local.1",
    "pypi:x==v1.0-1",
]
