"""Types of systems: what they declare is what the schema says, and a new type is one file."""

import json
import subprocess
import sys
from pathlib import Path

from ranktrial.configuration import system_keys
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.models.model_keys import Model
from tests.support.sources import copy_sources

REPOSITORY = Path(__file__).parents[2]


def test_the_schema_has_the_keys_that_the_types_declare():
    assert entry_of(schema(), "systems")["properties"] == system_keys.keys()


def test_an_entry_without_a_type_is_of_one_type():
    models = {
        name: Model(type=model_type, weights=name)
        for name, model_type in (("b", "bi-encoder"), ("ce", "cross-encoder"))
    }
    untyped = [module.TYPE for module in system_keys.modules().values() if not module.TYPE.typed]
    more_keys = ({}, {"candidates": "all"}, {"rerank": {"first_stage": "x"}}, {"candidates": "all", "rerank": {}})
    for model in models:
        for keys in more_keys:
            entry = {"model": model} | keys
            assert sum(one.implied(models, entry) for one in untyped) == 1, entry


TOY = '''"""Documents in an order drawn by lot, those of another system."""

from dataclasses import dataclass
from typing import Annotated

from ranktrial.experiment.records import System
from ranktrial.experiment.system_types import Labelled, SystemType

NAME = "lot"


@dataclass(frozen=True, kw_only=True)
class Keys(Labelled):
    from_: Annotated[str, "lot: the system"]
    draws: int


REFERENCES = {("from",): "systems"}
PLAIN_LISTS = []


class Lot(SystemType):
    def resolve(self, check, name, entry, tasks):
        check.known(f"systems.{name}.from", entry.from_, "systems")
        return System(name, NAME, entry.label or name, settings=entry)

    def takes(self, system):
        return (system.own(Keys).from_,)

    def describe(self, experiment, system):
        return f"{system.own(Keys).from_}, by lot ({system.own(Keys).draws} draws)"

    def provenance(self, experiment, system):
        return {"method": "lot", "from": system.own(Keys).from_}


TYPE = Lot()
'''
ASK = """
import json, sys
from ranktrial.experiment.descriptions import cautions
from ranktrial.experiment.descriptions import datasets_learnt, describe, for_times
from ranktrial.experiment.resolution import resolve
from ranktrial.archive.ir_metadata import _method
experiment = resolve(json.loads(sys.argv[1]), "c.yaml")
toys = [system for system in experiment.systems.values() if system.type == "lot"]
print(json.dumps([[describe(experiment, toy), for_times(experiment, toy), datasets_learnt(experiment, toy, "d"),
                   [stage["method"] for stage in _method(experiment, toy)["retrieval"]]] for toy in toys]))
"""


def test_a_type_from_outside_is_one_file(tmp_path):
    copy_sources(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "ranktrial" / "experiment" / "systems" / "lot.py").write_text(TOY)
    config = {
        "experiment": "e",
        "datasets": {"d": {"format": "beir", "location": "data"}},
        "systems": {"bm25": {"type": "bm25"}, "toy": {"type": "lot", "from": "bm25", "draws": [1, 2]}},
        "tasks": ["d"],
    }
    command = [sys.executable, "-c", ASK, json.dumps(config)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert first[0] == "bm25, by lot (1 draws)" and second[0] == "bm25, by lot (2 draws)"
    assert first[1] == {"model": "toy-1", "candidates": "all documents", "texts": ""}
    assert first[2:] == [[], ["BM25 (Lucene)", "lot"]]
