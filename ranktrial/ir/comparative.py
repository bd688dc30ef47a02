"""Comparative questions: what they compare, and whether a document compares it. Rules only, nothing is learnt.

The structures are those of Chekalina et al. (2021), "Which is better for deep learning: Python or MATLAB?" (EACL,
demonstrations): objects that are compared, the aspects of the comparison, and comparing predicates. A tagger finds them
in a text. The taggers here use rules, one for questions and one for documents; a model that labels tokens can replace
either, as a function of the same type.

English only. A predicate is a comparative or superlative with its degree word: better, more efficient, cheapest. An
aspect is what follows "for" or "in terms of", and the noun after more, less, better or worse: more sugar, a better
camera.

Questions: "X or Y", "X vs Y", "is X better than Y", "difference between X and Y". An object is what the question names,
without article: in "is green or black tea healthier", green and black tea. An action is an object with its complements:
in "should I rent or buy a house", rent and buy a house. Each function is one form of comparison; the first that finds
two or more objects is used. If none does, there are no objects.

Documents: the aspects and predicates of their comparative sentences. A sentence is comparative if it has a comparative
(better, more efficient), versus, or compared to. A bare more or less ("more information") counts only if "than"
follows. Objects are not searched for, since it matters only whether the document names those of the question.

Features of a question and a document are those of Chekalina and Panchenko (2021), section 4.1.2, "Retrieving
Comparative Arguments using Ensemble Methods and BERT", CLEF 2021, CEUR-WS 2936, paper 211. Their names:

- objs_score, here `objects`: the number of the query's objects that are in the document, 0, 1 or 2;
- asp_pred_score, here `aspects_and_predicates`: 0.5 for every word of the document that is labelled aspect or
  predicate, if the document has at least one object of the query; 0 otherwise. (The paper says that each such word
  "increases the score to 0.5"; this is read as counting words after the first as well.)
- is_retrieved, here `has_structure`: 1 if there is any comparative structure in the document, of whatever objects.

The paper labels with a trained model; here any tagger can be used, by default the rules of this module.

A file of structures has one text of a query or document per line, as JSON: a line has `kind` (query or document), `id`,
and the lists `objects`, `aspects` and `predicates`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text, lines


class Structure(NamedTuple):
    """The comparison in a text: objects, aspects, predicates, as written, in the order of the text."""

    objects: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()


Tagger = Callable[[str], Structure]


_TOKEN = re.compile(r"[^\W_](?:[\w'\u2019&+#./-]*[\w+#])?|[,:;?!()]")

# Comparatives whose superlative ends in -est, regular and irregular ones.
_SHORT = """
    bigger smaller larger faster slower quicker cheaper dearer safer riskier stronger weaker harder softer easier
    simpler healthier tastier warmer colder hotter cooler lighter heavier longer shorter taller higher lower deeper
    wider thicker thinner brighter darker louder quieter cleaner dirtier greener smarter wiser older younger newer
    richer poorer nicer prettier uglier happier sadder friendlier kinder tougher smoother sharper rarer closer nearer
    fairer finer fresher sweeter drier wetter busier noisier sturdier costlier pricier braver
    calmer gentler greater broader narrower steeper purer stricter fuller emptier lazier scarier funnier deadlier
"""
COMPARATIVES = {"better", "worse", "farther", "lesser", *_SHORT.split()}
SUPERLATIVES = {"best", "worst", "farthest"} | {f"{word[:-2]}est" for word in _SHORT.split()}
DEGREES = {"more", "less", "fewer"}  # of what follows: more efficient, less sugar
HIGHEST_DEGREES = {"most", "least", "fewest"}

ARTICLES = {"a", "an", "the"}
PRONOUNS = {"i", "we", "you", "he", "she", "it", "they", "one", "someone", "people"}
QUESTION_WORDS = {"which", "what", "who", "whom", "whose", "why", "how", "where", "when", "whether"}
AUXILIARIES = {
    "is", "are", "was", "were", "be", "am", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would",
    "should", "shall", "may", "might", "must",
}  # fmt: skip
PREPOSITIONS = {
    "for", "in", "on", "at", "with", "without", "during", "after", "before", "to", "as", "from", "under", "into", "by",
    "of", "about", "regarding", "concerning", "over", "per", "among", "than", "until", "against", "via",
}  # fmt: skip
SUBORDINATORS = {"if", "when", "while", "because", "since", "although", "that", "who", "where", "unless"}
ADVERBS = {
    "really", "actually", "much", "far", "even", "always", "still", "generally", "usually", "not", "no", "any",
    "significantly", "considerably", "slightly", "truly", "necessarily", "overall", "first", "now", "today",
}  # fmt: skip
CHOICE_VERBS = {"choose", "pick", "prefer", "use", "buy", "take", "get", "select", "favour", "favor", "recommend"}
# Verbs that often begin an action; words that are also nouns ("plan") are better left out.
ACTIONS = CHOICE_VERBS | {
    "rent", "lease", "stay", "wait", "go", "leave", "move", "keep", "sell", "put", "pay", "save", "invest", "spend",
    "learn", "study", "eat", "drink", "cook", "make", "build", "repair", "replace", "drive", "fly", "walk", "run",
    "read", "write", "tell", "ask", "hire", "do", "be", "have", "give", "try", "start", "stop", "adopt", "become",
    "apply", "live", "work", "visit", "wear", "add", "install", "join", "quit", "continue", "return", "throw", "let",
}  # fmt: skip


def tokens(text: str) -> list[str]:
    """The words of a text, in their own case, and its punctuation marks."""
    return _TOKEN.findall(text)


def is_sign(token: str) -> bool:
    """Whether a token is a punctuation mark, not a word."""
    return token in ",:;?!()"


def is_comparative(words: list[str], place: int) -> bool:
    """Whether the (lower-case) word is a comparative: better, more efficient, or any word in -er before "than"."""
    word = words[place]
    if word in COMPARATIVES or word in DEGREES:
        return True
    return len(word) > 4 and word.endswith("er") and words[place + 1 : place + 2] == ["than"]


def is_superlative(words: list[str], place: int) -> bool:
    """Whether the (lower-case) word is a superlative: best, cheapest, most efficient."""
    return words[place] in SUPERLATIVES or words[place] in HIGHEST_DEGREES


def compares(words: list[str], place: int) -> bool:
    """Whether the (lower-case) word is a comparative or a superlative."""
    return is_comparative(words, place) or is_superlative(words, place)


_NO_ASPECT = PREPOSITIONS | ADVERBS | ARTICLES | AUXILIARIES | PRONOUNS | QUESTION_WORDS | SUBORDINATORS | {"or", "and"}
_ADJECTIVES = ("ive", "ous", "ful", "ent", "ant", "able", "ible", "al", "ic", "less", "ing", "ed", "ular", "ly", "some")
LONGEST = 3  # words of an aspect


def predicates_of(written: list[str]) -> tuple[str, ...]:
    """The comparing words, with the adjective or adverb after more, less, most or least."""
    words = [word.lower() for word in written]
    found = []
    for at, word in enumerate(words):
        if compares(words, at):
            graded = word in DEGREES | HIGHEST_DEGREES and _is_adjective(words, at + 1)
            found.append(" ".join(written[at : at + 2]) if graded else written[at])
    return tuple(found)


def aspects_of(written: list[str], objects: Iterable[str] = ()) -> tuple[str, ...]:
    """The aspects of the text, without objects and parts of objects."""
    words = [word.lower() for word in written]
    of_objects = {word.lower() for name in objects for word in tokens(name)}
    found = []
    for at, word in enumerate(words):
        start = None
        if word == "for" or words[at : at + 3] == ["in", "terms", "of"]:
            start = at + (1 if word == "for" else 3)
        elif (word in DEGREES and not _is_adjective(words, at + 1)) or word in ("better", "worse", "best", "worst"):
            start = at + 1
        if start is not None and (aspect := _from(written, words, start, of_objects)):
            found.append(aspect)
    return tuple(dict.fromkeys(found))


def _is_adjective(words: list[str], at: int) -> bool:
    """Whether the word at this position has the ending of an adjective or adverb; there is no lexicon."""
    return at < len(words) and len(words[at]) > 4 and words[at].endswith(_ADJECTIVES)


def _from(written: list[str], words: list[str], start: int, of_objects: set[str]) -> str:
    while start < len(words) and words[start] in ARTICLES:
        start += 1
    end = start
    while end < min(len(words), start + LONGEST):
        if is_sign(words[end]) or words[end] in _NO_ASPECT or words[end] in of_objects or compares(words, end):
            break
        end += 1
    return " ".join(written[start:end])


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


_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)|\n")
_COMPARING = re.compile(r"\b(?:versus|vs\.?|compared (?:to|with)|in comparison|as opposed to)(?!\w)", re.IGNORECASE)


def tag_document(text: str) -> Structure:
    """The aspects and predicates of a document's comparative sentences, in order, with repetitions."""
    aspects: list[str] = []
    predicates: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        written = tokens(sentence)
        found = [part for part in predicates_of(written) if _compares(part, sentence)]
        found += _COMPARING.findall(sentence)
        if found:
            predicates += found
            aspects += aspects_of(written)
    return Structure((), tuple(aspects), tuple(predicates))


def _compares(predicate: str, sentence: str) -> bool:
    """Whether a predicate makes its sentence comparative: a superlative does not, a bare degree only before "than"."""
    first, *adjective = predicate.lower().split()
    if first in DEGREES:
        return bool(adjective) or " than " in f" {sentence.lower()} "
    return first in COMPARATIVES or first.endswith("er")


MOST_OBJECTS = 2
A_WORD = 0.5  # added per word labelled aspect or predicate


class Features(NamedTuple):
    """The three features of a pair."""

    objects: int
    aspects_and_predicates: float
    has_structure: int


class ReadDocument(NamedTuple):
    """The parts of a document that features need, computed once for all queries."""

    words: str  # as `normalised` makes them
    structure: Structure


def read_document(text: str, tagger: Tagger = tag_document) -> ReadDocument:
    """A document's words and its comparative structure."""
    return ReadDocument(normalised(text), tagger(text))


def features(question: Structure, document: ReadDocument) -> Features:
    """The features of a tagged question and a document."""
    objects = min(MOST_OBJECTS, len(named(question.objects, document)))
    labelled = [*document.structure.aspects, *document.structure.predicates]
    words = sum(len(part.split()) for part in labelled) if objects else 0
    return Features(objects, A_WORD * words, int(any(document.structure)))


def comparative_features(
    query: str, text: str, of_query: Tagger = tag_question, of_text: Tagger = tag_document
) -> Features:
    """The features of a query and a document's text. For many pairs, tag queries and read documents once."""
    return features(of_query(query), read_document(text, of_text))


def named(objects: tuple[str, ...], document: ReadDocument) -> list[str]:
    """The objects that the document names: all their words, in sequence, in singular or plural."""
    return [name for name in objects if (words := normalised(name)).strip() and words in document.words]


def normalised(text: str) -> str:
    """The words of a text in lower case with a space around each, without articles, punctuation and plural s."""
    words = [word.lower() for word in tokens(text) if not is_sign(word)]
    return " " + "".join(f"{_singular(word)} " for word in words if word not in ARTICLES)


def _singular(word: str) -> str:
    word = word.replace("\u2019", "'").removesuffix("'s")
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return f"{word[:-2]}y" if len(word) > 4 and word.endswith("ie") else word  # berries and berry, cookies and cookie


QUERY, DOCUMENT = "query", "document"


class Tagged(NamedTuple):
    """The structures of a file, by the ids of their texts."""

    path: Path
    queries: dict[str, Structure]
    documents: dict[str, Structure]

    def of_query(self, name: str) -> Structure:
        """A query's structure. Raises UserError if the file has none."""
        return self._of(self.queries, QUERY, name)

    def of_document(self, name: str) -> Structure:
        """A document's structure. Raises UserError if the file has none."""
        return self._of(self.documents, DOCUMENT, name)

    def _of(self, found: dict[str, Structure], kind: str, name: str) -> Structure:
        if name not in found:
            raise UserError(f"{self.path}: has no structure of {kind} {name}; tag the texts again")
        return found[name]


def write_structures(path: Path, tagged: Iterable[tuple[str, str, Structure]]) -> None:
    """Write (kind, id, structure) of each text, atomically."""
    with atomic_text(path) as file:
        for kind, name, structure in tagged:
            record = {"kind": kind, "id": name, **structure._asdict()}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def read_structures(path: Path) -> Tagged:
    """Read a file of structures. Raises UserError, with the line, if it was changed or damaged."""
    found: dict[str, dict[str, Structure]] = {QUERY: {}, DOCUMENT: {}}
    for number, line in lines(path):
        try:
            record = json.loads(line)
            parts = {name: tuple(record[name]) for name in Structure._fields}
            if not all(type(word) is str for words in parts.values() for word in words):
                raise ValueError
            found[record["kind"]][str(record["id"])] = Structure(**parts)
        except (ValueError, TypeError, KeyError):
            wanted = f"kind, id, {', '.join(Structure._fields)}"
            raise UserError(f"{path}:{number}: was changed or damaged: expected a record with {wanted}") from None
    return Tagged(path, found[QUERY], found[DOCUMENT])
