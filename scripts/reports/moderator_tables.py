"""The tables of a comparison's moderators and subgroups.

Reads moderators/{comparison}.json. Writes tables/moderators/{comparison}.tsv, one row per coefficient and one row per
subgroup at full precision, the same in Markdown with what each model says and the values of the tasks, and in LaTeX
(booktabs).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.common.settings import read_record
from ranktrial.common.tables import write_table
from ranktrial.records.comparison import ModerationRecord
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.moderation import (
    between_groups,
    coefficients,
    dependence_sentence,
    model_name,
    statement,
)
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Block, Items, Paragraph, Section, Table, columns
from ranktrial.statistics.moderation import Coefficient, Level, Model, Subgroups
from ranktrial.statistics.summaries import Summary

OF_ROW = ("estimate", "variance", "se", "ci_low", "ci_high", "df", "p_value", "permutation_p_value")
OF_MODEL = ("k", "problem", "tau2", "tau2_of_all", "r2", "i2", "h2", "qe", "qe_df", "qe_p_value", "qm", "qm_df",
            "qm_p_value", "qm_p_holm", "permutations", "exact")  # fmt: skip
CAUTION = (
    "Tasks were not assigned to values of a moderator and differ in other ways, too: a result that was not predicted "
    "is a hypothesis."
)
WHOLE = ("df", "group_k", "model_k", "model_qe_df", "model_qm_df", "model_permutations")


def in_full(record: ModerationRecord) -> pd.DataFrame:
    """Every number of the models: one row per coefficient, then one per subgroup; a model without any has one row."""
    lines = [line for model in record.models for line in _coefficient_lines(model)]
    lines += _subgroup_lines(record.subgroups) if record.subgroups else []
    first = ["kind", "model", "term", "group_k", *OF_ROW]
    table = pd.DataFrame(lines)
    table = table.reindex(columns=[*first, *(name for name in table.columns if name not in first)])
    return table.astype({name: "Int64" for name in WHOLE if name in table and _whole(table[name])})


def _coefficient_lines(model: Model) -> list[dict[str, object]]:
    of_model = _of_model(model_name(model), model)
    coefficients = model.fit.coefficients if model.fit else (None,)
    return [
        {"kind": "coefficient", "term": getattr(one, "term", None), **_numbers(one), **of_model} for one in coefficients
    ]


def _subgroup_lines(groups: Subgroups) -> list[dict[str, object]]:
    of_model = _of_model(groups.label, groups.model)
    levels = groups.model.fit.levels if groups.model.fit else None
    if not levels:
        return [{"kind": "subgroup", "term": "", **_numbers(None), "group_k": None, **of_model}]
    return [
        {"kind": "subgroup", "term": word, **_numbers(level.summary), "estimate": level.summary.effect}
        | {"group_k": level.k, **of_model}
        for word, level in levels.items()
    ]


def _numbers(found: Coefficient | Summary | None) -> dict[str, object]:
    """The numbers of a row; None for those that it lacks."""
    return {name: getattr(found, name, None) for name in OF_ROW}


def _of_model(name: str, model: Model) -> dict[str, object]:
    """The numbers of a model, which each of its rows repeats; None if it was not fitted."""
    numbers = {f"model_{key}": getattr(model, key, getattr(model.fit, key, None)) for key in OF_MODEL}
    return {"model": name, **numbers, "model_permutation_p_value": getattr(model.fit, "permutation_p_value", None)}


def _whole(column: pd.Series) -> bool:
    """Whether all its numbers are whole; with seeds degrees of freedom are not."""
    return all(pd.isna(value) or float(value).is_integer() for value in column)


def subgroups(label: str, levels: dict[str, Level], alpha: float) -> Table:
    """The subtotals."""
    halves = [(level.summary.ci_high - level.summary.ci_low) / 2 for level in levels.values()]
    numbers = form.Numbers(0, form.decimals_for(min(halves)))
    rows = []
    for word, level in levels.items():
        found = level.summary
        effect, low, high = numbers.of(found.effect, found.ci_low, found.ci_high)
        rows.append([word, str(level.k), effect, f"[{low}, {high}]", form.p_value(found.p_value, alpha)])
    return Table(columns([label, "k", "Effect", f"{form.percent(alpha)} CI", "p"]), [rows])


def values(record: ModerationRecord, labels: Labels) -> Table:
    """The values of the moderators by task."""
    names = list(dict.fromkeys(name for of_task in record.values.values() for name in of_task))
    decimals = {name: _decimals([of_task.get(name, "") for of_task in record.values.values()]) for name in names}
    rows = [
        [labels.task(task), *(_value(of_task.get(name, ""), decimals[name]) for name in names)]
        for task, of_task in record.values.items()
    ]
    return Table(columns(["Task", *(record.labels[name] for name in names)]), [rows])


def _decimals(values: list[str | float]) -> int:
    """The decimals of a moderator's column: none for whole numbers."""
    numbers = [float(value) for value in values if not isinstance(value, str)]
    return 0 if all(map(float.is_integer, numbers)) else form.mean_decimals(numbers)


def _value(value: str | float, decimals: int) -> str:
    return value if isinstance(value, str) else form.fixed(value, decimals)


def content(record: ModerationRecord) -> list[Block]:
    """The finding and coefficients of each model, and the subtotals of groups."""
    blocks: list[Block] = []
    if record.models:
        said = filter(None, [dependence_sentence(record), CAUTION])
        blocks.append(Items([statement(model, record.alpha) for model in record.models]))
        blocks += [*map(Paragraph, said), coefficients(record)]
    if groups := record.subgroups:
        levels = groups.model.fit.levels if groups.model.fit else None
        table = [subgroups(groups.label, levels, record.alpha)] if levels else []
        between = Paragraph(between_groups(groups, record.alpha))
        blocks.append(Section(f"Subgroups by {groups.label}", [*table, between]))
    return blocks


def write_moderators(
    moderators: Path, table: Path, page: Path, tex: Path, title: Annotated[str, "what is compared"], labels: Labels
) -> None:
    """Write the tables of a comparison's moderators."""
    record = read_record(ModerationRecord, moderators)
    blocks = content(record)
    of_tasks = [Section("Values of the tasks", [values(record, labels)])] if record.models else []
    write_table(table, in_full(record))
    write_text(page, printed.markdown_document(f"Moderators of the effect: {title}", [*blocks, *of_tasks]))
    write_text(tex, printed.latex_document([Paragraph(title), *blocks]))


if __name__ == "__main__":
    job(write_moderators)
