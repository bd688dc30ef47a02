"""The tables of a comparison's moderators and subgroups.

Reads moderators/{comparison}.json. Writes tables/moderators/{comparison}.tsv, a row a coefficient and a row a subgroup
at full precision, the same in Markdown with what each model says and the values of the tasks, and in LaTeX (booktabs).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.moderation import (
    COLUMNS,
    between_groups,
    coefficient_rows,
    dependence_sentence,
    model_name,
    plain,
    read_moderation,
    statement,
)
from scripts.reports.comparison.reading import Labels, escaped
from scripts.reports.writing.latex import BOOKTABS, aligned, document, tabular
from scripts.reports.writing.markdown import escape, markdown

OF_ROW = ("estimate", "variance", "se", "ci_low", "ci_high", "df", "p_value", "permutation_p_value")
OF_MODEL = ("k", "problem", "tau2", "tau2_of_all", "r2", "i2", "h2", "qe", "qe_df", "qe_p_value", "qm", "qm_df",
            "qm_p_value", "qm_p_holm", "permutations", "exact")  # fmt: skip
CAUTION = (
    "Tasks were not assigned to values of a moderator and differ in other ways, too: a result that was not predicted "
    "is a hypothesis."
)
WHOLE = ("df", "group_k", "model_k", "model_qe_df", "model_qm_df", "model_permutations")


@dataclass(frozen=True)
class Settings:
    """The names that the tables show."""

    title: Annotated[str, "what is compared"]
    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def in_full(record: dict[str, Any]) -> pd.DataFrame:
    """Every number of the models: a row a coefficient, then a row a subgroup; a model without any has one row."""
    lines = []
    for model in record["models"]:
        of_model = {"model": model_name(model), **{f"model_{name}": model.get(name) for name in OF_MODEL}}
        of_model["model_permutation_p_value"] = model.get("permutation_p_value")
        for coefficient in model.get("coefficients", [{}]):
            of_row = {name: coefficient.get(name) for name in OF_ROW}
            lines.append({"kind": "coefficient", "term": coefficient.get("term"), **of_row, **of_model})
    if groups := record.get("subgroups"):
        of_model = {"model": groups["label"], **{f"model_{name}": groups.get(name) for name in OF_MODEL}}
        of_model["model_permutation_p_value"] = groups.get("permutation_p_value")
        for word, summary in groups.get("levels", {"": {}}).items():
            of_row = {name: summary.get(name) for name in OF_ROW} | {"estimate": summary.get("effect")}
            lines.append({"kind": "subgroup", "term": word, **of_row, "group_k": summary.get("k"), **of_model})
    first = ["kind", "model", "term", "group_k", *OF_ROW]
    table = pd.DataFrame(lines)
    table = table.reindex(columns=[*first, *(name for name in table.columns if name not in first)])
    return table.astype({name: "Int64" for name in WHOLE if name in table and _whole(table[name])})


def _whole(column: pd.Series) -> bool:
    """Whether all its numbers are whole; with seeds degrees of freedom are not."""
    return all(pd.isna(value) or float(value).is_integer() for value in column)


def subgroup_rows(groups: dict[str, Any], alpha: float) -> pd.DataFrame:
    """The subtotals."""
    lines = []
    halves = [(summary["ci_high"] - summary["ci_low"]) / 2 for summary in groups["levels"].values()]
    numbers = form.Numbers(0, form.decimals_for(min(halves)))
    for word, summary in groups["levels"].items():
        effect, low, high = numbers.of(summary["effect"], summary["ci_low"], summary["ci_high"])
        p = form.p_value(summary["p_value"], alpha)
        lines.append([word, str(summary["k"]), effect, f"[{low}, {high}]", p])
    return pd.DataFrame(lines, columns=[groups["label"], "k", "Effect", f"{form.percent(alpha)} CI", "p"])


def values(record: dict[str, Any], labels: Labels) -> pd.DataFrame:
    """The values of the moderators by task."""
    lines = []
    for task, of_task in record["values"].items():
        shown = {
            record["labels"][name]: v if isinstance(v, str) else form.minus(f"{v:.4g}") for name, v in of_task.items()
        }
        lines.append({"Task": labels.task(task), **shown})
    return pd.DataFrame(lines)


def page(record: dict[str, Any], title: str, labels: Labels) -> str:
    """All of it in Markdown."""
    alpha, parts = record["alpha"], [f"# Moderators of the effect: {escape(title)}"]
    if record["models"]:
        parts += [f"- {escape(plain(statement(model, alpha)))}" for model in record["models"]]
        parts += filter(None, [dependence_sentence(record)])
        parts.append(CAUTION)
        parts.append(markdown(pd.DataFrame(coefficient_rows(record), columns=headings(alpha))))
    if groups := record.get("subgroups"):
        parts.append(f"## Subgroups by {escape(groups['label'])}")
        parts += [] if groups["problem"] else [markdown(subgroup_rows(groups, alpha))]
        parts.append(escape(plain(between_groups(record))))
    if record["models"]:
        parts += ["## Values of the tasks", markdown(values(record, labels))]
    return "\n\n".join(parts) + "\n"


def headings(alpha: float) -> list[str]:
    """Of the table of coefficients."""
    return [f"{form.percent(alpha)} CI" if name == "CI" else name for name in COLUMNS]


def latex(record: dict[str, Any], title: str) -> str:
    """The coefficients, a block a model, then the subtotals of groups."""
    alpha, tables = record["alpha"], []
    said = [
        BOOKTABS,
        title,
        *(plain(statement(model, alpha)) for model in record["models"]),
        dependence_sentence(record),
    ]
    blocks = [
        [list(row) for row in rows] for _, rows in itertools.groupby(coefficient_rows(record), key=lambda row: row[0])
    ]
    if record["models"]:
        tables.append(tabular(aligned(headings(alpha), words=2), blocks, list(filter(None, said))))
    if groups := record.get("subgroups"):
        rows = pd.DataFrame() if groups["problem"] else subgroup_rows(groups, alpha)
        columns = aligned(list(rows.columns) or [groups["label"]], words=1)
        tables.append(tabular(columns, [rows.to_numpy().tolist()], [BOOKTABS, title, plain(between_groups(record))]))
    return document(tables)


def main() -> None:
    arguments = parser(__doc__, "moderators", "table", "page", "tex", settings=Settings).parse_args()
    settings: Settings = arguments.settings
    record = read_moderation(arguments.moderators)
    with atomic_text(arguments.table) as file:
        in_full(record).to_csv(file, sep="\t", index=False)
    with atomic_text(arguments.page) as file:
        file.write(page(record, settings.title, escaped(settings.labels)))
    with atomic_text(arguments.tex) as file:
        file.write(latex(record, settings.title))


if __name__ == "__main__":
    run(main)
