"""TREC collections: documents, topics and qrels in the forms in which tracks distribute them.

The configuration names the files inside the location (documents, topics, qrels). `_trec_documents` and `_trec_topics`
list the known forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.common.errors import UserError
from ranktrial.common.keys import Rule
from ranktrial.common.paths import why_not_below
from ranktrial.common.reading import ENCODINGS, UTF_8, WrongEncoding, why_no_encoding
from ranktrial.datasets.formats import (
    Collection,
    FilesOfSplits,
    Format,
    Found,
    Mistake,
    file_in,
    judged_queries,
    outside,
    same_file_twice,
    unjudged_queries,
    with_texts,
)
from ranktrial.datasets.formats._judgements import BY_SUBTOPIC, JUDGEMENTS, read_by_subtopic, read_judgements
from ranktrial.datasets.formats._trec_documents import EXPECTED, read_documents
from ranktrial.datasets.formats._trec_topics import FIELDS, read_topics
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Qrels, Subtopics, over_subtopics, shown


def mistake(entry: Options) -> Mistake | None:
    """Topics and qrels of different splits, a file outside the location or of two splits, or an unknown encoding."""
    topics, qrels = entry.topics, entry.qrels
    if set(topics) - {"train"} != set(qrels) - {"train"} or not set(qrels) <= set(topics):
        return Mistake("topics", "topics and qrels must name the same splits; train alone may lack qrels")
    for pattern in entry.documents:
        if reason := why_no_pattern(pattern):
            expected = "expected file names or patterns below the location, such as docs/*.jsonl"
            return Mistake("documents", f"{pattern!r} {reason}; {expected}")
    if reason := why_no_encoding(entry.encoding):
        return Mistake("encoding", reason)
    return outside("topics", topics) or outside("qrels", qrels) or same_file_twice("qrels", qrels)


def why_no_pattern(pattern: str) -> str | None:
    """Why a pattern cannot name files below a folder; None if it can."""
    if reason := why_not_below(pattern):
        return reason
    if any("**" in part and part != "**" for part in pattern.split("/")):
        return "is not a pattern: ** stands alone between two /"
    if pattern.endswith("**"):
        return "names folders, not files"
    return None


NAME = "trec"


@dataclass(frozen=True)
class Options:
    """The files inside the location, the field of the query, and the encoding of documents."""

    documents: Annotated[
        list[str],
        "file names or patterns inside the location (TREC markup; JSON Lines; tab-separated columns as in MS "
        "MARCO's collection.tsv or msmarco-docs.tsv)",
        Rule(min_items=1),
    ]
    topics: Annotated[
        FilesOfSplits,
        "one topics file per split (TREC topics in markup or XML, JSON Lines, id:text, or two tab-separated "
        "columns, query id and text; for Touché its XML)",
    ]
    qrels: Annotated[FilesOfSplits, JUDGEMENTS]
    subtopics: Annotated[bool, BY_SUBTOPIC] = False
    topic_field: Annotated[
        str,
        "the topic field used as the query; title is also called query, and the topic's own text if it has no fields",
        Rule(
            title=f"{', '.join(FIELDS)} or the name of another field of the topics",
            pattern="^[A-Za-z][A-Za-z0-9_-]{0,40}$",
        ),
    ] = "title"
    encoding: Annotated[
        str,
        f"the encoding of documents, and of topics that are not UTF-8, such as {', '.join(ENCODINGS)}",
        Rule(title=f"an encoding of texts, such as {', '.join(ENCODINGS)}", min_length=1, max_length=40),
    ] = UTF_8


Keys = Options
FORMAT = Format(
    location=(
        "documents (TREC markup, JSON lines or MS MARCO's columns), topics (TREC, XML, JSON lines, `id:text` or two "
        "columns), qrels; file names in `documents`, `topics`, `qrels`; see docs/datasets.md"
    ),
    splits=lambda entry: set(entry.qrels),
    unjudged=lambda entry: "train" in set(entry.topics) - set(entry.qrels),
    judgements="qrels",
    mistake=mistake,
)


def read(root: Path, options: Options) -> Collection:
    """Read the files that the options name, below `root`. Raises UserError with file and line."""
    return collection(
        root, options, lambda topics, qrels: read_topics(topics, options.topic_field, qrels, options.encoding)
    )


def collection(root: Path, options: Options, texts_of: Callable[[Path, Qrels], dict[str, str]]) -> Collection:
    """The collection of these files; `texts_of` reads a file of topics, whose judgements are given."""
    queries: dict[str, dict[str, str]] = {}
    qrels: dict[str, Qrels] = {}
    unjudged: dict[str, dict[str, str]] = {}
    subtopics: dict[str, Subtopics] = {}
    for split, name in options.topics.items():
        topics = file_in(root, name, f"topics.{split}")
        judged = file_in(root, options.qrels[split], f"qrels.{split}") if split in options.qrels else None
        if judged and options.subtopics:
            subtopics[split] = read_by_subtopic(judged)
            qrels[split] = over_subtopics(subtopics[split])
        else:
            qrels[split] = read_judgements(judged) if judged else {}
        texts = texts_of(topics, qrels[split])
        queries[split] = judged_queries(texts, qrels[split], str(judged)) if judged else {}
        unjudged[split] = unjudged_queries(texts, qrels[split])
    documents = documents_in(root, options.documents, options.encoding)
    of_train, of_test = (unjudged.get(split, {}) for split in ("train", "test"))
    return Collection(documents, queries, qrels, of_train, subtopics=subtopics, unjudged_test=of_test)


def documents_in(root: Path, patterns: list[str], encoding: str) -> Iterator[Document]:
    """The documents of the files that the patterns match below `root`, in the order of the files' names.

    Raises UserError at once for a pattern that matches no file.
    """
    files = sorted({path for pattern in patterns for path in matching(root, pattern)})
    found = (document for path in files for document in _decoded(read_documents(path, encoding)))
    return with_texts(found, str(files[0] if len(files) == 1 else root), EXPECTED)


def _decoded(found: Iterator[Found]) -> Iterator[Found]:
    """The documents; the error for text in another encoding names the key that states it."""
    try:
        yield from found
    except WrongEncoding as error:
        raise UserError(f"{error}{error.remedy}") from None


def matching(root: Path, pattern: str) -> list[Path]:
    """The files that a pattern of `documents` matches below `root`; links in a user's own folder are followed.

    Raises UserError for a pattern that is invalid, leads outside the location or matches no file.
    """
    place = f"documents: {shown(pattern)}"
    if reason := why_not_below(pattern):
        raise UserError(f"{place} {reason}; expected a file name or pattern below the location")
    try:
        matches = list(root.glob(pattern))
    except (ValueError, IndexError, re.error, RecursionError) as error:
        raise UserError(f"{place} is not a pattern: {error}") from None
    files = [path for path in matches if not path.is_dir()]
    if not files:
        why = "matches no file but folders: name their files, such as folder/*" if matches else "matches no file"
        raise UserError(f"{place} {why}")
    return files
