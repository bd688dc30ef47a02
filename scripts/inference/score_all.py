"""Score every pair of a query and a document with a cross-encoder, without a first stage.

Reads a checkpoint, the corpus and queries (or the passages of both); writes a TREC run of the `depth` documents with
the highest logits a query, and the timing. The corpus is read anew for each query and only the best documents are kept,
so memory does not grow with it; reading is left out of the times.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from pathlib import Path

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.progress import Progress
from scripts.common.timing import clock, latency, write_timing
from scripts.inference.pairs import Scorer, aggregated, chunks, load_scorer, passage_pairs
from scripts.inference.vectors import passage_counts
from scripts.ir.collection import passages_of, read_texts
from scripts.ir.trec import Run, top, write_run


def read_documents(corpus: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (document id, its passages) of a corpus or of its file of passages, in its order."""
    for name, lines in groupby(read_texts(corpus), key=lambda line: line[0]):
        yield name, [text for _, text in lines]


def best_documents(score: Callable, query: list[str], corpus: Path, depth: int, done: Callable) -> tuple[dict, float]:
    """The `depth` documents with the highest scores for a query (in trec_eval's order), and the seconds of scoring.

    `done` is told how many pairs of passages each chunk had.
    """
    best: dict[str, float] = {}
    seconds = 0.0
    for chunk in chunks((name, (query, document)) for name, document in read_documents(corpus)):
        start = clock()
        scores = aggregated(score, [passages for _, passages in chunk])
        seconds += clock() - start
        best = top(best | dict(zip((name for name, _ in chunk), scores, strict=True)), depth)
        done(passage_pairs(chunk))
    return best, seconds


def rank_all(scorer: Scorer, queries: dict[str, list[str]], corpus: Path, depth: int, pairs: int) -> tuple[Run, list]:
    """The run of all queries and the seconds of each; `pairs` is how many pairs of passages there are."""
    progress = Progress("scored", pairs, "pair")
    ranked: Run = {}
    seconds = []
    for query, passages in queries.items():
        ranked[query], one = best_documents(scorer.score, passages, corpus, depth, progress.add)
        seconds.append(one)
    return ranked, seconds


def main() -> None:
    options = parser(__doc__, "checkpoint", "corpus", "queries", "run", "timing").parse_args()
    settings = options.settings
    queries, counts = passages_of(options.queries), passage_counts(options.corpus)
    if not queries or not counts:
        raise UserError(f"{options.corpus if queries else options.queries}: empty, so there is nothing to score")
    scorer = load_scorer(options.checkpoint, settings)
    some = [document for _, document in islice(read_documents(options.corpus), settings["batch_size"])]
    scorer.score([(query[0], document[0]) for query in list(queries.values())[:1] for document in some])  # the warm-up
    passages = sum(map(len, queries.values())) * sum(counts.values())
    ranked, singles = rank_all(scorer, queries, options.corpus, settings["depth"], passages)
    write_run(options.run, ranked, settings["tag"])
    seconds, pairs = sum(singles), len(queries) * len(counts)
    print(f"{len(queries)} queries, {pairs} pairs, {pairs / seconds:.1f} a second", file=sys.stderr)
    write_timing(
        options.timing,
        queries=len(queries),
        documents=len(counts),
        pairs=pairs,
        passage_pairs=passages,
        seconds=seconds,
        pairs_per_second=pairs / seconds,
        queries_per_second=len(queries) / seconds,
        latency_ms=latency(singles),
        **scorer.facts,
        **settings,
    )


if __name__ == "__main__":
    run(main)
