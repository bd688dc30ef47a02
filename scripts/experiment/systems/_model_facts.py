"""What of a system's model stands in its description and in its provenance."""

import json

from scripts.common.keys import JsonObject, plain, stated
from scripts.common.locations import shown
from scripts.experiment.prompts_of_tasks import prompts_of_system, prompts_text
from scripts.experiment.records import Experiment, System
from scripts.experiment.systems._export import export_text
from scripts.experiment.systems._model_settings import of_model
from scripts.models.endpoint_keys import asked_of
from scripts.models.judging_keys import KEYS as JUDGING
from scripts.models.model_keys import Model

LENGTHS = {"max_query_length": "of a query", "max_document_length": "of a document"}
OF_SCORE = (*JUDGING, "label")  # what a cross-encoder's score is of


def model_text(experiment: Experiment, system: System, model: Model) -> str:
    """Where a model's weights are from, and what it reads of a text."""
    exported = export_text(of_model(system).export) or ("ONNX" if model.backend == "onnx" else "")
    prompts = prompts_text(prompts_of_system(experiment, system))
    first = [shown(model.weights), exported] if exported else [shown(model.weights)]
    return ", ".join([*first, _tokens(model), *prompts, *_score(model)])


def model_facts(experiment: Experiment, system: System, model: Model) -> JsonObject:
    """What the configuration states of a model that decides its scores."""
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
    """How many tokens are kept, and of queries and documents apart where the model says so."""
    if asked := asked_of(model):
        return f"asked at {asked['url']}" + (f", {asked['max_words']} words" if "max_words" in asked else "")
    apart = [f", {length} {words}" for key, words in LENGTHS.items() if (length := getattr(model, key))]
    return f"{model.max_length} tokens{''.join(apart)}"


def _score(model: Model) -> list[str]:
    """What a model's score is of, where the configuration says it."""
    said = stated(model)
    return [f"{key} {json.dumps(said[key], ensure_ascii=False)}" for key in OF_SCORE if key in said]
