"""The agreement of language models with human judges, a line for each model: from the tables of judge_tables.py.

Reads tables/judges/{dataset}.tsv, which has a page of the same name; writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ranktrial.common.tables import read_table
from ranktrial.reports.writing.content import Items, Paragraph, Section, Span, Text

TEXTS = ("kind", "first", "second", "measure")
WHAT = (
    "The model's judgements beside those of humans, where both judged. An effect in a comparison is that by humans' "
    "judgements, to which the model's add precision and no bias."
)


def judges(paths: Sequence[Path]) -> Section:
    """All language models that judge, in the order of the configuration."""
    lines: list[Text] = [_line(path.stem, read_table(path, *TEXTS)) for path in paths]
    return Section("Judged by language models", [Paragraph(WHAT), Items(lines)], anchor="judges")


def _line(name: str, table: pd.DataFrame) -> Text:
    """The agreement on documents, and the order of systems by each measure."""
    found = table.dropna(subset=["value"])
    kappas = found[found["kind"] == "kappa of relevance"]
    said = [f"Cohen's kappa of relevance {row.value:.3f} ({row.n:.0f} documents)" for row in kappas.itertuples()]
    taus = found[found["kind"] == "tau"]
    said += [f"Kendall's tau of {row.n:.0f} systems {row.value:.3f} ({row.measure})" for row in taus.itertuples()]
    page = f"tables/judges/{name}.md"
    text = f": {'; '.join(said) or 'no document was judged by both'}. All numbers: "
    return (Span(name, "strong"), text, Span(page, link=page))
