"""Answers to the research questions as Markdown and as a table; reads and writes nothing."""

from __future__ import annotations

import pandas as pd

from scripts.reports.transfer.wording import Answer
from scripts.reports.writing.markdown import escape

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
    """A row an answer: its numbers, then the sentence."""
    rows = [
        {"question": one.question, "target": one.target, "start": one.start, **one.numbers, "answer": one.text}
        for one in answers
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def as_markdown(answers: list[Answer], level: int = 2) -> str:
    """A heading a question, and its answers as a list."""
    parts = []
    for question, asked in QUESTIONS.items():
        own = [f"- {escape(one.text)}" for one in answers if one.question == question]
        if own:
            parts += [f"{'#' * level} {question}: {asked}", "\n".join(own)]
    return "\n\n".join(parts)
