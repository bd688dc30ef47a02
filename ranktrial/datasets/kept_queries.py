"""The queries of a collection that are kept: samples of dev and test, and training queries without judgements.

A sample is drawn once, when the data are prepared, so that all systems have the same queries.
"""

from __future__ import annotations

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import Collection
from ranktrial.ir.query_samples import drawn


def sample(names: list[str], size: int, seed: int, split: str) -> list[str]:
    """A sample of `size` judged queries of a split, in their order. Raises UserError if there are fewer.

    It depends only on seed, split and ids, not on the order; a smaller sample is a subset of a larger one.
    """
    if size > len(names):
        raise UserError(f"{split}_queries: {size}, but {split} has {len(names)} judged queries")
    return drawn(names, size, seed, split)


def with_samples(collection: Collection, sizes: dict[str, int | None], seed: int) -> tuple[Collection, dict[str, int]]:
    """The collection with samples of these sizes (split -> number, None for all), and the splits' original sizes.

    Raises UserError for a split with fewer judged queries.
    """
    queries, qrels = dict(collection.queries), dict(collection.qrels)
    sampled_from = {}
    for split, size in sizes.items():
        if size is None:
            continue
        kept = sample(list(qrels.get(split, {})), size, seed, split)
        sampled_from[split] = len(qrels[split])
        qrels_before = qrels[split]
        qrels[split] = {query: qrels_before[query] for query in kept}
        if queries:
            left_out = qrels_before.keys() - set(kept)
            queries[split] = {query: text for query, text in queries[split].items() if query not in left_out}
    return collection._replace(queries=queries, qrels=qrels), sampled_from


def with_unjudged(collection: Collection, wanted: str) -> Collection:
    """The collection with its unjudged queries in the `wanted` split; without them if it is drop.

    If all queries of train are unjudged, they are in train. A query with the same text as a training query is not used
    for testing, and vice versa. Raises UserError if there is none.
    """
    if wanted == "drop" and ("train" not in collection.qrels or collection.qrels["train"]):
        return collection
    split, others = ("test", ("train", "dev")) if wanted == "test" else ("train", ("dev", "test"))
    elsewhere = {text for other in others for text in collection.queries.get(other, {}).values()}
    found = (collection.unjudged_test if split == "test" else None) or collection.unjudged
    added = {query: text for query, text in found.items() if text not in elsewhere}
    if not added:
        role = "training" if split == "train" else "test"
        raise UserError(f"unjudged: there is no query without judgements that could be a {role} query")
    queries = collection.queries | {split: collection.queries.get(split, {}) | added}
    return collection._replace(queries=queries, qrels={split: {}} | collection.qrels)


def unjudged_by_split(collection: Collection) -> dict[str, int]:
    """The number of unjudged queries per split, if there are any."""
    counts = {
        split: sum(query not in collection.qrels[split] for query in texts)
        for split, texts in collection.queries.items()
    }
    return {split: count for split, count in counts.items() if count}
