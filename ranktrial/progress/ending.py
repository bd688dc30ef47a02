"""The last lines of a run: a conclusion per comparison, and the paths of the results; reads summary.md."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = ("report.html", "explorer/index.html", "summary.md", "figures")

MOST = 3  # sentences of the first comparison: on these collections, over collections like these, in a new one
FURTHER = 4  # other comparisons, of which the first two sentences are shown in one line
QUESTION = re.compile(r"^(?:#+ |\*\*)(.*\?)(?: \(.*\)|\*\*)?$", re.MULTILINE)
ANSWER = re.compile(r"^- \*\*.*?\*\* (.*)$", re.MULTILINE)
ESCAPE = re.compile(r"\\(\W)")


def conclusions(summary: str) -> list[str]:
    """The question and the answers of the first comparison, and two of each other; empty without any."""
    compared = summary.partition("\n## Comparisons\n")[2]
    found = list(QUESTION.finditer(compared))
    if not found:
        return []
    answers = [ANSWER.findall(compared[question.end() :].strip().split("\n\n")[0]) for question in found]
    further = [" ".join(of[:2]) for of in answers[1:] if of]
    said = [found[0][1], *answers[0][:MOST], *further[:FURTHER]]
    said += [f"{len(further) - FURTHER} more comparisons: see the report"] if len(further) > FURTHER else []
    return [ESCAPE.sub(r"\1", text) for text in said]


def ending(results: Path) -> list[str]:
    """The last lines for an experiment's folder; empty before there is a report."""
    pages = [str(results / page) for page in PAGES if (results / page).exists()]
    if not (results / PAGES[0]).exists():
        return []
    said = conclusions((results / "summary.md").read_text(encoding="utf-8"))
    return [*said, f"{', '.join(pages)} contain the results"]
