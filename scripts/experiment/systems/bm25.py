"""BM25 with Lucene or on a server: engine, analyser, fields, and k1 and b, given or tuned on the dev split."""

from __future__ import annotations

from typing import Any

from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import check_split
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.systems._kind import LABEL, LIMITED, SystemKind, limited_to
from scripts.ir.measure_names import cutoff, parse

NAME = "bm25"
KEYS: dict[str, dict[str, Any]] = {
    **LABEL,
    **LIMITED,
    "engine": {
        "description": "bm25: Lucene in the job itself (the default), or a server of Elasticsearch",
        "enum": ["lucene", "elasticsearch"],
    },
    "url": {
        "description": "elasticsearch: the server's address; a name and password come from the environment alone",
        "type": "string",
        "title": "an address that begins with http:// or https://",
        "pattern": "^https?://[^{}<>]+$",
    },
    "analyzer": {
        "description": "bm25: english (Lucene's default: stop words, stemming) or standard (Elasticsearch's: neither)",
        "enum": ["english", "standard"],
    },
    "fields": {
        "description": "bm25: title and text as one field (Lucene's default), or the better one counts "
        "(Elasticsearch's)",
        "enum": ["together", "best"],
    },
    "k1": {"description": "bm25: 0.9 as in Pyserini, with Elasticsearch 1.2 as there", "$ref": "#/$defs/k1"},
    "b": {"description": "bm25: 0.4 as in Pyserini, with Elasticsearch 0.75 as there", "$ref": "#/$defs/b"},
    "tune": {"description": "bm25: choose k1 and b on the dev split", "type": "boolean"},
    "grid": {
        "description": "bm25: the values tried when tuning, and the measure that decides",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "k1": {"type": "array", "items": {"$ref": "#/$defs/k1"}, "minItems": 1, "uniqueItems": True},
            "b": {"type": "array", "items": {"$ref": "#/$defs/b"}, "minItems": 1, "uniqueItems": True},
            "measure": {"type": "string"},
        },
    },
}
REFERENCES: dict[tuple[str, ...], str] = {}
PLAIN_LISTS: list[tuple[str, ...]] = [("tasks",), ("grid", "k1"), ("grid", "b")]

DEFAULT_GRID = {"k1": [0.6, 0.9, 1.2, 1.5, 2.0], "b": [0.2, 0.4, 0.6, 0.75, 0.9]}
PYSERINI_BM25 = {"k1": 0.9, "b": 0.4}
ELASTICSEARCH_BM25 = {"k1": 1.2, "b": 0.75}


class Bm25(SystemKind):
    searches = True

    def resolve(self, check: Checker, name: str, entry: dict[str, Any], tasks: dict[str, Task]) -> System:
        ranked = limited_to(check, name, entry)
        settings = bm25_settings(check, f"systems.{name}", entry)
        return System(name, NAME, entry.get("label", name), settings=settings, tasks=ranked)

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        for task in tasks.values():
            if tunes(system) and system.ranks(task.name):
                check_split(check, f"systems.{system.name}.tune", task.dataset, "dev")

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(dataset, "dev")} if tunes(system) else set()

    def describe(self, experiment: Experiment, system: System) -> str:
        settings = system.settings
        parameters = "k1 and b tuned on dev" if tunes(system) else f"k1 = {settings['k1']}, b = {settings['b']}"
        together = settings["fields"] == "together"
        fields = "title and text as one field" if together else "the better of title and text"
        return f"BM25 ({_engine(system)}, {settings['analyzer']} analyser, {fields}), {parameters}"

    def provenance(self, experiment: Experiment, system: System) -> dict[str, Any]:
        return {"method": f"BM25 ({_engine(system)})", **system.settings}


KIND = Bm25()


def tunes(system: System) -> bool:
    """Whether the system's k1 and b are chosen on a dev split."""
    return "measure" in system.settings


def _engine(system: System) -> str:
    return "Elasticsearch" if "url" in system.settings else "Lucene"


def bm25_settings(check: Checker, key: str, entry: dict[str, Any]) -> dict[str, Any]:
    """How a BM25 system indexes and searches: analyzer, fields, perhaps url, and k1 and b or the grid to tune them on.

    Raises UserError for keys that exclude each other.
    """
    on_server = entry.get("engine") == "elasticsearch"
    if on_server and "url" not in entry:
        raise check.fail(key, "engine: elasticsearch needs the server's url")
    if "url" in entry and not on_server:
        raise check.fail(key, "a url is only valid with engine: elasticsearch")
    if "url" in entry and "@" in entry["url"]:
        raise check.fail(f"{key}.url", "no name or password here: give them in the environment")
    analyzer, fields = ("standard", "best") if on_server else ("english", "together")
    how = {"analyzer": entry.get("analyzer", analyzer), "fields": entry.get("fields", fields)}
    how |= {"url": entry["url"]} if on_server else {}
    if not entry.get("tune"):
        if "grid" in entry:
            raise check.fail(key, "a grid is only valid with tune: true")
        usual = ELASTICSEARCH_BM25 if on_server else PYSERINI_BM25
        return how | {name: float(entry.get(name, value)) for name, value in usual.items()}
    if on_server:
        raise check.fail(key, "tune: true is only valid with engine: lucene; it searches the same without a server")
    if {"k1", "b"} & set(entry):
        raise check.fail(key, "k1 or b is given, so tune: true has nothing to choose; list values under grid")
    grid = {"measure": check.config["measures"][0], **DEFAULT_GRID, **entry.get("grid", {})}
    grid |= {name: [float(value) for value in grid[name]] for name in DEFAULT_GRID}
    check.computable(f"{key}.grid.measure", grid["measure"])
    return how | grid | {"depth": cutoff(parse(grid["measure"])) or check.config["depth"]}
