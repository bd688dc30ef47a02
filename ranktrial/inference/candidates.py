"""The candidates of re-ranking: the documents of a first stage's run, and their texts."""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import passages_of
from ranktrial.ir.trec import Run, top

Candidates = dict[str, list[str]]  # query id -> document ids
Passages = dict[str, list[str]]  # id of a query or document -> its passages, or its one text


def candidates(first_stage: Run, queries: Passages, depth: int) -> Candidates:
    """The documents to score: the first `depth` per query, in the queries' order; a query without any is left out."""
    return {query: list(top(first_stage[query], depth)) for query in queries if first_stage.get(query)}


def read_documents(corpus: Path, wanted: Candidates, run_file: Path) -> Passages:
    """The texts of the candidates. Raises UserError if the run has a document that the corpus lacks."""
    needed = {document for documents in wanted.values() for document in documents}
    texts = passages_of(corpus, needed)
    missing = sorted(needed - texts.keys())
    if missing:
        raise UserError(
            f"{run_file}: {len(missing)} of its documents are not in {corpus}, such as {missing[0]}; "
            "the run belongs to another corpus"
        )
    return texts
