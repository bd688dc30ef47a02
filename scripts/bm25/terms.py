"""Terms for the features of learning to rank: their frequencies in all documents, and those of the queries.

Reads a Lucene index; writes a folder of term counts (see ranktrial/ir/term_counts.py), whole or not at all. Each
posting is read once and written in blocks, so memory does not grow with the number of postings. Of prepared queries, it
writes a JSON object: query id -> list of terms after analysis, in their order, as searching with this analyser takes
them.
"""

from __future__ import annotations

import json
import sys
from array import array
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from ranktrial.bm25.lucene import contents, java_class, make_analyzer, open_directory, with_java_errors
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, write_json
from ranktrial.common.progress import Progress
from ranktrial.ir.collection import Document, read_queries
from ranktrial.ir.term_counts import STATISTICS, write_names

BLOCK = 4_000_000  # postings held in memory before they are written
NO_MORE_DOCS = 2**31 - 1  # Lucene's end of a list of postings
FREQUENCIES = 8  # Lucene's PostingsEnum.FREQS: no positions


@dataclass(frozen=True)
class Settings:
    analyzer: Annotated[str, "the index's analyser: english, standard or the code of a language"]
    fields: Annotated[Literal["together", "best"], "the index's fields: title and text as one, or apart"]


def open_reader(index: Path):
    """Lucene's reader of an index. Raises UserError if the index is not complete."""
    reader = open_directory(index)  # starts Java, which an import of its bridge would start without Pyserini's classes
    from jnius import cast

    return cast("org.apache.lucene.index.IndexReader", reader)


def document_ids(reader) -> list[str]:
    """The ids of all documents, in Lucene's order."""
    searcher = java_class("org.apache.lucene.search.IndexSearcher")(reader)
    everything = java_class("org.apache.lucene.search.MatchAllDocsQuery")()
    found = java_class("io.anserini.search.ScoredDocs").fromTopDocs(
        searcher.search(everything, reader.maxDoc()), searcher
    )
    order = np.argsort(np.asarray(found.lucene_docids))
    return [found_id for found_id in np.asarray(found.docids, dtype=object)[order]]


class Counter:
    """Writes the entries of one field's terms, in blocks; `row_of` gives the row of each of Lucene's documents."""

    def __init__(self, folder: Path, entries: int, row_of: np.ndarray) -> None:
        self.row_of, self.written = row_of, 0
        self.documents, self.counts = array("i"), array("i")
        self.starts: list[int] = [0]
        self.lengths = np.zeros(len(row_of), dtype=np.int64)
        self.files = [
            np.lib.format.open_memmap(folder / f"{part}.npy", mode="w+", dtype=np.int32, shape=(entries,))
            for part in ("documents", "counts")
        ]

    def end_term(self) -> None:
        """Mark that all entries of a term were added."""
        self.starts.append(self.written + len(self.documents))
        if len(self.documents) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        """Write the entries in memory, those of each term in the order of the rows."""
        rows = self.row_of[np.frombuffer(self.documents, dtype=np.int32)]
        counts = np.frombuffer(self.counts, dtype=np.int32)
        positions = np.arange(self.written, self.written + len(rows))
        order = np.lexsort((rows, np.searchsorted(self.starts, positions, side="right")))
        for file, values in zip(self.files, (rows, counts), strict=True):
            file[self.written : self.written + len(rows)] = values[order]
        self.lengths += np.bincount(rows, weights=counts, minlength=len(self.lengths)).astype(np.int64)
        self.written += len(rows)
        self.documents, self.counts = array("i"), array("i")


def count_field(reader, field: str, folder: Path, row_of: np.ndarray) -> int:
    """Write the counts of a field's terms and return the number of terms; nothing is written if it is 0."""
    terms = java_class("org.apache.lucene.index.MultiTerms").getTerms(reader, field)
    if terms is None or not terms.getSumDocFreq():
        return 0
    folder.mkdir()
    counter = Counter(folder, terms.getSumDocFreq(), row_of)
    progress = Progress(f"counted of {field}", terms.getSumDocFreq(), "posting")
    iterator, names = terms.iterator(), []
    while (term := iterator.next()) is not None:
        names.append(term.utf8ToString())
        postings = iterator.postings(None, FREQUENCIES)
        next_document, frequency = postings.nextDoc, postings.freq
        before = len(counter.documents)
        while (document := next_document()) != NO_MORE_DOCS:
            counter.documents.append(document)
            counter.counts.append(frequency())
        progress.add(len(counter.documents) - before)
        counter.end_term()
    counter.flush()
    for file in counter.files:
        file.flush()
    if counter.lengths.sum() != terms.getSumTotalTermFreq():
        raise UserError(f"{folder}: {counter.lengths.sum()} tokens, but the index has {terms.getSumTotalTermFreq()}")
    write_names(folder / "terms.txt", names)
    np.save(folder / "starts.npy", np.asarray(counter.starts, dtype=np.int64))
    np.save(folder / "lengths.npy", counter.lengths)
    return len(names)


def count(index: Path, folder: Path, settings: Settings) -> dict:
    """Write the term counts of an index into `folder`; return its statistics. Raises UserError."""
    reader = open_reader(index)
    ids = document_ids(reader)
    by_id = sorted(range(len(ids)), key=lambda row: ids[row].encode())
    row_of = np.empty(len(ids), dtype=np.int32)
    row_of[by_id] = np.arange(len(ids), dtype=np.int32)
    with atomic_folder(folder) as temporary:
        write_names(temporary / "documents.txt", [ids[row] for row in by_id])
        names = contents(Document("", "", ""), settings.fields)
        terms = {name: count_field(reader, name, temporary / name, row_of) for name in names}
        statistics = {**asdict(settings), "documents": len(ids)}
        statistics["fields_with_terms"] = [name for name in names if terms[name]]
        (temporary / STATISTICS).write_text(json.dumps(statistics, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return statistics


@with_java_errors
def count_terms(index: Path, terms: Path, settings: Settings) -> None:
    """Read the term frequencies of all documents from an index, for the features of learning to rank."""
    statistics = count(index, terms, settings)
    print(f"{index}: counted the terms of {statistics['documents']} documents", file=sys.stderr)


def analysed(queries: dict[str, str], analyzer: str) -> dict[str, list[str]]:
    """The terms of each query."""
    java, tools = make_analyzer(analyzer), java_class("io.anserini.analysis.AnalyzerUtils")
    return {query: list(tools.analyze(java, text)) for query, text in queries.items()}


@with_java_errors
def analyse_queries(
    queries: Path, terms: Path,
    analyzer: Annotated[str, "english stems and drops stop words, standard does neither; or the code of a language"],
    lucene: Annotated[int | None, "the major version, where terms depend on it: another one analyses again"] = None,
) -> None:  # fmt: skip
    """Write the terms of each query after analysis by an index's analyser, in their order."""
    text_of = read_queries(queries)
    if not text_of:
        raise UserError(f"{queries}: no query to analyse; the dataset lacks this split")
    write_json(terms, analysed(text_of, analyzer), ensure_ascii=False, indent=1)


if __name__ == "__main__":
    job(count_terms, analyse_queries)
