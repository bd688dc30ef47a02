"""The checkpoint of a system and a seed, and whether it can be distributed as it is; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.near_names import hint
from ranktrial.experiment.job_files import checkpoint_fields
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.results_paths import path
from ranktrial.models.adapters import Adapter, adapter
from ranktrial.models.lora import has_adapter
from ranktrial.models.model_keys import Model


@dataclass(frozen=True)
class Exported:
    """A trained checkpoint, with the system that ranks with it."""

    experiment: Experiment
    system: System
    seed: int
    folder: Path
    timing: Path

    @property
    def model(self) -> Model:
        assert self.system.model is not None  # only systems with a model are exported
        return self.experiment.models[self.system.model]

    @property
    def model_type(self) -> Adapter:
        return adapter(self.model.type)


def exported(experiment: Experiment, name: str, seed: str | None) -> Exported:
    """The checkpoint of a system and a seed, by default its first. Raises UserError if there is none to export."""
    system = _system(experiment, name)
    if system.recipe_of:
        raise UserError(f"{name}: has a checkpoint for each dataset; expected a system with one recipe")
    if system.model is None or not system.recipes:
        trained = ", ".join(other.name for other in experiment.systems.values() if other.recipes and other.model)
        raise UserError(f"{name}: has no trained checkpoint; expected a system with a recipe: {trained or 'none has'}")
    seeds = {str(own): own for own in system.seeds}
    chosen = seeds.get(seed or next(iter(seeds)))
    if chosen is None:
        raise UserError(f"{name}: has no seed {seed!r}; expected SEED={' or '.join(seeds)}")
    fields = {"experiment": experiment.name, **checkpoint_fields(system, "", chosen)}
    places = [Path(path(place, **fields)) for place in ("checkpoint", "checkpoint_timing")]
    if lacking := [place for place in places if not place.exists()]:
        raise UserError(f"{lacking[0]}: no such result; make run finishes the experiment first")
    if has_adapter(places[0]):
        raise UserError(f"{places[0]}: its adapter is not merged into the weights; train with lora: {{merge: true}}")
    found = Exported(experiment, system, chosen, *places)
    if not hasattr(found.model_type, "LOADED_BY"):
        raise UserError(f"{name}: no class of sentence-transformers loads a {found.model.type}")
    return found


def _system(experiment: Experiment, name: str) -> System:
    """The system of this name. Raises UserError for an unknown one, and for an entry that was fanned out."""
    if name in experiment.systems:
        return experiment.systems[name]
    if became := experiment.entries.get(name):
        raise UserError(f"SYSTEM={name}: became {', '.join(became)}; name one of them")
    has = f"the experiment has {', '.join(experiment.systems)}"
    raise UserError(f"SYSTEM={name}: no such system{hint(name, experiment.systems)}; {has}")
