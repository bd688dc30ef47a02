"""How well a language model's judgements agree with those of humans, on the documents that both judged.

Reads the judgements of both of one split, the timing of the model's, and the metrics of all systems by both. Writes
tables/judges/{dataset}.tsv, a row for each number (`kind` says of what), and .md, the same to read: the confusion
matrix of grades and Cohen's kappa over the documents that both judged, Kendall's tau of the order of systems, and for
each pair of systems by how much the model's mean difference is off the humans', over the queries that both judged.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.common.tables import read_metrics, write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.trec import Qrels, judged, read_qrels
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import (
    Block,
    Column,
    Items,
    Note,
    Paragraph,
    Section,
    Span,
    Table,
    columns,
    counted,
)
from ranktrial.statistics.agreement import cohens_kappa, confusion, order_correlation
from ranktrial.statistics.measure_scale import reach_of
from ranktrial.statistics.significance import difference_of

Metrics = dict[str, pd.DataFrame]  # the mean over its seeds of a system's metrics, by system
ALPHA = 0.05


@dataclass(frozen=True)
class Settings:
    measures: Annotated[list[str], "by which systems are ordered and compared"]
    holes: Annotated[bool, "the model judged only what humans had not, so no document was judged by both"] = False


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number: a cell of the confusion matrix, an agreement, or the bias of a pair of systems (first - second)."""

    kind: str
    first: str = ""
    second: str = ""
    measure: str = ""
    value: float | None = None
    n: int | None = None
    human: float | None = None
    model: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


def read_systems(paths: Sequence[Path]) -> Metrics:
    """The metrics of each system, the mean over its seeds."""
    tables: dict[str, list[pd.DataFrame]] = {}
    for path in paths:
        tables.setdefault(fields_of("metrics", path)["system"], []).append(read_metrics(path))
    return {system: sum(of_seeds[1:], of_seeds[0]) / len(of_seeds) for system, of_seeds in tables.items()}


def both_judged(human: Qrels, model: Qrels) -> list[tuple[int, int]]:
    """The grades by both of each document that both judged."""
    return [
        (grade, model[query][document])
        for query, grades in human.items()
        for document, grade in grades.items()
        if judged(grades, document) and document in model.get(query, {})
    ]


def agreement(pairs: list[tuple[int, int]]) -> Iterator[Row]:
    """The confusion matrix, and kappa of relevance and, where humans have a scale of grades, of grades."""
    for (human, model), count in confusion(pairs).items():
        yield Row(kind="confusion", first=str(human), second=str(model), value=count)
    relevance = [(int(human > 0), int(model > 0)) for human, model in pairs]
    yield Row(kind="kappa of relevance", value=cohens_kappa(relevance), n=len(pairs))
    if any(human > 1 for human, _ in pairs):  # the humans have a scale of grades as well
        yield Row(kind="kappa of grades", value=cohens_kappa(pairs), n=len(pairs))


def orders(human: Metrics, model: Metrics, measure: str) -> Row:
    """The correlation of both orders of systems, by their means over the queries that both judged."""
    pairs = [(a.mean(), b.mean()) for a, b in (on_both(human, model, system, measure) for system in human)]
    tau = order_correlation([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    return Row(kind="tau", measure=measure, value=tau, n=len(pairs))


def biases(human: Metrics, model: Metrics, measure: str) -> Iterator[Row]:
    """Of each pair of systems both mean differences, and the model's minus the humans' with its t interval."""
    for first, second in itertools.combinations(human, 2):
        (a, on_a), (b, on_b) = (on_both(human, model, system, measure) for system in (first, second))
        reach = reach_of(measure, (a, b, on_a, on_b))
        bias = difference_of(on_a - on_b, a - b, ALPHA, reach and 2 * reach)  # of two differences
        yield Row(
            kind="bias",
            first=first,
            second=second,
            measure=measure,
            value=bias.difference,
            n=len(a),
            human=float((a - b).mean()),
            model=float((on_a - on_b).mean()),
            ci_low=bias.ci_low,
            ci_high=bias.ci_high,
        )


def on_both(human: Metrics, model: Metrics, system: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """The values of a system by both, on the queries that both judged, in one order."""
    queries = human[system].index.intersection(model[system].index)
    return human[system].loc[queries, measure].to_numpy(), model[system].loc[queries, measure].to_numpy()


def content(name: str, rows: Sequence[Row], timing: Mapping[str, Any], settings: Settings) -> str:
    """The page with all numbers."""
    of_kind = {kind: [row for row in rows if row.kind == kind] for kind in dict.fromkeys(row.kind for row in rows)}
    parts: list[Block] = [
        Paragraph(asked(timing)),
        Paragraph(("All numbers at full precision: ", Span(f"{name}.tsv", link=f"{name}.tsv"))),
    ]
    if settings.holes:
        parts.append(Note("The model judged only what humans had not, so no document was judged by both."))
    elif not of_kind.get("confusion"):
        parts.append(
            Note("No document was judged by both the model and humans, so the quality of its judgements is unknown.")
        )
    else:
        parts.append(Section("Documents that both judged", [*agreement_blocks(of_kind)], anchor="documents"))
    if taus := of_kind.get("tau"):
        lines = [f"{row.measure}: Kendall's tau {shown(row.value)}, {counted(row.n or 0, 'system')}" for row in taus]
        parts.append(Section("Order of systems", [Items(lines)], anchor="order"))
    if pairs := of_kind.get("bias"):
        parts.append(Section("Pairs of systems", [Paragraph(OF_PAIRS), bias_table(pairs)], anchor="pairs"))
    return printed.markdown_document(f"{name}: the judgements of {timing['model']}", parts)


OF_PAIRS = (
    "The mean difference of each pair, by humans and by the model, over the queries that both judged; the bias is the "
    "model's minus the humans', with its 95% t interval."
)


def asked(timing: Mapping[str, Any]) -> str:
    """The numbers of judged documents and unreadable answers, and the cost if it is known."""
    said = (
        f"{timing['model']} judged {timing['documents']} documents of {counted(timing['queries'], 'query', 'queries')}"
    )
    cost = f", cost {timing['cost']:.4g}" if timing.get("cost") is not None else ""
    unreadable = f"{timing['unreadable']} answers contained no grade; their documents remain unjudged"
    return f"{said}{cost}. {unreadable}."


def agreement_blocks(of_kind: Mapping[str, Sequence[Row]]) -> Iterator[Block]:
    """The confusion matrix as a table, and both kappas."""
    cells = {(row.first, row.second): row.value or 0 for row in of_kind["confusion"]}
    humans, models = (list(dict.fromkeys(pair[place] for pair in cells)) for place in (0, 1))
    head = [Column("human grade"), *(Column(f"model {grade}", "r") for grade in models)]
    yield Table(head, [[[human, *(f"{cells[human, model]:.0f}" for model in models)] for human in humans]])
    kappas = [(kind, row) for kind in ("kappa of relevance", "kappa of grades") for row in of_kind.get(kind, [])]
    yield Items([f"Cohen's {kind}: {shown(row.value)} ({row.n} documents)" for kind, row in kappas])


def bias_table(rows: Sequence[Row]) -> Table:
    """The pairs with both differences."""
    names = ("measure", "system", "minus", "queries", "humans", "model", "bias", "95% CI")
    lines = [
        [row.measure, row.first, row.second, str(row.n), shown(row.human), shown(row.model), shown(row.value),
         f"{shown(row.ci_low)} to {shown(row.ci_high)}" if row.ci_low is not None else ""]
        for row in rows
    ]  # fmt: skip
    return Table(columns(names, 3), [lines])


def shown(value: float | None) -> str:
    """A number with three decimals; "undefined" if there is none."""
    return "undefined" if value is None else f"{value:.3f}"


def write_judge(
    human: Path, model: Path, timing: Path, human_metrics: list[Path], model_metrics: list[Path],
    page: Path, table: Path, settings: Settings,
) -> None:  # fmt: skip
    """Write the table and the page."""
    by_human, by_model = read_systems(human_metrics), read_systems(model_metrics)
    pairs = [] if settings.holes else both_judged(read_qrels(human), read_qrels(model))
    rows = list(agreement(pairs)) if pairs else []
    for measure in settings.measures:
        rows += [orders(by_human, by_model, measure), *biases(by_human, by_model, measure)]
    write_table(table, pd.DataFrame([asdict(row) for row in rows]))
    write_text(page, content(page.stem, rows, json.loads(timing.read_text()), settings))


if __name__ == "__main__":
    job(write_judge)
