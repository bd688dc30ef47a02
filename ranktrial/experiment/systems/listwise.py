"""A language model, called through OpenAI's protocol, that orders the top documents of another system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from ranktrial.common.keys import JsonObject, Length, Rule, stated
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.model_checks import check_chat
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.system_types import Made, SystemType, limited_to
from ranktrial.experiment.systems.rerank import Candidates
from ranktrial.models.chat_settings import WindowSettings
from ranktrial.models.endpoint_keys import ChatEndpoint, chat_settings

NAME = "listwise"
WINDOW, STEP, PASSES, WORDS = 20, 10, 1, 300  # as in RankGPT and rank-llm
Few = Annotated[int, Rule(minimum=1, maximum=1000)]


@dataclass(frozen=True, kw_only=True)
class Keys(Made):
    rerank: Annotated[Candidates, "the documents that are re-ranked"]
    endpoint: Annotated[ChatEndpoint, "listwise: the language model, called through OpenAI's protocol (docs/models.md)"]
    window: Annotated[Few | None, f"listwise: number of documents ordered at a time; default {WINDOW}"] = None
    step: Annotated[Few | None, f"listwise: number of ranks that the window moves towards the top; default {STEP}"] = (
        None
    )
    passes: Annotated[Few | None, f"listwise: number of passes over the list; default {PASSES}"] = None
    max_words: Annotated[Length | None, f"listwise: words kept per document; default {WORDS}"] = None


REFERENCES: dict[tuple[str, ...], str] = {("rerank", "first_stage"): "systems"}
PLAIN_LISTS: list[tuple[str, ...]] = [("tasks",), ("endpoint", "leave_out")]


class Listwise(SystemType):
    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        key = f"systems.{name}"
        check.known(f"{key}.rerank.first_stage", entry.rerank.first_stage, "systems")
        return System(
            name,
            NAME,
            entry.label or name,
            first_stage=entry.rerank.first_stage,
            depth=entry.rerank.depth,
            settings=_settings(check, key, entry, entry.endpoint),
            tasks=limited_to(check, name, entry),
        )

    def takes(self, system: System) -> tuple[str, ...]:
        return (system.first_stage,) if system.first_stage else ()

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        first = systems[self.takes(system)[0]]
        return replace(system, seeds=first.seeds, selection=first.selection)

    def identity(self, config: Configuration, system: System) -> JsonObject:
        return {"settings": _of_runs(system), "depth": system.depth}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min(depth, system.depth or depth, *taken)

    def describe(self, experiment: Experiment, system: System) -> str:
        asked = system.own(WindowSettings)
        passes = f", {asked.passes} passes" if asked.passes > 1 else ""
        return (
            f"{asked.model} ({asked.url}) orders the top {system.depth} of {system.first_stage} in windows of "
            f"{asked.window} by steps of {asked.step}{passes}, {asked.max_words} words per document"
        )

    def candidates(self, system: System) -> str:
        return f"top {system.depth} of {system.first_stage}"

    def note_on_times(self, system: System) -> str:
        return "The time of listwise re-ranking is that of the endpoint's answers, one after another."

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        return {"method": NAME, **_of_runs(system), "reranks": system.first_stage, "depth": system.depth}


TYPE = Listwise()


def _of_runs(system: System) -> JsonObject:
    """Return the settings that determine the requests."""
    asked = stated(system.own(WindowSettings))
    names = ("url", "model", "temperature", "seed", "window", "step", "passes", "max_words")
    return {name: asked[name] for name in names if name in asked}


def _settings(check: Checker, key: str, entry: Keys, endpoint: ChatEndpoint) -> WindowSettings:
    """Return the settings of the endpoint and of the windows."""
    check_chat(check, f"{key}.endpoint", endpoint)
    window, step = _windows(check, key, entry)
    return WindowSettings(
        **chat_settings(endpoint),
        window=window,
        step=step,
        passes=entry.passes or PASSES,
        max_words=entry.max_words or WORDS,
    )


def _windows(check: Checker, key: str, entry: Keys) -> tuple[int, int]:
    """Return the window size and the step. Raises UserError if no document could move up across windows."""
    window, step = entry.window or WINDOW, entry.step or STEP
    if window < 2:
        raise check.fail(f"{key}.window", "1 document has no order; expected at least 2")
    if step >= window:
        problem = f"{step} with a window of {window}: windows would not overlap; expected a smaller one"
        raise check.fail(f"{key}.step", problem)
    return window, step
