"""NFCorpus as its authors release it (Boteva et al. 2016): per split .docs, .titles.queries and .3-2-1.qrel.

The text of a document is that of the .docs files: in lower case, without stop words, without a title of its own, `num`
for each number. A query is a page's title. Documents that the page links are graded 2, those that a linked page links
1, and those of the same topic, which the authors call marginally relevant, 0; as in BEIR, these are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from ranktrial.common.errors import UserError
from ranktrial.common.keys import Rule
from ranktrial.common.reading import UTF_8
from ranktrial.common.unpacking import only_folder_with
from ranktrial.datasets.formats import Collection, Format, judged_queries
from ranktrial.datasets.formats._judgements import read_judgements
from ranktrial.datasets.formats._trec_documents import read_documents
from ranktrial.datasets.formats._trec_topics import read_topics
from ranktrial.ir.collection import SPLITS, Document
from ranktrial.ir.trec import Qrels

NAME = "nfcorpus"
FORMAT = Format(
    location="NFCorpus, as released by its authors: `train.docs`, `train.titles.queries`, `train.3-2-1.qrel` …",
    splits=lambda entry: set(SPLITS),
)


@dataclass(frozen=True)
class Options:
    """The files of documents."""

    documents_of: Annotated[
        list[Literal["train", "dev", "test"]],
        "the splits whose .docs files are the collection; judgements of other documents are left out",
        Rule(min_items=1),
    ] = field(default_factory=lambda: list(SPLITS))


Keys = Options


def read(root: Path, options: Options) -> Collection:
    """Read the release (found anywhere below `root`). Raises UserError with file and line."""
    folder = only_folder_with(root, f"{options.documents_of[0]}.docs")
    documents: dict[str, Document] = {}
    for split in options.documents_of:
        path = folder / f"{split}.docs"
        for found in read_documents(path, UTF_8):
            document = found.document
            if documents.setdefault(document.id, document) != document:
                raise UserError(f"{path}: document {document.id} has another text than in a file before")
    queries, qrels = {}, {}
    for split in SPLITS:
        judged = folder / f"{split}.3-2-1.qrel"
        qrels[split] = graded(read_judgements(judged), documents)
        texts = read_topics(folder / f"{split}.titles.queries", "title", qrels[split])
        queries[split] = judged_queries(texts, qrels[split], str(judged))
    return Collection(list(documents.values()), queries, qrels)


def graded(printed: Qrels, documents: dict[str, Document]) -> Qrels:
    """The judgements of these documents with grades from 1, and the queries that have any."""
    kept = {
        query: {document: grade - 1 for document, grade in of_query.items() if grade > 1 and document in documents}
        for query, of_query in printed.items()
    }
    return {query: of_query for query, of_query in kept.items() if of_query}
