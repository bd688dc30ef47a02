"""Retrieve with a model that gives weights to terms, such as SPLADE.

Reads a checkpoint, the corpus with its index, and queries; writes a TREC run of the `depth` documents with the highest
dot product per query, and the timing, with FLOPS: the products that scoring one document takes on average (Paria et al.
2020). The search is exact, a part of the index at a time, so memory does not grow with it. A document that shares no
term with a query is not found, and a query without terms finds none. Documents of equal score are kept and ranked as
trec_eval ranks them: by descending id.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.timing import write_timing
from scripts.inference.retrieve import Settings, search_all
from scripts.inference.term_index import TermIndex, open_index
from scripts.inference.vectors import passage_counts
from scripts.ir.collection import passages_of
from scripts.ir.trec import write_run
from scripts.models.adapters import adapter
from scripts.models.cutting import cutting_encoder
from scripts.models.prompts import load_prompted, prompts_of, told
from scripts.models.running import computed_by

QUERIES = 64  # scored at a time


def search(
    queries: scipy.sparse.csr_array, index: TermIndex, places: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k documents with the highest dot product for each query, as of exact.search; a score of 0: no term in common.

    `queries` has shape (q, terms). Of equal scores, the smaller place stands first.
    """
    import torch

    from scripts.inference.exact import Scoring, merged

    def scorings() -> Iterator[Scoring]:
        for documents in index.blocks():
            by_term = index.rows(documents).T.tocsr()

            def score(rows: slice, by_term: Any = by_term) -> torch.Tensor:
                return torch.from_numpy((queries[rows] @ by_term).toarray())

            yield documents, score

    count = queries.shape[0]
    blocks = [slice(start, min(start + QUERIES, count)) for start in range(0, count, QUERIES)]
    return merged(scorings(), blocks, torch.from_numpy(places), k)


def flops(queries: scipy.sparse.csr_array, index: TermIndex) -> float:
    """The sum over terms of the shares of queries and of documents that have a weight there."""
    of_queries = np.bincount(queries.indices, minlength=index.size) / queries.shape[0]
    return float(of_queries @ (index.frequencies() / index.documents))


def main() -> None:
    names = ("checkpoint", "corpus", "index", "queries", "run", "timing")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    settings: Settings = options.settings
    queries = passages_of(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    ids = list(passage_counts(options.corpus))
    index = open_index(options.index, len(ids), options.checkpoint)
    kind = adapter(settings.type)
    model = load_prompted(kind, options.checkpoint, settings)
    encode = cutting_encoder(kind, model, settings)

    from scripts.inference.exact import precedence

    places = precedence(ids)
    encoded = encode([text for (text,) in queries.values()], settings.batch_size, "query")
    terms = np.diff(encoded.indptr)
    if not terms.any():
        raise UserError(f"{options.checkpoint}: the model gives no query of {options.queries} a term")
    if without := int((terms == 0).sum()):
        print(f"{without} of {len(queries)} queries have no term, so they find nothing", file=sys.stderr)

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        return search(encode([text for (text,) in texts], settings.batch_size, "query"), index, places, settings.depth)

    ranked, facts = search_all(find, queries, ids, settings.batch_size)
    found = {query: {name: score for name, score in scores.items() if score > 0} for query, scores in ranked.items()}
    write_run(options.run, found, settings.tag)
    told_of = told(settings, prompts_of(kind, model))
    facts |= {"terms_per_query": float(terms.mean()), "queries_without_terms": without, "flops": flops(encoded, index)}
    write_timing(options.timing, **facts, **computed_by(kind, model), **told_of)


if __name__ == "__main__":
    run(main)
