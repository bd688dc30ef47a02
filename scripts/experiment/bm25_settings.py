"""The settings of a BM25 system: engine, analyser, fields, and the parameters or the grid that they are chosen from."""

from __future__ import annotations

from scripts.common.errors import UserError
from scripts.experiment.checker import Checker
from scripts.ir.measure_names import cutoff, parse
from scripts.ir.measures import check_computable

DEFAULT_GRID = {"k1": [0.6, 0.9, 1.2, 1.5, 2.0], "b": [0.2, 0.4, 0.6, 0.75, 0.9]}
PYSERINI_BM25 = {"k1": 0.9, "b": 0.4}
ELASTICSEARCH_BM25 = {"k1": 1.2, "b": 0.75}


def bm25_settings(check: Checker, key: str, entry: dict) -> dict:
    """How a BM25 system indexes and searches: analyzer, fields, perhaps url, and k1 and b or the grid to tune them on.

    Raises UserError for keys that exclude each other.
    """
    on_server = entry.get("engine") == "elasticsearch"
    if on_server != ("url" in entry):
        wanted = "engine: elasticsearch needs the server's url", "a url is of use with engine: elasticsearch"
        raise check.fail(key, wanted[not on_server])
    if "url" in entry and "@" in entry["url"]:
        raise check.fail(f"{key}.url", "no name or password here: give them in the environment")
    defaults = ("standard", "best") if on_server else ("english", "together")
    how = {"analyzer": entry.get("analyzer", defaults[0]), "fields": entry.get("fields", defaults[1])}
    how |= {"url": entry["url"]} if on_server else {}
    if not entry.get("tune"):
        if "grid" in entry:
            raise check.fail(key, "a grid is of use with tune: true only")
        usual = ELASTICSEARCH_BM25 if on_server else PYSERINI_BM25
        return how | {name: float(entry.get(name, value)) for name, value in usual.items()}
    if on_server:
        raise check.fail(key, "tune: true is of use with engine: lucene only; it searches the same without a server")
    if {"k1", "b"} & set(entry):
        raise check.fail(key, "k1 or b is given, so tune: true has nothing to choose; list values under grid")
    grid = {"measure": check.config["measures"][0], **DEFAULT_GRID, **entry.get("grid", {})}
    grid |= {name: [float(value) for value in grid[name]] for name in DEFAULT_GRID}
    try:
        check_computable(grid["measure"])
    except UserError as error:
        raise check.fail(f"{key}.grid.measure", str(error)) from None
    return how | grid | {"depth": cutoff(parse(grid["measure"])) or check.config["depth"]}
