"""Moderators: properties of tasks that may explain differences between effects; reads and writes nothing.

`moderators: [corpus-size]` of a configuration names an entry of MODERATORS. Other properties are given by the user in a
file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ranktrial.ir.trec import Qrels
from ranktrial.records.comparison import EffectsRow

DOCUMENTS, JUDGEMENTS, QRELS, JUDGED = "documents", "judgements", "qrels", "judged"  # data that a task may lack


@dataclass(frozen=True)
class TaskFacts:
    """The data about one task.

    `collection` and `split` are counts of data/{dataset}/statistics.json: of documents, and of the task's queries and
    judgements. `effects` is the task's row of effects/{comparison}.tsv; `trained`: the treatment was trained on the
    task's dataset. Data that the moderators do not need are empty.
    """

    collection: Mapping[str, Any]
    split: Mapping[str, Any]
    qrels: Qrels
    effects: EffectsRow
    trained: bool


@dataclass(frozen=True)
class KnownModerator:
    """A moderator; a categorical one has labels as values, which can make subgroups."""

    description: str  # in the configuration's schema
    label: str  # in figures and tables
    needs: tuple[str, ...]  # of DOCUMENTS, JUDGEMENTS, QRELS and JUDGED
    value: Callable[[TaskFacts], float | str]
    categorical: bool = False


def _judged_gap(facts: TaskFacts) -> float:
    control, treatment = facts.effects.control_judged, facts.effects.treatment_judged
    assert control is not None and treatment is not None  # it needs both
    return treatment - control


def _one_gold_document(facts: TaskFacts) -> float:
    relevant = [sum(grade > 0 for grade in documents.values()) for documents in facts.qrels.values()]
    return relevant.count(1) / len(relevant)


# Sizes and lengths differ by orders of magnitude, hence the logarithms; words are split at white space.
MODERATORS: dict[str, KnownModerator] = {
    "corpus-size": KnownModerator(
        "log10 of the number of documents",
        "Documents (log₁₀)",
        (DOCUMENTS,),
        lambda facts: math.log10(facts.collection["documents"]),
    ),
    "document-length": KnownModerator(
        "log10 of the mean number of words per document",
        "Words per document (log₁₀)",
        (DOCUMENTS,),
        lambda facts: math.log10(facts.collection["mean_document_words"]),
    ),
    "judged-gap": KnownModerator(  # reveals pools that favour one system
        "Judged@k of the treatment minus that of the control: how far judgements favour systems like one of the two",
        "Judged@k, treatment minus control",
        (JUDGED,),
        _judged_gap,
    ),
    "judgements-per-query": KnownModerator(
        "number of judged documents per query",
        "Judged documents per query",
        (JUDGEMENTS,),
        lambda facts: float(facts.split["judgements"] / facts.split["queries"]),
    ),
    "one-gold-document": KnownModerator(
        "share of the queries with exactly one relevant document",
        "Queries with one relevant document (share)",
        (QRELS,),
        _one_gold_document,
    ),
    "query-length": KnownModerator(
        "mean number of words per query",
        "Words per query",
        (DOCUMENTS,),
        lambda facts: float(facts.split["mean_query_words"]),
    ),
    "relevant-per-query": KnownModerator(
        "number of relevant documents per query",
        "Relevant documents per query",
        (JUDGEMENTS,),
        lambda facts: float(facts.split["relevant"] / facts.split["queries"]),
    ),
    "trained": KnownModerator(
        "whether the treatment learnt from the dataset of the task (also by a recipe it starts from) or transfers "
        "to it",
        "Training",
        (),
        lambda facts: "trained on it" if facts.trained else "transfer",
        categorical=True,
    ),
}
