"""A model that searches the whole corpus by its vectors, which may be quantised or searched approximately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, make_dataclass, replace
from typing import Annotated, Any

from ranktrial.common.keys import JsonObject, Needs
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.systems import _neural
from ranktrial.experiment.systems._neural import DerivedIndex, of_model
from ranktrial.inference.indices import Mistake, derived_forms
from ranktrial.models.adapters import adapter, index_of
from ranktrial.models.model_keys import Model

NAME = "retrieve"


WHOLE_CORPUS = Needs("a search of the whole corpus", path="type", such=NAME.__eq__)
KEYS = {form.key: form for form in derived_forms().values()}  # one form of each key
Keys = make_dataclass(
    "Keys",
    [
        (key, Annotated[form.keys | None, form.description, WHOLE_CORPUS, *form.conditions], field(default=None))
        for key, form in KEYS.items()
    ],
    bases=(_neural.NeuralKeys,),
    frozen=True,
    kw_only=True,
)
REFERENCES = _neural.REFERENCES
PLAIN_LISTS = _neural.PLAIN_LISTS


class Retrieve(_neural.Neural):
    name = NAME
    searches = True

    def implied(self, models: Mapping[str, Model], entry: Mapping[str, Any]) -> bool:
        model = models.get(entry["model"])
        every_pair = "candidates" in entry and model is not None and not adapter(model.type).SEARCHES
        return "rerank" not in entry and not every_pair

    def resolve(self, check: Checker, name: str, entry: _neural.NeuralKeys, tasks: dict[str, Task]) -> System:
        system = self.with_model(check, name, entry, tasks)
        return replace(system, settings=replace(of_model(system), index=_index(check, name, entry, system)))

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        model_type = check.config.models[str(system.model)].type
        if not adapter(model_type).SEARCHES:
            message = f"a {model_type} cannot search a corpus alone; "
            message += "give it 'rerank', or 'candidates: all' (every pair)"
            raise check.fail(f"systems.{system.name}", message)
        super().check(check, system, tasks)

    def encodes_corpus(self, system: System, model: Model) -> bool:
        return True

    def identity(self, config: Configuration, system: System) -> JsonObject:
        return {**super().identity(config, system), **_facts(system)}

    def ranking_text(self, system: System) -> str:
        index = of_model(system).index
        return index.form.text(index.settings) if index else ""

    def candidates(self, system: System) -> str:
        index = of_model(system).index
        return super().candidates(system) + (index.form.candidates(index.settings) if index else "")

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        return {**super().provenance(experiment, system), **_facts(system)}


def _facts(system: System) -> JsonObject:
    """Return the settings of the index that a system searches instead of its encoded corpus."""
    index = of_model(system).index
    return index.facts if index else {}


def _index(check: Checker, name: str, entry: _neural.NeuralKeys, system: System) -> DerivedIndex | None:
    """Return the index that a system asks for in place of its encoded corpus. Raises UserError if it is impossible."""
    model_type = check.config.models[str(system.model)].type
    asked = {key: value for key in KEYS if (value := getattr(entry, key)) is not None}
    found = []
    for key, keys in asked.items():
        forms = {form.made_from: name for name, form in derived_forms().items() if form.key == key}
        if index_of(model_type) not in forms:
            raise check.fail(f"systems.{name}.{key}", f"a {model_type} {KEYS[key].refusal}")
        form = forms[index_of(model_type)]
        try:
            settings = derived_forms()[form].resolve(keys, system.passage_length is not None)
        except Mistake as mistake:
            raise check.fail(f"systems.{name}.{key}" + f".{mistake.key}".rstrip("."), str(mistake)) from None
        found += [] if settings is None else [DerivedIndex(form, settings)]
    if len(found) > 1:
        one, other = (index.form.key for index in found[:2])
        raise check.fail(f"systems.{name}.{other}", f"one index is searched; leave out this or {one}")
    return found[0] if found else None


TYPE = Retrieve()
