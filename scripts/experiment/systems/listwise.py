"""A language model behind an endpoint of OpenAI's protocol that orders the best documents of another system."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from scripts.common.services import service
from scripts.experiment.checker import Checker
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.systems import rerank
from scripts.experiment.systems._kind import LABEL, LIMITED, SystemKind, limited_to

NAME = "listwise"
WINDOW, STEP, PASSES, WORDS = 20, 10, 1, 300  # as in RankGPT and rank-llm
ASKED = {"temperature": 0, "seed": 0, "concurrency": 4, "timeout": 120, "retries": 5}
KEY = "OPENAI_API_KEY"
_COUNT = {"type": "integer", "minimum": 1, "maximum": 1000}
_PRICE = {"type": "number", "minimum": 0, "maximum": 1000000}
_OF_RERANK = rerank.KEYS["rerank"]
KEYS: dict[str, dict[str, Any]] = {
    **LABEL,
    **LIMITED,
    "rerank": _OF_RERANK | {"properties": {name: _OF_RERANK["properties"][name] for name in ("first_stage", "depth")}},
    "endpoint": {
        "description": "listwise: the language model that is asked, by OpenAI's protocol (docs/language-models.md)",
        "type": "object",
        "additionalProperties": False,
        "required": ["url", "model"],
        "properties": {
            "url": {"description": "its address, such as https://host/v1", "type": "string"},
            "model": {"description": "the model's name there", "$ref": "#/$defs/label"},
            "key": {
                "description": f"the environment variable that holds the key; default {KEY}, over http none",
                "type": "string",
            },
            "temperature": {"description": "default 0", "type": "number", "minimum": 0, "maximum": 2},
            "seed": {
                "description": "sent with each request; default 0",
                "type": "integer",
                "minimum": 0,
                "maximum": 4294967295,
            },
            "leave_out": {
                "description": "what is not sent, for a model that refuses it",
                "type": "array",
                "items": {"enum": ["temperature", "seed"]},
                "uniqueItems": True,
            },
            "concurrency": {
                "description": "queries that are asked about side by side; default 4",
                "type": "integer",
                "minimum": 1,
                "maximum": 64,
            },
            "timeout": {
                "description": "seconds that an answer may take; default 120",
                "type": "number",
                "minimum": 1,
                "maximum": 3600,
            },
            "retries": {
                "description": "further attempts after too many requests or an overload; default 5",
                "type": "integer",
                "minimum": 0,
                "maximum": 20,
            },
            "price": {
                "description": "of a million tokens, in whatever currency: the cost of the ranking is then reported",
                "type": "object",
                "additionalProperties": False,
                "required": ["input", "output"],
                "properties": {"input": _PRICE, "output": _PRICE},
            },
        },
    },
    "window": {"description": f"listwise: documents that are ordered at a time; default {WINDOW}", **_COUNT},
    "step": {"description": f"listwise: places that the window moves to the front; default {STEP}", **_COUNT},
    "passes": {"description": f"listwise: how often the list is gone through; default {PASSES}", **_COUNT},
    "max_words": {"description": f"listwise: words kept of a document; default {WORDS}", "$ref": "#/$defs/length"},
}
REFERENCES: dict[tuple[str, ...], str] = {("rerank", "first_stage"): "systems"}
PLAIN_LISTS: list[tuple[str, ...]] = [("tasks",), ("endpoint", "leave_out")]
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


class Listwise(SystemKind):
    def resolve(self, check: Checker, name: str, entry: dict[str, Any], tasks: dict[str, Task]) -> System:
        key = f"systems.{name}"
        for needed in ("rerank", "endpoint"):
            if needed not in entry:
                raise check.fail(key, f"key {needed!r} is missing")
        first_stage = entry["rerank"]["first_stage"]
        check.known(f"{key}.rerank.first_stage", first_stage, "systems")
        return System(
            name,
            NAME,
            entry.get("label", name),
            first_stage=first_stage,
            depth=entry["rerank"]["depth"],
            settings=_endpoint(check, f"{key}.endpoint", entry["endpoint"]) | _windows(check, key, entry),
            tasks=limited_to(check, name, entry),
        )

    def takes(self, system: System) -> tuple[str, ...]:
        return (system.first_stage,) if system.first_stage else ()

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        first = systems[self.takes(system)[0]]
        return replace(system, seeds=first.seeds, selection=first.selection)

    def identity(self, config: dict[str, Any], system: System) -> dict[str, Any]:
        return {"settings": _of_runs(system), "depth": system.depth}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min(depth, system.depth or depth, *taken)

    def describe(self, experiment: Experiment, system: System) -> str:
        asked = system.settings
        passes = f", {asked['passes']} passes" if asked["passes"] > 1 else ""
        return (
            f"{asked['model']} ({asked['url']}) orders the top {system.depth} of {system.first_stage} in windows of "
            f"{asked['window']} by steps of {asked['step']}{passes}, {asked['max_words']} words per document"
        )

    def candidates(self, system: System) -> str:
        return f"top {system.depth} of {system.first_stage}"

    def note_on_times(self, system: System) -> str:
        return "The time of listwise re-ranking is that of the endpoint's answers, one after another."

    def provenance(self, experiment: Experiment, system: System) -> dict[str, Any]:
        return {"method": NAME, **_of_runs(system), "reranks": system.first_stage, "depth": system.depth}


KIND = Listwise()


def _of_runs(system: System) -> dict[str, Any]:
    """The settings that decide what is asked."""
    names = ("url", "model", "temperature", "seed", "window", "step", "passes", "max_words")
    return {name: system.settings[name] for name in names if name in system.settings}


def _endpoint(check: Checker, key: str, entry: dict[str, Any]) -> dict[str, Any]:
    """How the endpoint is asked. No message repeats what may be a secret in a wrong place."""
    try:
        address = service(entry["url"])
    except ValueError as error:
        raise check.fail(f"{key}.url", f"this URL {error}") from None
    variable = entry.get("key", KEY if address.scheme == "https" else None)
    if variable is not None and not _VARIABLE.fullmatch(variable):
        problem = "expected the name of an environment variable in capitals, such as OPENAI_API_KEY, never the key"
        raise check.fail(f"{key}.key", problem)
    asked = {**ASKED, **{name: value for name, value in entry.items() if name not in ("key", "leave_out")}}
    for name in entry.get("leave_out", []):
        if name in entry:
            raise check.fail(f"{key}.leave_out", f"{name} is given beside it; leave out one of both")
        del asked[name]
    return asked | {"key": variable, "url": address.written.rstrip("/")}


def _windows(check: Checker, key: str, entry: dict[str, Any]) -> dict[str, Any]:
    """How the candidates are gone through. Raises UserError for windows over which no document could move up."""
    asked = {"window": WINDOW, "step": STEP, "passes": PASSES, "max_words": WORDS}
    asked |= {name: entry[name] for name in asked if name in entry}
    if asked["window"] < 2:
        raise check.fail(f"{key}.window", "1 document has no order; expected at least 2")
    if asked["step"] >= asked["window"]:
        step, window = asked["step"], asked["window"]
        problem = f"{step} with a window of {window}: windows would not overlap; expected a smaller one"
        raise check.fail(f"{key}.step", problem)
    return asked
