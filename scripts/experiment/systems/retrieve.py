"""A model that searches the whole corpus: a bi-encoder with its vectors."""

from __future__ import annotations

from scripts.experiment.checker import Checker
from scripts.experiment.records import System, Task
from scripts.experiment.systems import _neural

NAME = "retrieve"
KEYS = _neural.KEYS
REFERENCES = _neural.REFERENCES
PLAIN_LISTS = _neural.PLAIN_LISTS


class Retrieve(_neural.Neural):
    name = NAME
    model_settings = ("max_length", "batch_size")  # only bi-encoders come here, and PyTorch runs all of them

    def implied(self, config: dict, entry: dict) -> bool:
        model = config["models"].get(entry["model"], {})
        return "rerank" not in entry and not ("candidates" in entry and model.get("type") == "cross-encoder")

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        if check.config["models"][system.model]["type"] == "cross-encoder":
            message = "a cross-encoder cannot search a corpus alone; "
            message += "give it 'rerank', or 'candidates: all' (every pair)"
            raise check.fail(f"systems.{system.name}", message)
        super().check(check, system, tasks)

    def encodes_corpus(self, system: System, model: dict) -> bool:
        return True


KIND = Retrieve()
