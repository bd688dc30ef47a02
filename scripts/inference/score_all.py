"""Score every pair of a query and a document with a model of pairs, such as a cross-encoder, without a first stage.

Reads a checkpoint, the corpus and queries (or the passages of both). Writes a TREC run of the `depth` documents with
the highest logits per query, without those that are excluded for it, and the timing. The corpus is read again for each
query, and only the best documents are kept, so memory does not grow with its size. Times do not include reading. A
shard (see shards.py) is a part of the queries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from itertools import groupby, islice
from pathlib import Path

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.progress import Progress
from ranktrial.common.timing import clock, write_timing
from ranktrial.inference.ranked import aggregated, chunks, passage_pairs
from ranktrial.inference.ranking_settings import PairSettings
from ranktrial.inference.shards import latencies, part
from ranktrial.inference.vectors import passage_counts
from ranktrial.ir.collection import Excluded, passages_of, read_excluded, read_texts, without
from ranktrial.ir.trec import Run, top, write_run
from ranktrial.models.adapters import Scorer, adapter
from ranktrial.models.batch_sizes import CHUNK
from ranktrial.models.cutting import cutting_scorer
from ranktrial.models.kept_answers import keep_answers_beside
from ranktrial.models.kernels import choose
from ranktrial.models.loaded import load_scorer
from ranktrial.models.model_files import weights_bytes
from ranktrial.models.prompts import reported_settings


def read_documents(corpus: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (document id, its passages) of a corpus or of its file of passages, in its order."""
    for name, lines in groupby(read_texts(corpus), key=lambda line: line[0]):
        yield name, [text for _, text in lines]


def best_documents(
    score: Callable,
    query: list[str],
    corpus: Path,
    depth: int,
    done: Callable,
    size: int = CHUNK,
    excluded: Collection[str] = (),
) -> tuple[dict, float]:
    """The `depth` documents with the highest scores for a query (in trec_eval's order), and the seconds of scoring.

    Without the `excluded` ones. `done` is called with the number of pairs of passages of each chunk.
    """
    best: dict[str, float] = {}
    seconds = 0.0
    for chunk in chunks(((name, (query, document)) for name, document in read_documents(corpus)), size):
        start = clock()
        scores = aggregated(score, [passages for _, passages in chunk])
        seconds += clock() - start
        scored = dict(zip((name for name, _ in chunk), scores, strict=True))
        best = top(best | without(scored, excluded), depth)
        done(passage_pairs(chunk))
    return best, seconds


def rank_all(
    scorer: Scorer, queries: dict[str, list[str]], corpus: Path, depth: int, pairs: int, excluded: Excluded
) -> tuple[Run, list]:
    """The run of all queries and the seconds of each; `pairs` is the number of pairs of passages."""
    progress = Progress("scored", pairs, "pair")
    ranked: Run = {}
    seconds = []
    for query, passages in queries.items():
        how = corpus, depth, progress.add, scorer.at_once, excluded.get(query, ())
        ranked[query], of_query = best_documents(scorer.score, passages, *how)
        seconds.append(of_query)
    return ranked, seconds


def main() -> None:
    options = parser(__doc__, "checkpoint", "corpus", "queries", "run", "timing", settings=PairSettings).parse_args()
    settings: PairSettings = options.settings
    queries, counts = passages_of(options.queries), passage_counts(options.corpus)
    if not queries or not counts:
        raise UserError(f"{options.corpus if queries else options.queries}: empty, so there is nothing to score")
    choose(settings.kernels)
    keep_answers_beside(options.run)
    model_type = adapter(settings.type)
    scorer = cutting_scorer(load_scorer(model_type, options.checkpoint, settings), settings)
    first_query = next(iter(queries.values()))
    first_documents = [document for _, document in islice(read_documents(options.corpus), settings.batch_size)]
    scorer.score([(first_query[0], document[0]) for document in first_documents])  # the warm-up
    queries = {query: queries[query] for query in part(list(queries), settings.shard)}
    passages = sum(map(len, queries.values())) * sum(counts.values())
    excluded = read_excluded(options.queries)
    ranked, singles = rank_all(scorer, queries, options.corpus, settings.depth, passages, excluded)
    write_run(options.run, ranked, settings.tag)
    seconds, pairs = sum(singles), len(queries) * len(counts)
    speed = pairs / seconds if pairs else 0.0
    print(f"{len(queries)} queries, {pairs} pairs, {speed:.1f} a second", file=sys.stderr)
    write_timing(
        options.timing,
        queries=len(queries),
        documents=len(counts),
        pairs=pairs,
        passage_pairs=passages,
        seconds=seconds,
        pairs_per_second=speed,
        queries_per_second=speed / len(counts),
        **latencies(singles, settings.shard),
        weights_bytes=weights_bytes(options.checkpoint),
        **scorer.facts,
        **reported_settings(settings, {}),  # prompts are among the scorer's facts
    )


if __name__ == "__main__":
    run(main)
