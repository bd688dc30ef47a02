"""The queries of splits: samples that are kept, and splits carved out of the training queries.

A sample of dev or test is drawn once, when the data are prepared, so that all systems have the same queries.

Splits are carved so that no document is relevant to queries of two splits. Queries that share a relevant document form
a group, which is kept together. Either queries are split or, for data with few documents and many queries each,
documents. This module also finds what two splits nevertheless have in common.
"""

from __future__ import annotations

import itertools
import random

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import Collection
from ranktrial.ir.query_samples import drawn
from ranktrial.ir.trec import Qrels, relevant


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


def bound_groups(qrels: Qrels) -> list[list[str]]:
    """Groups of queries such that queries with a common relevant document are in the same group (connected components).

    Groups and their members are in the order of the query ids, so that the order of the qrels does not matter.
    """
    leader: dict[str, str] = {query: query for query in qrels}

    def find(query: str) -> str:
        while leader[query] != query:
            leader[query] = query = leader[leader[query]]
        return query

    first_with: dict[str, str] = {}
    for query in sorted(qrels):
        for document in relevant(qrels, query):
            leader[find(query)] = find(first_with.setdefault(document, query))
    groups: dict[str, list[str]] = {}
    for query in sorted(qrels):
        groups.setdefault(find(query), []).append(query)
    return list(groups.values())


def carve(qrels: Qrels, share: float, seed: int, others: list[Qrels]) -> list[str]:
    """The training queries that are moved to a new split.

    `share` is a fraction of the queries (below 1) or their number; groups are shuffled by `seed` and moved while they
    fit. A group that shares a relevant document with `others` (the existing splits) stays. Raises UserError if no group
    can be moved.
    """
    size = round(share * len(qrels)) if share < 1 else int(share)
    if not 0 < size < len(qrels):
        raise UserError(f"{share} of {len(qrels)} training queries leaves one side empty")
    bound = sharing(qrels, others)
    groups = [group for group in bound_groups(qrels) if not bound & set(group)]
    random.Random(seed).shuffle(groups)
    leaving: list[str] = []
    for group in groups:
        if len(leaving) + len(group) <= size:
            leaving += group
    if not leaving:
        raise UserError(
            f"no {size} training queries can be split off: each shares a relevant document with a query of another "
            "split, or with more training queries than that; take a larger share, or bring judgements of that split"
        )
    return sorted(leaving)


def carve_by_document(qrels: Qrels, shares: dict[str, float], seed: int) -> dict[str, list[str]]:
    """Split the relevant documents together with their queries. Returns split -> the queries that are moved to it.

    Each share is a fraction of all relevant documents (below 1) or their number. Queries with several relevant
    documents stay in train, and so do these documents with all their queries: with few documents and many queries,
    moving them together would determine the size of a split. Raises UserError if a split would be empty.
    """
    queries_of: dict[str, list[str]] = {}
    for query in sorted(qrels):
        for document in relevant(qrels, query):
            queries_of.setdefault(document, []).append(query)
    of_queries = [relevant(qrels, query) for query in qrels]
    tied = {document for documents in of_queries if len(documents) > 1 for document in documents}
    free = sorted(set(queries_of) - tied)
    random.Random(seed).shuffle(free)
    leaving: dict[str, list[str]] = {}
    for split, share in shares.items():
        size = round(share * len(queries_of)) if share < 1 else int(share)
        chosen, free = free[:size], free[size:]
        if len(chosen) < size or not size:
            raise UserError(
                f"{split}: {share} of {len(queries_of)} relevant documents cannot be split off: "
                f"{len(tied)} stay in train, since they share a query with others"
            )
        leaving[split] = sorted(query for document in chosen for query in queries_of[document])
    if not free and not tied:
        raise UserError("splits by document leave no document for train")
    return leaving


def sharing(qrels: Qrels, others: list[Qrels]) -> set[str]:
    """The queries with a relevant document that is also relevant to a query of `others`."""
    taken = {document for split in others for query in split for document in relevant(split, query)}
    return {query for query in qrels if taken & relevant(qrels, query)}


def leaks(collection: Collection) -> list[str]:
    """What two splits have in common, as text: queries with the same id and text (if there are texts).

    Raises UserError if such a query also has the same judgements, or if every query of a split is also in the other:
    models trained or tuned on one would be tested on the other. (Ids that each split counts from 1 are not meant: their
    texts differ.)
    """
    shared_queries = []
    for (split, first), (other, second) in itertools.combinations(collection.qrels.items(), 2):
        texts = [collection.queries.get(name, {}) for name in (split, other)]
        common = [query for query in first if query in second and texts[0].get(query) == texts[1].get(query)]
        known = [query for query in common if first[query] == second[query]]
        cure = "each query belongs to one split (drop_shared: true leaves such out of train)"
        if known:
            leak = f"{len(known)} of {len(second)} queries of {other} are in {split} with the same judgements"
            raise UserError(f"{leak}, such as {known[0]}; {cure}")
        twins = [
            {(text[query], frozenset(judged.items())) for query, judged in qrels.items()}
            for text, qrels in zip(texts, (first, second), strict=True)
            if text
        ]
        if len(twins) == 2 and all(twins) and (twins[0] <= twins[1] or twins[1] <= twins[0]):
            raise UserError(f"every query of {split} or {other} is in the other as well, with its judgements; {cure}")
        if common:
            shared_queries.append(f"{len(common)} queries are in both {split} and {other}, with different judgements")
    return shared_queries
