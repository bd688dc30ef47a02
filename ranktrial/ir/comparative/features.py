"""Features of a comparative question and a document, as in Chekalina and Panchenko (2021), section 4.1.2.

"Retrieving Comparative Arguments using Ensemble Methods and BERT", CLEF 2021, CEUR-WS 2936, paper 211. Their names:

- objs_score, here `objects`: the number of the query's objects that are in the document, 0, 1 or 2;
- asp_pred_score, here `aspects_and_predicates`: 0.5 for every word of the document that is labelled aspect or
  predicate, if the document has at least one object of the query; 0 otherwise. (The paper says that each such word
  "increases the score to 0.5"; this is read as counting words after the first as well.)
- is_retrieved, here `has_structure`: 1 if there is any comparative structure in the document, of whatever objects.

The paper labels with a trained model; here any tagger can be used, by default the rules of this folder.
"""

from __future__ import annotations

from typing import NamedTuple

from ranktrial.ir.comparative import Structure, Tagger
from ranktrial.ir.comparative.document import tag_document
from ranktrial.ir.comparative.question import tag_question
from ranktrial.ir.comparative.words import ARTICLES, is_sign, tokens

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
