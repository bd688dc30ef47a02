"""Search a corpus for the queries of a task and time it: what each form of index does in one way."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np

from scripts.common.command_line import parser
from scripts.common.errors import UserError
from scripts.common.timing import clock, single_seconds, write_timing
from scripts.inference.shards import latencies
from scripts.inference.vectors import passage_counts
from scripts.ir.collection import passages_of
from scripts.ir.trec import Run, write_run
from scripts.models.adapters import Adapter, adapter
from scripts.models.cutting import cutting_encoder
from scripts.models.loaded import load_prompted
from scripts.models.prompts import prompts_of, told
from scripts.models.running import computed_by

Find = Callable[..., tuple[np.ndarray, np.ndarray]]  # see `answer`
EACH = slice(None)


@dataclass(frozen=True)
class Settings:
    type: Annotated[str, "kind of the model, one that searches"]
    max_length: Annotated[int, "tokens kept of a text"]
    batch_size: Annotated[int, "texts a batch"]
    depth: Annotated[int, "documents a query that are kept"]
    tag: Annotated[str, "name of the run, its last column"]
    max_query_length: Annotated[int | None, "tokens kept of a query, without special ones; null: no limit"] = None
    max_document_length: Annotated[int | None, "as the index was made; goes into the timing"] = None
    passage_length: Annotated[int | None, "characters a passage, where texts were split; goes into the timing"] = None
    truncate_dim: Annotated[int | None, "first dimensions of each vector that count; null: all of them"] = None
    prompts: Annotated[dict[str, str] | None, "put before texts, by role; null: those that the model stores"] = None
    shard: Annotated[list[int] | None, "which one from 0, of how many, of index or queries; null: all"] = None


@dataclass(frozen=True)
class Request:
    """What is searched for, and the model that encodes it."""

    options: Namespace
    settings: Any  # Settings, or a dataclass that adds to them
    queries: dict[str, list[str]]  # the passages of each, or its one text
    documents: dict[str, int]  # the number of passages of each
    kind: Adapter
    model: Any

    @cached_property
    def encode(self) -> Callable[[list[str]], Any]:
        """What the model makes of texts of queries, after they are cut."""
        cutting = cutting_encoder(self.kind, self.model, self.settings)
        return partial(cutting, batch_size=self.settings.batch_size, role="query")

    @cached_property
    def places(self) -> np.ndarray:
        """Where each document stands among those of equal score: see exact.precedence."""
        from scripts.inference.exact import precedence

        return precedence(list(self.documents))


def requested(description: str | None, index: str, settings: type, *further: str) -> Request:
    """Read the command line of a script that searches the option `index`, its queries and its model.

    `further` are options of its own. Raises UserError where there is no query.
    """
    names = ("checkpoint", "corpus", index, *further, "queries", "run", "timing")
    options = parser(description, *names, settings=settings).parse_args()
    queries = passages_of(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    documents = passage_counts(options.corpus)
    kind = adapter(options.settings.type)
    model = load_prompted(kind, options.checkpoint, options.settings)
    return Request(options, options.settings, queries, documents, kind, model)


def answer(request: Request, find: Find, wanted: slice = EACH, **facts: Any) -> None:
    """Search for all queries; write the run, and the timing with these further facts, which go before what it tells.

    `find` gives for queries (lists of passages) the scores and the numbers of the best documents. One with a score of
    minus infinity was not found. Where some of the queries are `wanted`, `find` is told so beside all of them, which
    are encoded as one job for all would encode them.
    """
    settings = request.settings
    ranked, figures, singles = search_all(find, request.queries, list(request.documents), settings.batch_size, wanted)
    write_run(request.options.run, ranked, settings.tag)
    figures |= latencies(singles, settings.shard)
    known = computed_by(request.kind, request.model) | told(settings, prompts_of(request.kind, request.model))
    write_timing(request.options.timing, **figures, **known | facts)


def search_all(
    find: Find, queries: dict[str, list[str]], ids: list[str], batch_size: int, wanted: slice = EACH
) -> tuple[Run, dict[str, Any], list[float]]:
    """The run of the queries, what its timing says of them, and seconds of single ones; `find` and `wanted` as above.

    A first batch warms it up.
    """
    texts, names = list(queries.values()), list(queries)[wanted]
    find(texts[:batch_size])
    start = clock()
    scores, rows = find(texts) if wanted == EACH else find(texts, wanted)
    seconds = clock() - start
    singles = single_seconds(lambda text: find([text]), texts[wanted])
    ranked = {
        query: {
            ids[row]: score for row, score in zip(rows[n].tolist(), scores[n].tolist(), strict=True) if score != -np.inf
        }
        for n, query in enumerate(names)
    }
    print(f"{len(names)} queries, {len(names) / seconds:.1f} a second", file=sys.stderr)
    speed = {"seconds": seconds, "queries_per_second": len(names) / seconds}
    return ranked, {"queries": len(names), "documents": len(ids), **speed}, singles
