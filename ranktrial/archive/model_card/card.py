"""The text of a model card: how to load the model, its scores, its training data, how and by which sources it was made.

Reads and writes nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from ranktrial.archive.model_card.exported import Exported
from ranktrial.archive.model_card.front_matter import datasets_of, front_matter
from ranktrial.archive.model_card.measured import Mean
from ranktrial.archive.model_card.places import public
from ranktrial.common.keys import stated
from ranktrial.common.markdown_text import escape
from ranktrial.common.version import VERSION
from ranktrial.experiment.model_checks import prompts_by_dataset
from ranktrial.records.comparison import MetaRecord
from ranktrial.statistics.effects import effect_named

OF_TRAINING = ("examples", "queries", "steps", "epochs", "seconds", "processor", "device", "precision")
LAYOUT = "| {} |"
VECTORS = 'queries, documents = model.encode_query(["a query"]), model.encode_document(["a text"])'
SCORES = 'scores = model.predict([("a query", "a text")])'


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


def _table(heading: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(heading)]
    lines += [["---"] * len(lines[0])]
    lines += [[_cell(value) for value in row] for row in rows]
    return "\n".join(LAYOUT.format(" | ".join(line)) for line in lines)


def _cell(text: str) -> str:
    """A user's text in a cell, in which it cannot make a column, a tag or a line."""
    return " ".join(escape(text).replace("|", "\\|").split())
