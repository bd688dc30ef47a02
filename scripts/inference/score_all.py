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

from ranktrial.common.command_line import job
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


def score_all(checkpoint: Path, corpus: Path, queries: Path, run: Path, timing: Path, settings: PairSettings) -> None:
    """Score every pair of a query and a document with a model of pairs, without a first stage."""
    text_of, counts = passages_of(queries), passage_counts(corpus)
    if not text_of or not counts:
        raise UserError(f"{corpus if text_of else queries}: empty, so there is nothing to score")
    choose(settings.kernels)
    keep_answers_beside(run)
    model_type = adapter(settings.type)
    scorer = cutting_scorer(load_scorer(model_type, checkpoint, settings), settings)
    first_query = next(iter(text_of.values()))
    first_documents = [document for _, document in islice(read_documents(corpus), settings.batch_size)]
    scorer.score([(first_query[0], document[0]) for document in first_documents])  # the warm-up
    own = {query: text_of[query] for query in part(list(text_of), settings.shard)}
    passages = sum(map(len, own.values())) * sum(counts.values())
    ranked, singles = rank_all(scorer, own, corpus, settings.depth, passages, read_excluded(queries))
    write_run(run, ranked, settings.tag)
    seconds, pairs = sum(singles), len(own) * len(counts)
    speed = pairs / seconds if pairs else 0.0
    print(f"{len(own)} queries, {pairs} pairs, {speed:.1f} a second", file=sys.stderr)
    write_timing(
        timing,
        queries=len(own),
        documents=len(counts),
        pairs=pairs,
        passage_pairs=passages,
        seconds=seconds,
        pairs_per_second=speed,
        queries_per_second=speed / len(counts),
        **latencies(singles, settings.shard),
        weights_bytes=weights_bytes(checkpoint),
        **scorer.facts,
        **reported_settings(settings, {}),  # prompts are among the scorer's facts
    )


if __name__ == "__main__":
    job(score_all)
