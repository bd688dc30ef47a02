"""A model that searches the whole corpus by its vectors."""

from __future__ import annotations

from typing import Any

from scripts.experiment.checker import Checker
from scripts.experiment.records import System, Task
from scripts.experiment.systems import _neural
from scripts.models.adapters import adapter

NAME = "retrieve"
KEYS = _neural.KEYS
REFERENCES = _neural.REFERENCES
PLAIN_LISTS = _neural.PLAIN_LISTS


class Retrieve(_neural.Neural):
    name = NAME
    searches = True
    model_settings = ("type", "max_length", "batch_size")  # PyTorch alone searches, so there is no backend to choose

    def implied(self, config: dict[str, Any], entry: dict[str, Any]) -> bool:
        model = config["models"].get(entry["model"])
        every_pair = "candidates" in entry and model is not None and not adapter(model["type"]).SEARCHES
        return "rerank" not in entry and not every_pair

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        kind_of_model = check.config["models"][system.model]["type"]
        if not adapter(kind_of_model).SEARCHES:
            message = f"a {kind_of_model} cannot search a corpus alone; "
            message += "give it 'rerank', or 'candidates: all' (every pair)"
            raise check.fail(f"systems.{system.name}", message)
        super().check(check, system, tasks)

    def encodes_corpus(self, system: System, model: dict[str, Any]) -> bool:
        return True


KIND = Retrieve()
