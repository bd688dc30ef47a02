"""Listwise re-ranking by a language model: the windows, the prompt, and the order read from an answer.

Windows slide from the end of the list to its start, as in RankGPT (Sun et al. 2023, Is ChatGPT Good at Search?), so
that a good document can move up to the top. Prompt, windows and the repair of answers are those of rank-llm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ranktrial.models.reasoning import without_reasoning

SYSTEM = "You are RankLLM, an intelligent assistant that can rank passages based on their relevancy to the query."
BEFORE = (
    "I will provide you with {count} passages, each indicated by a numerical identifier []. Rank the passages based on "
    "their relevance to the search query: {query}."
)
AFTER = (
    "Search Query: {query}.\nRank the {count} passages above based on their relevance to the search query. All the "
    "passages should be included and listed using identifiers, in descending order of relevance. The output format "
    "should be [] > [], e.g., [2] > [1]. Only respond with the ranking results, do not say any word or explain."
)
_NUMBERED = re.compile(r"\[([0-9]+)\]")
_IDENTIFIER = re.compile(r"\[\s*([0-9]{1,4})\s*\]")
_NUMBERS_ALONE = re.compile(r"[\s0-9>,.]*")


class Order(NamedTuple):
    """The positions of a window's documents, best first: a permutation of 0 … count - 1.

    `understood` is False if the answer has none of them, and `repaired` is True if it does not have each once.
    """

    places: list[int]
    understood: bool
    repaired: bool


def windows(count: int, size: int, step: int) -> Iterator[tuple[int, int]]:
    """The windows [start, end) of a list of `count` documents, the last first; none for a single document."""
    end = count
    while end > 1:
        start = max(0, end - size)
        yield start, end
        if start == 0:
            return
        end -= step


def messages(query: str, passages: list[str], max_words: int) -> list[dict[str, str]]:
    """The messages about one window, in OpenAI's protocol."""
    about = {"count": len(passages), "query": _one_line(query, None)}
    numbered = [f"[{number}] {_one_line(text, max_words)}" for number, text in enumerate(passages, 1)]
    parts = [BEFORE.format(**about), *numbered, AFTER.format(**about)]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}]


def _one_line(text: str, words: int | None) -> str:
    """The first words of a text; numbers in square brackets, which look like identifiers, get round ones."""
    return _NUMBERED.sub(r"(\1)", " ".join(text.split()[:words]))


def order(answer: str, count: int) -> Order:
    """The order in an answer: duplicates are dropped, and missing documents follow in their previous order."""
    said = without_reasoning(answer)
    numbers = _IDENTIFIER.findall(said)
    if not numbers and _NUMBERS_ALONE.fullmatch(said):
        numbers = re.findall("[0-9]{1,4}", said)
    named = [int(number) - 1 for number in numbers]
    places = list(dict.fromkeys(place for place in named if 0 <= place < count))
    missing = set(range(count)).difference(places)
    whole = [*places, *sorted(missing)]
    return Order(whole, bool(places), bool(places) and named != whole)
