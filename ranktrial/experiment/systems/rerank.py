"""A model that re-ranks the top documents of another system, its first stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from ranktrial.common.keys import Depth, JsonObject
from ranktrial.configuration.checker import Checker
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.systems import _neural
from ranktrial.experiment.systems._neural import of_model
from ranktrial.models.adapters import adapter, index_of
from ranktrial.models.model_keys import Model

NAME = "rerank"


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """The documents that are re-ranked."""

    first_stage: Annotated[str, "the system whose top documents are re-ranked"]
    depth: Annotated[Depth, "number of documents per query that are re-ranked"] = 100


@dataclass(frozen=True, kw_only=True)
class CandidatesWithVectors(Candidates):
    """The candidates of a model that may use vectors of the whole corpus."""

    vectors: Annotated[
        Literal["candidates", "corpus"] | None,
        "bi-encoders: document vectors that are encoded: those of the candidates, anew for each ranking (default), "
        "or those of the whole corpus, once for all rankings with a checkpoint",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Keys(_neural.NeuralKeys):
    rerank: Annotated[CandidatesWithVectors | None, "the documents that are re-ranked"] = None


REFERENCES = {**_neural.REFERENCES, ("rerank", "first_stage"): "systems"}
PLAIN_LISTS = _neural.PLAIN_LISTS


class Rerank(_neural.Neural):
    name = NAME

    def implied(self, models: Mapping[str, Model], entry: Mapping[str, Any]) -> bool:
        return "rerank" in entry

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        system = self.with_model(check, name, entry, tasks)
        how = entry.rerank
        assert how is not None  # by `implied`
        model_type, vectors = check.config.models[str(entry.model)].type, how.vectors or "candidates"
        if vectors == "corpus" and not adapter(model_type).SEARCHES:
            message = "a model that scores pairs has no vectors of documents; leave it out"
            raise check.fail(f"systems.{name}.rerank.vectors", message)
        if vectors == "corpus" and index_of(model_type) != "vectors":
            message = "a model with more than one vector per text encodes the candidates; leave it out"
            raise check.fail(f"systems.{name}.rerank.vectors", message)
        check.known(f"systems.{name}.rerank.first_stage", how.first_stage, "systems")
        settings = replace(of_model(system), vectors=vectors if vectors == "corpus" else None)
        return replace(system, first_stage=how.first_stage, depth=how.depth, settings=settings)

    def encodes_corpus(self, system: System, model: Model) -> bool:
        return of_model(system).vectors is not None or super().encodes_corpus(system, model)

    def takes(self, system: System) -> tuple[str, ...]:
        return (system.first_stage,) if system.first_stage else ()

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        """Return the system with its seeds: those of its first stage if untrained, otherwise its own.

        Raises UserError if a first stage with seeds lacks one of a trained re-ranker's seeds.
        """
        first = systems[self.takes(system)[0]]
        if not system.recipes:
            return replace(system, seeds=first.seeds, selection=first.selection)
        if first.seeds != (0,) and not set(system.seeds) <= set(first.seeds):
            message = f"its seeds {system.seeds} are not those of {first.name} {first.seeds}"
            raise check.fail(f"systems.{system.name}", message)
        return system

    def check_experiment(self, check: Checker, system: System, experiment: Experiment) -> None:
        if system.selection is None:
            return
        first = experiment.systems[self.takes(system)[0]]
        for task in (*experiment.tasks.values(), experiment.selection_task(system.selection)):
            seeds = experiment.seeds_on(first, task)
            if len(seeds) > 1 and not set(experiment.seeds_on(system, task)) <= set(seeds):
                message = f"its first stage {first.name} has several seeds on {task.name}; give that a select_seed too"
                raise check.fail(f"systems.{system.name}.select_seed", message)

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min(depth, system.depth or depth, *taken)

    def ranking_text(self, system: System) -> str:
        by = ", by the vectors of the whole corpus" if of_model(system).vectors else ""
        return f", re-ranks the top {system.depth} of {system.first_stage}{by}"

    def candidates(self, system: System) -> str:
        return f"top {system.depth} of {system.first_stage}"

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        reranks = {"reranks": system.first_stage, "depth": system.depth}
        return {**super().provenance(experiment, system), **reranks}


TYPE = Rerank()
