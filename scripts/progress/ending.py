"""The last lines of a run: conclusions of the first comparison, and the paths of the results; reads summary.md."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = ("report.html", "explorer/index.html", "summary.md", "figures")

MOST = 3  # sentences: on these collections, over collections like these, in a new one
QUESTION = re.compile(r"^(?:#+ |\*\*)(.*\?)(?: \(.*\)|\*\*)?$", re.MULTILINE)
ANSWER = re.compile(r"^- \*\*.*?\*\* (.*)$", re.MULTILINE)
ESCAPE = re.compile(r"\\(\W)")


def conclusions(summary: str) -> list[str]:
    """The question of the first comparison and its answers, from the summary; empty without comparisons."""
    compared = summary.partition("\n## Comparisons\n")[2]
    question = QUESTION.search(compared)
    if not question:
        return []
    of_first = compared[question.end() :].strip().split("\n\n")[0]
    said = [question[1], *ANSWER.findall(of_first)[:MOST]]
    return [ESCAPE.sub(r"\1", text) for text in said]


def ending(results: Path) -> list[str]:
    """The last lines for an experiment's folder; empty before there is a report."""
    pages = [str(results / page) for page in PAGES if (results / page).exists()]
    if not (results / PAGES[0]).exists():
        return []
    said = conclusions((results / "summary.md").read_text(encoding="utf-8"))
    return [*said, f"{', '.join(pages)} contain the results"]
