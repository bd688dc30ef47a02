"""Answers to the research questions as sections and as a table; writes tables/{study}-answers.md and .tsv."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ranktrial.common.files import write_text
from ranktrial.common.tables import write_table
from ranktrial.reports.transfer.wording import Answer
from ranktrial.reports.writing import markdown
from ranktrial.reports.writing.content import Section, bulleted

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
    write_text(page, markdown.document("Answers", sections(found)))
    write_table(table, as_table(found))
