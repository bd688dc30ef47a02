"""Judgements by a language model of the documents that systems rank for another dataset's queries (docs/models.md).

It has no files: a job of the experiment queries an endpoint (scripts/inference/judge.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import Count, FilePath, Length, Needs, Rule
from ranktrial.datasets.formats import Format, Mistake
from ranktrial.models.endpoint_keys import ChatEndpoint

NAME = "judge"
DEPTH, WORDS = 10, 300


@dataclass(frozen=True, kw_only=True)
class Judge:
    """The model that judges, the documents to judge, and the human judgements."""

    endpoint: Annotated[ChatEndpoint, "the language model, called through OpenAI's protocol"]
    of: Annotated[tuple[str, ...], "the systems whose top documents are judged", Rule(min_items=1, unique_items=True)]
    depth: Annotated[Count, "number of top documents per query and run that are judged"] = DEPTH
    fill: Annotated[
        Literal["pool", "holes"],
        "pool: judge all of these documents; holes: judge those without a human judgement, the others keep theirs",
    ] = "pool"
    split: Annotated[Literal["train", "dev", "test"], "the split whose queries are judged"] = "test"
    relevant_from: Annotated[
        int, "the lowest grade (1 to 3) that counts as relevant; lower ones become 0", Rule(minimum=1, maximum=3)
    ] = 1
    max_words: Annotated[Length, "words kept per document"] = WORDS
    humans: Annotated[
        Literal["sample", "chosen"] | None,
        "sample: the queries with human judgements are a random sample that was drawn before results were seen; "
        "chosen: they are not, and probabilities are required; default: the task has no effect in comparisons",
        Needs("judge.fill: pool", "else the model's judgements differ between queries with and without human ones"),
        Needs("judge.probabilities", "chosen queries are not a random sample", of="chosen"),
    ] = None
    human_queries: Annotated[
        Count | None,
        "number of the queries with human judgements that count as judged by humans, a sample drawn by the "
        "experiment's seed; default all",
        Needs("judge.humans: sample"),
    ] = None
    probabilities: Annotated[
        FilePath | None,
        "a file of lines `query <tab> probability`, the probability with which each human-judged query was chosen",
        Needs("judge.humans: chosen"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Keys:
    judge: Annotated[Judge | None, "the language model that judges, and what it judges"] = None


def mistake(entry: Keys) -> Mistake | None:
    """A missing key, or keys that exclude each other."""
    judge = entry.judge
    if judge is None:
        return Mistake("judge", "is missing: the endpoint that is asked, and the systems whose documents are judged")
    if not getattr(entry, "runs_of", None):
        return Mistake("runs_of", "is missing: the dataset whose queries and documents are judged")
    return None


FORMAT = Format(
    location="nothing: a language model judges the runs of the dataset in `runs_of`; see docs/models.md",
    splits=lambda entry: {entry.judge.split} if entry.judge else set(),
    mistake=mistake,
    has_documents=False,
    made_here=True,
)
