"""Comparative structures of questions and documents: the features of Chekalina and Panchenko (2021), section 4.1.2.

"Retrieving Comparative Arguments using Ensemble Methods and BERT", CLEF 2021, CEUR-WS 2936, paper 211. Structures are
found by the rules of ranktrial/ir/comparative, or read from a file written by a token-classification model. Each
question and each candidate is read once, whatever the number of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranktrial.features.families import of_texts
from ranktrial.ir.comparative import (
    Features,
    ReadDocument,
    Structure,
    features,
    normalised,
    read_document,
    read_structures,
    tag_question,
)

NAME = "comparative"
WITHOUT_TEXT = ReadDocument("", Structure())


class Compared(NamedTuple):
    """The comparative structures of questions and their candidates, by id."""

    questions: dict[str, Structure]
    documents: dict[str, ReadDocument]

    def of_pairs(self, queries: list[str], documents: list[str], value: Callable[[Features], float]) -> np.ndarray:
        """A value for each pair; a document missing from the corpus contains no structure."""
        return np.array(
            [
                value(features(self.questions[query], self.documents.get(document, WITHOUT_TEXT)))
                for query, document in zip(queries, documents, strict=True)
            ],
            dtype=np.float64,
        )


def compared(queries: dict[str, str], documents: Iterable[tuple[str, str]], structures: Path | None) -> Compared:
    """Read questions (id -> text) and documents (id, text): by rules, or with the structures found by a model."""
    if structures is None:
        questions = {name: tag_question(text) for name, text in queries.items()}
        return Compared(questions, {name: read_document(text) for name, text in documents})
    tagged = read_structures(structures)
    questions = {name: tagged.of_query(name) for name in queries}
    return Compared(
        questions, {name: ReadDocument(normalised(text), tagged.of_document(name)) for name, text in documents}
    )


@of_texts("comparative_objects", compared)
def objects(read: Compared, queries: list[str], documents: list[str]) -> np.ndarray:
    """objs_score: the number of the question's objects that the document names: 0, 1 or 2."""
    return read.of_pairs(queries, documents, lambda found: found.objects)


@of_texts("comparative_aspects_and_predicates", compared)
def aspects_and_predicates(read: Compared, queries: list[str], documents: list[str]) -> np.ndarray:
    """asp_pred_score: 0.5 for each word of the document in an aspect or predicate, if it names an object; else 0."""
    return read.of_pairs(queries, documents, lambda found: found.aspects_and_predicates)


@of_texts("comparative_structure", compared)
def structure(read: Compared, queries: list[str], documents: list[str]) -> np.ndarray:
    """is_retrieved: 1 if the document contains any comparative structure, whatever its objects; otherwise 0."""
    return read.of_pairs(queries, documents, lambda found: found.has_structure)
