"""A rule-based tagger of comparative questions: "X or Y", "X vs Y", "is X better than Y", "difference between X and Y".

An object is what the question names, without article: in "is green or black tea healthier", green and black tea. An
action is an object with its complements: in "should I rent or buy a house", rent and buy a house. Each function is one
form of comparison; the first that finds two or more objects is used. If none does, there are no objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ranktrial.ir.comparative import Structure
from ranktrial.ir.comparative.aspects import aspects_of, predicates_of
from ranktrial.ir.comparative.words import (
    ACTIONS,
    ADVERBS,
    ARTICLES,
    AUXILIARIES,
    CHOICE_VERBS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    SUBORDINATORS,
    compares,
    is_comparative,
    is_sign,
    tokens,
)

_IDIOMS = re.compile(r"\b(more or less|sooner or later|one or the other|or (?:should i |is it )?not|yes or no)\b", re.I)
_OF_PAIRS = {"between", "of", "compare", "comparing"}  # before "X and Y"
_WORDS_OF_PAIRS = {"difference", "differences", "comparison", "compare", "comparing", "choice", "similarities"}
MOST_WORDS = 200  # of a question that are considered
LONGEST_ITEM = 4  # words of a further item in a list: "an induction hob, a gas hob or …"

Words = list[str]


def tag_question(text: str) -> Structure:
    """The structure of a question, or of the title of a topic."""
    written = tokens(_IDIOMS.sub(" ", text))[:MOST_WORDS]
    words = [word.lower() for word in written]
    ways: Iterable[Callable[[Words, Words], list[str]]] = (_pair, _versus, _than, _instead, _differ, _or)
    found = next((objects for way in ways if len(objects := [*filter(None, way(written, words))]) > 1), [])
    return Structure(tuple(dict.fromkeys(found)), aspects_of(written, found), predicates_of(written))


def _pair(written: Words, words: Words) -> list[str]:
    """The difference between X and Y; compare X and Y, X with Y."""
    if not _WORDS_OF_PAIRS & set(words):
        return []
    for start, word in enumerate(words):
        if word in _OF_PAIRS:
            for middle in range(start + 2, len(words)):
                joined = words[middle] == "and" or (words[middle] in ("with", "to", "or") and "compar" in word)
                if joined:
                    return [*_listed(written, words, start + 1, middle), _right(written, words, middle + 1)]
    return []


def _versus(written: Words, words: Words) -> list[str]:
    """X vs Y, and further ones."""
    places = [place for place, word in enumerate(words) if word in ("vs", "versus", "v")]
    if not places:
        return []
    return [_left(written, words, places[0]), *(_right(written, words, place + 1) for place in places)]


def _than(written: Words, words: Words) -> list[str]:
    """Is X better than Y, does X have more of it than Y."""
    if "than" not in words:
        return []
    than = words.index("than")
    degree = next((place for place in range(than - 1, -1, -1) if is_comparative(words, place)), None)
    if degree is None or words[than - 1] == "rather":
        return []
    while degree and words[degree - 1] in {"more", "less"}:
        degree -= 1
    start = _behind_opening(words, degree)
    asked = words[start - 1] if start else ""
    end = next((at for at in range(start + 1, degree) if words[at] in AUXILIARIES | ADVERBS), degree)
    if asked in {"do", "does", "did", "will", "can", "would"} and end == degree and end - start > 1:
        end -= 1  # the verb: do apples have more, do mice live longer
    return [_clean(written[start:end]), _right(written, words, than + 1)]


def _instead(written: Words, words: Words) -> list[str]:
    """Choose X over Y, X instead of Y, X rather than Y, advantages of X over Y, X compared to Y."""
    for place, word in enumerate(words):
        behind = words[place + 1 : place + 2]
        width = 1 if word == "over" else 2 if (word, *behind) in _INSTEAD else 0
        if not width:
            continue
        if word == "compared":
            return [_left(written, words, place), _right(written, words, place + width)]
        start = max((at for at in range(place) if words[at] in CHOICE_VERBS or _is_gain(words, at)), default=None)
        if start is not None and start + 1 < place:
            return [_clean(written[start + 1 : place]), _right(written, words, place + width)]
    return []


_INSTEAD = {("instead", "of"), ("rather", "than"), ("compared", "to"), ("compared", "with")}


def _is_gain(words: Words, place: int) -> bool:
    gains = {"advantage", "advantages", "benefit", "benefits", "pros"}
    return place > 0 and words[place] == "of" and words[place - 1] in gains


def _differ(written: Words, words: Words) -> list[str]:
    """How does X differ from Y, how is X different from Y."""
    for place in range(1, len(words) - 1):
        if words[place] in ("differ", "different", "differs") and words[place + 1] in ("from", "to", "than"):
            return [_left(written, words, place), _right(written, words, place + 2)]
    return []


def _or(written: Words, words: Words) -> list[str]:
    """X or Y, and X, Y or Z, where the question is which of them."""
    for place, word in enumerate(words):
        if word != "or" or not 0 < place < len(words) - 1:
            continue
        before = words[_clause_start(words, place) : place]
        if not _asks_which(words, place) or set(before) & (SUBORDINATORS - {"that", "who"}):
            continue
        start = _clause_start(words, place)
        verb = _verb(words, start, place)
        first = words[place + 1] if words[place + 1] != "to" else words[place + 2 : place + 3]
        if verb is not None and (verb + 1 == place or first in ACTIONS):  # actions: rent or buy a house
            end = next((at for at in range(verb, place) if words[at] == "that"), place)
            return [_clean(written[verb:end]), _right(written, words, place + 1, action=True)]
        start = start if verb is None else verb + 1
        return [*_listed(written, words, start, place), _right(written, words, place + 1)]
    return []


def _asks_which(words: Words, place: int) -> bool:
    """Whether the question with "or" at this position asks for a choice, not whether something is true of both."""
    if any(compares(words, at) for at in range(len(words))) or {"should", "which", "prefer", "choose"} & set(words):
        return True
    if not (AUXILIARIES | QUESTION_WORDS) & set(words):
        return True  # tea or coffee?
    return "need" in words[:place] and bool(PRONOUNS & set(words[: words.index("need")]))


def _verb(words: Words, start: int, end: int) -> int | None:
    """The position of the verb after "should I", "is it better to", "do I need"; None without such an opening."""
    for at in range(start, end):
        if words[at] == "to" and at > start and at + 1 < end:
            return at + 1
        if words[at] == "should" and at + 2 < end:
            return at + (3 if words[at + 1] in ARTICLES | {"my", "our", "your"} else 2)
        if words[at] == "need" and at > start:
            return at
    return None


def _clause_start(words: Words, place: int) -> int:
    """The start of the part between punctuation marks around a position; a comma in a list does not divide."""
    start = place
    while start and not is_sign(words[start - 1]):
        start -= 1
    while start and words[start - 1] == "," and (earlier := _item_before(words, start - 1)) is not None:
        start = earlier
    return start


def _item_before(words: Words, comma: int) -> int | None:
    """The start of the list item before the comma; None if that part is not an item but the question itself."""
    start = comma
    while start and not is_sign(words[start - 1]):
        start -= 1
    item = words[_behind_opening(words, comma, start) : comma]
    odd = PREPOSITIONS | SUBORDINATORS | QUESTION_WORDS | AUXILIARIES | {"it"}
    fits = 0 < len(item) <= LONGEST_ITEM and not odd & set(item)
    return start if fits and not any(compares(words, at) for at in range(start, comma)) else None


def _behind_opening(words: Words, end: int, start: int = 0) -> int:
    """The start of the subject of the question: after "is", "why is", "do", "is it true that"."""
    if "that" in words[start:end] and words[start : start + 2] == ["is", "it"]:
        return words.index("that", start) + 1
    at = start
    while at < end and (words[at] in QUESTION_WORDS | AUXILIARIES or is_sign(words[at])):
        at += 1
    return at


def _listed(written: Words, words: Words, start: int, end: int) -> list[str]:
    """The comma-separated items between two positions."""
    items, begun = [], _behind_opening(words, end, start)
    for at in range(begun, end + 1):
        if at == end or words[at] == ",":
            items.append(_clean(written[begun:at]))
            begun = at + 1
    return [item for item in items if item]


def _left(written: Words, words: Words, end: int) -> str:
    """The object that ends before a position."""
    start = _clause_start(words, end)
    return _clean(written[_behind_opening(words, end, start) : end])


def _right(written: Words, words: Words, start: int, action: bool = False) -> str:
    """The object that begins at a position; for an action, including what follows a preposition."""
    while start < len(words) and words[start] in ARTICLES | {"to"}:
        start += 1
    action = action or any(len(word) > 5 and word.endswith("ing") for word in words[start : start + 1])
    stops = SUBORDINATORS | QUESTION_WORDS | AUXILIARIES | {"or", "and", "vs", "versus"}
    if not action:
        stops = stops | PREPOSITIONS | ADVERBS
    end = start
    while end < len(words) and not is_sign(words[end]):
        if end > start and (words[end] in stops or (compares(words, end) and not action)):
            break
        end += 1
    return _clean(written[start:end])


def _clean(part: Words) -> str:
    """The words of an object without leading articles and adverbs."""
    first = 0
    while first < len(part) and part[first].lower() in ARTICLES | {"to", "both", "either"}:
        first += 1
    return " ".join(part[first:])
