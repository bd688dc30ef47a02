"""The parts of a system's description and provenance that concern its model."""

import json

from ranktrial.common.keys import JsonObject, plain, stated
from ranktrial.common.locations import shown
from ranktrial.experiment.prompts_of_tasks import prompts_of_system, prompts_text
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.systems._export import export_text
from ranktrial.experiment.systems._model_settings import of_model
from ranktrial.models.endpoint_keys import asked_of
from ranktrial.models.judging_keys import KEYS as JUDGING
from ranktrial.models.model_keys import Model

LENGTHS = {"max_query_length": "of a query", "max_document_length": "of a document"}
OF_SCORE = (*JUDGING, "label")  # keys that define a cross-encoder's score


def model_text(experiment: Experiment, system: System, model: Model) -> str:
    """Return a description of a model: source of its weights, tokens kept, prompts, and definition of its score."""
    exported = export_text(of_model(system).export) or ("ONNX" if model.backend == "onnx" else "")
    prompts = prompts_text(prompts_of_system(experiment, system))
    first = [shown(model.weights), exported] if exported else [shown(model.weights)]
    return ", ".join([*first, _tokens(model), *prompts, *_score(model)])


def model_facts(experiment: Experiment, system: System, model: Model) -> JsonObject:
    """Return the configured properties of a model that determine its scores."""
    said = stated(model)
    names = ("weights", "revision", "max_length", *LENGTHS, *OF_SCORE)
    facts = {key: said[key] for key in names if said.get(key) not in (None, "", {})}
    facts |= {"weights": shown(model.weights), **asked_of(model)}
    each = prompts_of_system(experiment, system)
    if prompts := each.get("", each):
        facts["prompts"] = prompts
    facts |= plain(of_model(system).export) or {}
    return facts


def _tokens(model: Model) -> str:
    """Return the number of tokens kept, with the limits for queries and documents if the model has them."""
    if asked := asked_of(model):
        return f"asked at {asked['url']}" + (f", {asked['max_words']} words" if "max_words" in asked else "")
    apart = [f", {length} {words}" for key, words in LENGTHS.items() if (length := getattr(model, key))]
    return f"{model.max_length} tokens{''.join(apart)}"


def _score(model: Model) -> list[str]:
    """Return the configured keys that define a model's score."""
    said = stated(model)
    return [f"{key} {json.dumps(said[key], ensure_ascii=False)}" for key in OF_SCORE if key in said]
