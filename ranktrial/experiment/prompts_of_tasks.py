"""Prompts by dataset: the text before queries and documents of each, and its checks; reads and writes nothing.

A dataset's prompt replaces the default prompt. `{instruction}` in a prompt stands for the dataset's instruction.
Documents have the prompt of the dataset that owns the corpus: other datasets may share it, and it is encoded once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ranktrial.common.keys import given
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.dataset_schema import format_of
from ranktrial.experiment.records import Experiment, System
from ranktrial.models.adapters import Role, adapter, adapters
from ranktrial.models.model_keys import Model, Prompts
from ranktrial.models.prompts import ROLES, prompted_roles

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
        model_types = [f"{model_type}s" for model_type, module in adapters().items() if prompted_roles(module)]
        able = f"{', '.join(model_types[:-1])} and {model_types[-1]}"
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
