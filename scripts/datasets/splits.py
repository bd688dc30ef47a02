"""Carving a split out of the training queries so that no document is relevant to queries of two splits.

Queries that share a relevant document are bound together and go to one side as a whole.
"""

from __future__ import annotations

import random

from scripts.common.errors import UserError
from scripts.common.trec import Qrels, relevant


def bound_groups(qrels: Qrels) -> list[list[str]]:
    """Queries in groups such that two queries with a common relevant document are in one group (connected components).

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
    """The training queries that leave for a new split.

    `share` is a fraction of the queries (below 1) or their number; groups are shuffled by `seed` and taken while they
    fit. A group that shares a relevant document with `others` (the splits that stand) stays. Raises UserError when not
    one group can go.
    """
    wanted = round(share * len(qrels)) if share < 1 else int(share)
    if not 0 < wanted < len(qrels):
        raise UserError(f"{share} of {len(qrels)} training queries leaves one side empty")
    taken = {document for other in others for query in other for document in relevant(other, query)}
    groups = [group for group in bound_groups(qrels) if not any(taken & relevant(qrels, query) for query in group)]
    random.Random(seed).shuffle(groups)
    leaving: list[str] = []
    for group in groups:
        if len(leaving) + len(group) <= wanted:
            leaving += group
    if not leaving:
        raise UserError("every training query shares a relevant document with too many others to be split off cleanly")
    return sorted(leaving)
