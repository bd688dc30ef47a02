"""The prompt by which a language model grades a document for a query, and the reading of its answer.

The scale is that of UMBRELA (Upadhyay et al. 2024, arXiv:2406.06519), which follows Bing's assessor (Thomas et al.
2023): 0 to 3, as in TREC's deep learning tracks. The prompt has the same idea, reworded. Reads and writes nothing.
"""

from __future__ import annotations

import re

from ranktrial.models.reasoning import without_reasoning

GRADES = (0, 1, 2, 3)
SYSTEM = "You are an assessor of search results. You grade how well a passage answers a query."
PROMPT = """Grade the passage for the query with one whole number:

0: the passage has nothing to do with the query
1: the passage is about the topic of the query and does not answer it
2: the passage answers the query in part, or the answer is unclear or stands among much else
3: the passage is about the query and answers it in full

Consider first what someone who writes this query wants to know. Then consider how much of that the passage holds, and
how far it can be relied on. Grade from both.

Query: {query}

Passage: {passage}

Answer with one line and no explanation:
final grade: <number>"""
# Neither part of a word, such as 1e9, nor the start of a range.
_NUMBER = r"[^\w-]{0,6}(\d++(?:\.\d++)?+)(?![^\W\d])(?![^\S\n]*(?:[-\u2013]|to|or)[^\S\n]*\d)"
_STATED = re.compile(rf"(final )?(?:grade|score)(?:[^\w-]{{0,6}}is\b)?{_NUMBER}", re.IGNORECASE)
_ALONE = re.compile(rf"{_NUMBER}\W*")


def messages(query: str, passage: str, max_words: int) -> list[dict[str, str]]:
    """The messages about one document, in OpenAI's protocol."""
    shown = PROMPT.format(query=" ".join(query.split()), passage=" ".join(passage.split()[:max_words]))
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": shown}]


def grade_of(answer: str) -> int | None:
    """The last final grade that an answer states after its reasoning, or the last grade if it calls none final.

    None if it states none, or one beyond the scale.
    """
    said = without_reasoning(answer)
    alone = _ALONE.fullmatch(said)
    found = _STATED.findall(said)
    stated = [alone[1]] if alone else [number for final, number in found if final] or [number for _, number in found]
    number = float(stated[-1]) if stated else -1.0
    return int(number) if number in GRADES else None
