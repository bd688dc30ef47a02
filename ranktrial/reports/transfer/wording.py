"""Words and numbers shared by the answers about transfer, and the answers as sections and as a table.

Writes tables/{study}-answers.md and .tsv.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from ranktrial.common.files import write_text
from ranktrial.common.tables import write_table
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Section, bulleted
from ranktrial.statistics.task.differences import Difference

DECIMALS = 3


@dataclass(frozen=True)
class Answer:
    """A sentence on a research question, of one target and starting point or of all ("")."""

    question: str
    text: str
    target: str = ""
    start: str = ""
    numbers: dict[str, float | None] = field(default_factory=dict)


def mean(value: float) -> str:
    """A mean of a measure."""
    return form.fixed(value, DECIMALS)


def signed(value: float) -> str:
    """A difference with its sign; 0 has none."""
    text = form.fixed(value, DECIMALS)
    return f"+{text}" if value > 0 else text


def percentage(difference: float, base: float) -> str:
    """A difference relative to its base, such as +3.7%; empty if the base is 0."""
    if not base:
        return ""
    share = 100 * difference / base
    return f"{'+' if share > 0 else ''}{form.fixed(share, 1)}%"


def tested(found: Difference, alpha: float) -> str:
    """A difference with its interval and p-value; a word if there is no test."""
    low, high, p = found.ci_low, found.ci_high, found.p_value
    if missing(low) or missing(high) or missing(p):
        return f"{signed(found.difference)}, the same on every query"
    interval = f"{form.percent(alpha)} CI {signed(low)} to {signed(high)}"
    return f"{signed(found.difference)}, {interval}, {form.p_equals(p, alpha)}"


def numbers_of(found: Difference) -> dict[str, float | None]:
    """The numbers of a difference as an answer's table has them."""
    return {key: getattr(found, key) for key in ("difference", "ci_low", "ci_high", "p_value")}


def missing(value: float | None) -> bool:
    """Whether there is no number."""
    return value is None or math.isnan(value)


def below(p: float | None, alpha: float) -> bool:
    """Whether there is a p-value and it is below alpha."""
    return p is not None and not math.isnan(p) and p < alpha


QUESTIONS = {
    "RQ1": "From how many training queries on does a curve stay above the baseline?",
    "RQ2": "Does a model trained on pseudo-labels outperform the baseline, and by how much?",
    "RQ3": "Is transfer always more effective than the baseline?",
    "RQ4": "Is transfer more effective than training on pseudo-labels?",
    "RQ5": "Where do a few training queries improve upon the starting point, and where do they hurt?",
}
NUMBERS = ("queries", "queries_low", "queries_high", "samples", "samples_above", "pairs", "above", "below",
           "above_significant", "below_significant", "difference", "ci_low", "ci_high", "p_value",
           "p_holm")  # fmt: skip
COLUMNS = ("question", "target", "start", *NUMBERS, "answer")


def as_table(answers: list[Answer]) -> pd.DataFrame:
    """One row per answer: its numbers, then the sentence."""
    rows = [
        {"question": one.question, "target": one.target, "start": one.start, **one.numbers, "answer": one.text}
        for one in answers
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def sections(answers: list[Answer]) -> list[Section]:
    """A section per question: the answers over all targets, then those of each."""
    parts = []
    for question, asked in QUESTIONS.items():
        own = [one for one in answers if one.question == question]
        over_all, single = ([one.text for one in own if bool(one.target) == of_one] for of_one in (False, True))
        if own:
            parts.append(Section(f"{question}: {asked}", [*bulleted(over_all), *bulleted(single)]))
    return parts


def write_answers(found: list[Answer], page: Path, table: Path) -> None:
    """Write the answers of a study as a page and as a table at full precision."""
    write_text(page, printed.markdown_document("Answers", sections(found)))
    write_table(table, as_table(found))
