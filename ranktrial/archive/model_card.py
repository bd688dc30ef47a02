"""The model card of a checkpoint: how to load it, its scores, its training data, how and by which sources it was made.

Reads metrics/{task}/{system}/seed-{seed}.tsv and meta/{comparison}.json; writes nothing. The front matter is as the hub
of Hugging Face reads it (huggingface.co/docs/hub/model-cards); data and weights are named without folders of this
machine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import yaml
from huggingface_hub import EvalResult, ModelCardData

from ranktrial.common.errors import UserError
from ranktrial.common.keys import stated
from ranktrial.common.settings import read_record
from ranktrial.common.tables import read_metrics
from ranktrial.common.urls import is_remote, shown
from ranktrial.common.version import VERSION
from ranktrial.common.wording import escape, hint
from ranktrial.experiment.job_files import checkpoint_fields
from ranktrial.experiment.model_checks import prompts_by_dataset
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.models.adapters import Adapter, adapter
from ranktrial.models.lora import has_adapter
from ranktrial.models.model_keys import Model
from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.writing.content import Column, Table
from ranktrial.reports.writing.printed import markdown_table
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.measure_scale import Range, range_of
from ranktrial.statistics.significance import difference_of

_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
ALPHA = 0.05
LIBRARY = "sentence-transformers"
OF_TRAINING = ("examples", "queries", "steps", "epochs", "seconds", "processor", "device", "precision")
VECTORS = 'queries, documents = model.encode_query(["a query"]), model.encode_document(["a text"])'
SCORES = 'scores = model.predict([("a query", "a text")])'


def public(location: str | None) -> str:
    """A location without secrets; for a path of this machine, only its last part."""
    if not location:
        return "not stated"
    if is_remote(location):
        return shown(location)
    return location if hub_id(location) else f"{PurePath(location).name} (a local file or folder)"


def hub_id(weights: str) -> str | None:
    """The id of weights on the hub; None for other locations. An existing folder of this form is not an id."""
    return weights if _HUB.fullmatch(weights) and not Path(weights).exists() else None


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


@dataclass(frozen=True)
class Mean:
    """The mean of a measure over the queries of a task, with its 95% t interval (None for one query)."""

    task: Task
    queries: int
    measure: str
    value: float
    low: float | None
    high: float | None


def means(found: Exported) -> list[Mean]:
    """The means of the checkpoint on each task that is scored."""
    measured = []
    for task in found.experiment.runs_of(found.system):
        fields = {"experiment": found.experiment.name, "task": task.folder, "system": found.system.name}
        file = Path(path("metrics", **fields, seed=found.seed))
        if file.is_file():
            table = read_metrics(file)
            measured += [mean_of(task, str(measure), table[measure].to_numpy()) for measure in table]
    return measured


def mean_of(task: Task, measure: str, values: np.ndarray) -> Mean:
    """The mean of the values of single queries; its interval ends where the measure does."""
    found, measured = difference_of(values, np.zeros(len(values)), ALPHA, None), range_of(measure, [values])
    if measured is None:
        measured = Range(0.0 if values.min() >= 0 else -math.inf, math.inf)
    if found.ci_low is None or found.ci_high is None:
        return Mean(task, len(values), measure, found.difference, None, None)
    ends = (found.ci_low, found.ci_high)
    return Mean(task, len(values), measure, found.difference, *measured.cut(ends))


def comparisons(found: Exported) -> dict[str, MetaRecord]:
    """The comparisons of the system that are computed, by name."""
    records = {}
    for name, comparison in found.experiment.comparisons.items():
        file = Path(path("meta", experiment=found.experiment.name, comparison=name))
        if found.system.name in (comparison.control, comparison.treatment) and file.is_file():
            records[name] = read_record(MetaRecord, file)
    return records


def front_matter(found: Exported, means: Sequence[Mean]) -> str:
    """The front matter without its lines of hyphens."""
    learnt = [found.experiment.datasets[name] for name in datasets_of(found)]
    card = ModelCardData(
        language=list(dict.fromkeys(dataset.language for dataset in learnt)),
        library_name=LIBRARY,
        pipeline_tag=found.model_type.PIPELINE_TAG,
        tags=[LIBRARY, found.model.type, "information-retrieval", "ranktrial"],
        base_model=hub_id(found.model.weights),
        model_name=f"{found.system.label or found.system.name}, seed {found.seed}",
        eval_results=[_result(mean) for mean in means],
    )
    return str(card.to_yaml())


def datasets_of(found: Exported) -> list[str]:
    """The datasets that the checkpoint's trainings learnt from, the last training first."""
    chain = found.experiment.chain(found.system.recipe)
    return list(dict.fromkeys(name for recipe in chain.values() for name in recipe.datasets))


def _result(mean: Mean) -> EvalResult:
    return EvalResult(
        task_type="information-retrieval",
        task_name="Information Retrieval",
        dataset_type=mean.task.dataset,
        dataset_name=mean.task.label,
        dataset_split=mean.task.split,
        metric_type=mean.measure.lower(),
        metric_name=mean.measure,
        metric_value=round(mean.value, 6),
    )


def card(
    found: Exported,
    means: Sequence[Mean],
    compared: Mapping[str, MetaRecord],
    timing: Mapping[str, Any],
    origin: Mapping[str, Any],
    sums: Mapping[str, str],
) -> str:
    """The whole page; `origin` names the sources that made the model, `sums` are the SHA-256 of its weights by name."""
    name = f"{found.system.label or found.system.name}, seed {found.seed}"
    parts = [
        f"---\n{front_matter(found, means).strip()}\n---\n\n# {escape(name)}",
        f"A {found.model.type}, fine-tuned and evaluated in the experiment `{found.experiment.name}` with ranktrial.",
        _usage(found),
        _metrics(means),
        _comparisons(compared),
        _data(found, means),
        _recipe(found, timing),
        _provenance(found, timing, origin, sums),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(found: Exported) -> str:
    loader = found.model_type.LOADED_BY
    code = f'from sentence_transformers import {loader}\n\nmodel = {loader}("path/to/this/folder")'
    code += f"\n{VECTORS if found.model_type.SEARCHES else SCORES}"
    length = f"It was trained and evaluated with at most {found.model.max_length} tokens."
    last = next(iter(found.experiment.chain(found.system.recipe).values()))
    each = prompts_by_dataset(found.experiment, found.model, last.datasets)
    said = "; ".join(_quoted(*one) for one in each.items() if any(one[1].values()))
    stored = f" Its prompts are stored in it: {said}." if said else ""
    return f"## Use\n\n```python\n{code}\n```\n\n{length}{stored}"


def _quoted(dataset: str, prompts: Mapping[str, str]) -> str:
    said = ", ".join(f"`{text}` before each {role}" for role, text in prompts.items() if text)
    return f"{said} of {dataset} (`{dataset}-query`, `{dataset}-document`)" if dataset else said


def _metrics(means: Sequence[Mean]) -> str:
    if not means:
        return ""
    rows = [
        [
            mean.task.label,
            mean.task.split,
            str(mean.queries),
            mean.measure,
            f"{mean.value:.4f}",
            _interval(mean.low, mean.high),
        ]
        for mean in means
    ]
    table = _table(("task", "split", "queries", "measure", "mean", "95% CI"), rows)
    return (
        f"## Evaluation\n\nMeans over the queries of a task with 95% t intervals, of this checkpoint alone.\n\n{table}"
    )


def _comparisons(compared: Mapping[str, MetaRecord]) -> str:
    """Random-effects summaries over the tasks, with their intervals."""
    rows, several = [], False
    for record in compared.values():
        several = several or record.k > 1
        summary, meta = record.summary, record.meta
        if summary is None or meta is None:
            continue
        predicted = _interval(*meta.prediction_interval) if meta.prediction_interval else ""
        effect = effect_named(record.effect_type).LABEL.lower()
        interval = f"{1 - meta.alpha:.0%} {_interval(summary.ci_low, summary.ci_high)}"
        measured = [f"{effect} in {record.measure}", str(record.k), f"{summary.effect:.4f}", interval, predicted]
        rows.append([record.treatment, record.control, *measured])
    if not rows:
        return ""
    heading = ("treatment", "control", "effect", "tasks", "estimate", "confidence interval", "prediction interval")
    what = "Random-effects meta-analyses over tasks" if several else "Means over the queries of one task"
    note = (
        f"{what}, treatment minus control. A trained system is the mean of its seeds; "
        "p-values and corrections are in the experiment's report."
    )
    return f"## Comparisons\n\n{note}\n\n{_table(heading, rows)}"


def _data(found: Exported, means: Sequence[Mean]) -> str:
    learnt = datasets_of(found)
    scored = dict.fromkeys(mean.task.dataset for mean in means)
    rows = []
    for name in dict.fromkeys([*learnt, *scored]):
        dataset = found.experiment.datasets[name]
        uses = [use for use, names in (("training", learnt), ("evaluation", scored)) if name in names]
        rows.append([dataset.label or name, " and ".join(uses), public(dataset.location), dataset.licence])
    return f"## Data\n\n{_table(('dataset', 'use', 'from', 'licence'), rows)}"


def _recipe(found: Exported, timing: Mapping[str, Any]) -> str:
    """The recipes of all trainings behind the checkpoint, the last first, and measurements of the last training."""
    recipes = {name: stated(recipe) for name, recipe in found.experiment.chain(found.system.recipe).items()}
    text = yaml.safe_dump(recipes, sort_keys=False, allow_unicode=True, width=100)
    facts = {key: timing[key] for key in ("loss", *OF_TRAINING) if timing.get(key) is not None}
    said = ", ".join(f"{key} {_number(value)}" for key, value in facts.items())
    return f"## Training\n\nThe last training: {said}, seed {found.seed}.\n\n```yaml\n{text}```"


def _provenance(found: Exported, timing: Mapping[str, Any], origin: Mapping[str, Any], sums: Mapping[str, str]) -> str:
    model = found.model
    weights = [escape(public(model.weights)), *([f"SHA-256 `{model.sha256}`"] if model.sha256 else [])]
    licence = [f"licence {escape(model.licence)}"] if model.licence else []
    sources = [f"ranktrial {VERSION}", *([f"commit `{origin['commit']}`"] if origin.get("commit") else [])]
    repository = str(origin.get("repository") or "")
    sources += [repository] if repository.startswith("https://") else []
    sources += ["with changes that are not committed"] if origin.get("dirty") else []
    versions = ", ".join(f"{name} {version}" for name, version in (timing.get("versions") or {}).items())
    lines = [
        f"- Starting weights: {', '.join([*weights, *licence])}",
        f"- Exported with: {', '.join(sources)}",
        f"- Libraries of the training: {versions or 'not recorded'}",
        *(f"- `{name}`: SHA-256 `{digest}`" for name, digest in sums.items()),
    ]
    return "## Provenance\n\n" + "\n".join(lines)


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:.4f}, {high:.4f}]"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(Table([Column(name) for name in heading], [rows]))
