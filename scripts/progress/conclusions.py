"""What the first comparison of a summary found, as lines for a terminal; a pure function of summary.md."""

from __future__ import annotations

import re

MOST = 3  # sentences: on these collections, over collections like these, in a new one
QUESTION = re.compile(r"^(?:#+ |\*\*)(.*\?)(?: \(.*\)|\*\*)?$", re.MULTILINE)
ANSWER = re.compile(r"^- \*\*.*?\*\* (.*)$", re.MULTILINE)
ESCAPE = re.compile(r"\\(\W)")


def conclusions(summary: str) -> list[str]:
    """The question of the first comparison and its answers, as the summary has them; none where it compares nothing."""
    compared = summary.partition("\n## Comparisons\n")[2]
    question = QUESTION.search(compared)
    if not question:
        return []
    of_first = compared[question.end() :].strip().split("\n\n")[0]
    said = [question[1], *ANSWER.findall(of_first)[:MOST]]
    return [ESCAPE.sub(r"\1", text) for text in said]
