"""Generated training queries, written by a model for documents of another dataset; nothing is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ranktrial.common.keys import Count, Prompt
from ranktrial.datasets.formats import Format, Mistake

NAME = "generated"
PROMPT = (
    "Write one short search query that the following document answers. Answer with the query alone.\n\n"
    "Document: {document}\n\nQuery:"
)


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The model, and the queries that it writes."""

    generator: Annotated[str, "the model that writes queries, of type query-generator or query-generator-endpoint"]
    sampled_documents: Annotated[
        Literal["all"] | Count,
        "number of documents of `corpus` for which queries are written, a sample drawn by the seed",
    ] = 1000
    queries_per_document: Annotated[Count, "number of queries written per document"] = 3
    prompt: Annotated[
        Prompt | None, "prompt of the model; {document} stands for the document; default: one that asks for one query"
    ] = None


def _mistake(entry: Any) -> Mistake | None:
    if entry.corpus is None:
        return Mistake("corpus", "is needed: the dataset for whose documents queries are written")
    if entry.prompt is not None and "{document}" not in entry.prompt:
        return Mistake("prompt", "has no {document}, for which each document is put")
    return None


MEANINGS = {"format": "training queries that a model writes for the documents of `corpus`"}
FORMAT = Format(
    location="nothing: a model (`generator`) writes training queries for the documents of `corpus`",
    splits=lambda entry: {"train"},
    mistake=_mistake,
    generated=True,
)
