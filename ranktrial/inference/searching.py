"""Search a corpus for the queries of a task and time it: the common part of all forms of index.

No run has a document that is excluded for its query: a search retrieves as many more, which are removed here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.settings import read_settings
from ranktrial.common.timing import clock, single_seconds, write_timing
from ranktrial.inference.indices import derived_form
from ranktrial.inference.ranking_settings import SearchSettings as Settings
from ranktrial.inference.shards import latencies
from ranktrial.inference.vectors import passage_counts
from ranktrial.ir.collection import Excluded, passages_of, read_excluded
from ranktrial.ir.trec import Run, write_run
from ranktrial.models.adapters import Adapter, adapter
from ranktrial.models.cutting import cutting_encoder
from ranktrial.models.kept_answers import keep_answers_beside
from ranktrial.models.kernels import choose
from ranktrial.models.loaded import load_prompted
from ranktrial.models.prompts import prompts_of, reported_settings
from ranktrial.models.running import computed_by

Find = Callable[..., tuple[np.ndarray, np.ndarray]]  # see `answer`
EACH = slice(None)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A search: its files and queries, and the model that encodes them."""

    checkpoint: Path
    index: Path
    vectors: Path | None  # the encoded corpus from which the index was made, if it is searched too
    source: Path  # of the queries
    run: Path
    timing: Path
    settings: Settings
    derived: Any  # the settings of a derived form; None for any other
    queries: dict[str, list[str]]  # the passages of each, or its text
    documents: dict[str, int]  # the number of passages of each
    excluded: Excluded  # documents, by query
    model_type: Adapter
    model: Any

    @cached_property
    def encode(self) -> Callable[[list[str]], Any]:
        """The encoding of query texts, after they are cut."""
        cutting = cutting_encoder(self.model_type, self.model, self.settings)
        return partial(cutting, batch_size=self.settings.batch_size, role="query")

    @cached_property
    def places(self) -> np.ndarray:
        """The place of each document among ties: see exact.precedence."""
        from ranktrial.inference.exact import precedence

        return precedence(list(self.documents))

    @cached_property
    def left_out(self) -> list[list[int]]:
        """The numbers of the documents that are excluded for each query."""
        named = {name for names in self.excluded.values() for name in names}
        numbers = {name: number for number, name in enumerate(self.documents) if name in named}
        return [[numbers[n] for n in self.excluded.get(query, ()) if n in numbers] for query in self.queries]

    @property
    def fetched(self) -> int:
        """The number of documents that a search retrieves per query, so that `depth` remain after exclusion."""
        depth: int = self.settings.depth
        return depth + max(map(len, self.left_out), default=0)


def requested(
    checkpoint: Path, corpus: Path, index: Path, vectors: Path | None, queries: Path, run: Path, timing: Path,
    settings: Settings,
) -> Request:  # fmt: skip
    """Read the queries and the corpus, and load the model. Raises UserError if there is no query."""
    texts = passages_of(queries)
    if not texts:
        raise UserError(f"{queries}: no query to search for; the dataset lacks this split")
    form = derived_form(settings.form) if settings.derived else None
    derived = read_settings(form.settings, settings.derived.get(form.key, {})) if form else None
    documents, model_type = passage_counts(corpus), adapter(settings.type)
    choose(settings.kernels)
    keep_answers_beside(run)
    return Request(
        checkpoint=checkpoint, index=index, vectors=vectors, source=queries, run=run, timing=timing, settings=settings,
        derived=derived, queries=texts, documents=documents, excluded=read_excluded(queries), model_type=model_type,
        model=load_prompted(model_type, checkpoint, settings),
    )  # fmt: skip


def without(
    found: tuple[np.ndarray, np.ndarray], left_out: Sequence[Collection[int]], depth: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first `depth` documents found that are not left out: scores and numbers, of shape (queries, documents).

    `left_out` has the documents' numbers per query. If fewer remain, the last have a score of minus infinity.
    """
    scores, rows = found
    if any(map(len, left_out)):
        out = [np.isin(of_query, list(its)) for of_query, its in zip(rows, left_out, strict=True)]
        scores = np.where(out, -np.inf, scores).astype(scores.dtype)
        order = np.argsort(-scores, axis=1, kind="stable")
        scores, rows = np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)
    return scores[:, :depth], rows[:, :depth]


def answer(request: Request, find: Find, wanted: slice = EACH, **facts: Any) -> None:
    """Search for all queries; write the run, and the timing with further entries before its own.

    `find` returns, for queries (lists of passages), the scores and the numbers of the `fetched` best documents. A
    document with a score of minus infinity was not found. If only some queries are `wanted`, `find` gets these and all
    queries, so that they are encoded as in one job for all.
    """
    settings = request.settings
    ranked, figures, singles = search_all(request, find, wanted)
    write_run(request.run, ranked, settings.tag)
    figures |= latencies(singles, settings.shard)
    reported = reported_settings(settings, prompts_of(request.model_type, request.model))
    reported.pop("form", None)
    known = computed_by(request.model_type, request.model) | reported
    write_timing(request.timing, **figures, **known | facts)


def search_all(request: Request, find: Find, wanted: slice = EACH) -> tuple[Run, dict[str, Any], list[float]]:
    """The run of the queries, entries of its timing, and seconds of single queries; `find` and `wanted` as above.

    A first batch is the warm-up.
    """
    texts, names = list(request.queries.values()), list(request.queries)[wanted]
    find(texts[: request.settings.batch_size])
    start = clock()
    found = find(texts) if wanted == EACH else find(texts, wanted)
    scores, rows = without(found, request.left_out[wanted], request.settings.depth)
    seconds = clock() - start
    singles = single_seconds(lambda text: find([text]), texts[wanted])
    ids = list(request.documents)
    ranked = {
        query: {
            ids[row]: score for row, score in zip(rows[n].tolist(), scores[n].tolist(), strict=True) if score != -np.inf
        }
        for n, query in enumerate(names)
    }
    print(f"{len(names)} queries, {len(names) / seconds:.1f} a second", file=sys.stderr)
    speed = {"seconds": seconds, "queries_per_second": len(names) / seconds}
    return ranked, {"queries": len(names), "documents": len(ids), **speed}, singles
