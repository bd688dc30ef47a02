"""Queries that are documents: those in the corpus with the same id and nearly the same text.

In ArguAna and Quora, a query is a document of the corpus, which every system finds first. Equal ids alone are not
enough: if both files number their lines, ids coincide by chance. Reads and writes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ranktrial.ir.collection import Document

SHINGLE = 4  # characters
ALIKE = 0.75  # of common shingles; unrelated abstracts of equal length have .16 in the median and at most .42


def alike(query: str, text: str) -> bool:
    """Whether two texts are the same except for case, punctuation and a few words or letters.

    By the Dice coefficient of their character n-grams (shingles; Broder 1997, On the resemblance and containment of
    documents), which needs no words, so that texts may be in any script.
    """
    one, other = _normalised(query), _normalised(text)
    if one == other:
        return bool(one) or query.strip() == text.strip()
    shorter, longer = sorted((len(one), len(other)))
    if shorter < ALIKE / (2 - ALIKE) * longer:  # too few shingles, whichever they are
        return False
    first, second = _shingles(one), _shingles(other)
    return 2 * (first & second).total() >= ALIKE * (first.total() + second.total())


def _normalised(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _shingles(text: str) -> Counter[str]:
    return Counter(text[start : start + SHINGLE] for start in range(max(1, len(text) - SHINGLE + 1)))


class OwnDocuments:
    """Passes documents on, and records which queries of each split have the id of a document.

    `same` are those with nearly the text of the document (its title, its text, or both together), `others` those with
    another text, whose ids coincide by chance.
    """

    def __init__(self, documents: Iterable[Document], queries: Mapping[str, Mapping[str, str]]) -> None:
        self.documents = documents
        self.queries = queries  # split -> query id -> text
        self.same: dict[str, set[str]] = {split: set() for split in queries}
        self.others: dict[str, set[str]] = {split: set() for split in queries}

    def __iter__(self) -> Iterator[Document]:
        for document in self.documents:
            for split, texts in self.queries.items():
                if document.id in texts:
                    query = texts[document.id]
                    its = any(alike(query, text) for text in {document.text, document.contents, document.title})
                    (self.same if its else self.others)[split].add(document.id)
            yield document
