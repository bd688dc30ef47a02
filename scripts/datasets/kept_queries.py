"""Which queries of a collection are kept: samples of dev and test, and training queries without judgements.

A sample is drawn once, when the data are prepared, so that all systems have the same queries.
"""

from __future__ import annotations

import hashlib

from scripts.common.errors import UserError
from scripts.datasets.formats import Collection


def sample(names: list[str], size: int, seed: int, split: str) -> list[str]:
    """So many judged queries of a split, in their own order. Raises UserError where there are fewer.

    Which ones depends on seed, split and ids alone, not on the order; a smaller sample is part of a larger one.
    """
    if size > len(names):
        raise UserError(f"{split}_queries: {size}, but {split} has {len(names)} judged queries")
    drawn = sorted(names, key=lambda name: hashlib.sha256(f"{seed}\t{split}\t{name}".encode()).digest())[:size]
    chosen = set(drawn)
    return [name for name in names if name in chosen]


def with_samples(collection: Collection, sizes: dict[str, int | None], seed: int) -> tuple[Collection, dict[str, int]]:
    """The collection with samples of these sizes (split -> number, None for all), and the sizes that these splits had.

    Raises UserError for a split with fewer judged queries.
    """
    queries, qrels = dict(collection.queries), dict(collection.qrels)
    sampled_from = {}
    for split, size in sizes.items():
        if size is None:
            continue
        kept = sample(list(qrels.get(split, {})), size, seed, split)
        sampled_from[split] = len(qrels[split])
        qrels[split] = {query: qrels[split][query] for query in kept}
        if queries:
            queries[split] = {query: queries[split][query] for query in kept}
    return collection._replace(queries=queries, qrels=qrels), sampled_from


def with_unjudged(collection: Collection, wanted: bool) -> tuple[Collection, int]:
    """The collection with its queries without judgements in train, where they are wanted, and their number.

    Where all of train is such queries, they are. One in the words of a query of dev or test is not: it would be learnt
    from and tested on. Raises UserError where there is none.
    """
    if not wanted and ("train" not in collection.qrels or collection.qrels["train"]):
        return collection, 0
    tested = {text for split in ("dev", "test") for text in collection.queries.get(split, {}).values()}
    added = {query: text for query, text in collection.unjudged.items() if text not in tested}
    if not added:
        raise UserError("unjudged: there is no query without judgements that could be a training query")
    queries = collection.queries | {"train": collection.queries.get("train", {}) | added}
    return collection._replace(queries=queries, qrels={"train": {}} | collection.qrels), len(added)
