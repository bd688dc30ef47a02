"""Near-duplicates across splits: queries of dev and test that have nearly the same text as a training query.

Texts are compared by their pairs of adjacent words (shingles; Broder 1997, On the resemblance and containment of
documents), with Jaccard similarity: the share of pairs in either text that are in both. MinHash (the library
datasketch) finds candidates among many queries, and each candidate's similarity is then computed exactly. Reads and
writes nothing.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import Collection

if TYPE_CHECKING:
    from datasketch import MinHashLSH

SIMILARITY = 0.8  # for counting, if the dataset sets no other
PERMUTATIONS = 128  # of a MinHash
MISSED = 1e-6  # maximum probability that a pair of exactly this similarity is missed
_HAN_AND_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # written without spaces: each character is a word
_WORD = re.compile(rf"[{_HAN_AND_KANA}]|[^\W{_HAN_AND_KANA}]+")
Shingles = frozenset[str]
Name = tuple[str, str]  # split, query


class NearDuplicates(NamedTuple):
    """The near-duplicates at a similarity: counts for the statistics of each split, and messages to report."""

    similarity: float = SIMILARITY
    counts: Mapping[str, dict[str, int]] = {}
    remarks: tuple[str, ...] = ()


def shingles(text: str) -> Shingles:
    """The pairs of adjacent words of a text, ignoring case and punctuation; for one word, this word."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return frozenset(map(" ".join, itertools.pairwise(words))) or frozenset(words)


def bands(similarity: float) -> tuple[int, int]:
    """The number of bands and of hashes per band: the longest bands that miss a pair at most as rarely as MISSED."""
    for rows in range(PERMUTATIONS // 2, 1, -1):
        count = PERMUTATIONS // rows
        if (1 - similarity**rows) ** count <= MISSED:
            return count, rows
    return PERMUTATIONS, 1


def near(training: Mapping[str, str], tested: Mapping[Name, str], similarity: float) -> dict[str, set[Name]]:
    """Training query -> the tested queries of at least this similarity; queries without any are left out."""
    named: dict[Shingles, set[Name]] = {}
    for name, text in tested.items():
        named.setdefault(shingles(text), set()).add(name)
    named.pop(frozenset(), None)
    found = _alike(training, list(named), similarity)
    return {query: set().union(*(named[one] for one in alike)) for query, alike in found if alike}


def _alike(
    training: Mapping[str, str], tested: list[Shingles], similarity: float
) -> Iterator[tuple[str, list[Shingles]]]:
    """Each training query with the tested queries of at least this similarity."""
    from datasketch import MinHash

    index, at_least = _index(tested, similarity), Fraction(repr(similarity))
    known = set().union(*tested)
    possible = {query: its for query, its in _named(training) if len(its & known) >= at_least * len(its)}
    hashes = MinHash.generator(map(_bytes, possible.values()), num_perm=PERMUTATIONS)
    for (query, its), minhash in zip(possible.items(), hashes, strict=True):
        candidates = [tested[place] for place in sorted(index.query(minhash))]
        yield query, [other for other in candidates if _similar(its, other, at_least)]


def _named(training: Mapping[str, str]) -> Iterator[tuple[str, Shingles]]:
    """The queries with their shingles, without queries that have no word."""
    for query, text in training.items():
        if its := shingles(text):
            yield query, its


def _index(tested: list[Shingles], similarity: float) -> MinHashLSH:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=PERMUTATIONS, params=bands(similarity))
    hashes = MinHash.generator(map(_bytes, tested), num_perm=PERMUTATIONS)
    for place, minhash in enumerate(hashes):
        index.insert(place, minhash)
    return index


def _bytes(its: Shingles) -> list[bytes]:
    return [shingle.encode() for shingle in its]


def _similar(one: Shingles, other: Shingles, at_least: Fraction) -> bool:
    common = len(one & other)
    return common >= at_least * (len(one) + len(other) - common)


def without_near_duplicates(collection: Collection, drop: float | None) -> tuple[Collection, NearDuplicates]:
    """The collection without training queries that are near-duplicates of dev or test queries, and the counts.

    With `drop` None, all are kept and near-duplicates are only counted. Raises UserError if no training query would
    remain, and if there is nothing to compare.
    """
    training, tested = collection.queries.get("train", {}), _tested(collection)
    if not training or not tested:
        if drop is not None:
            raise UserError(
                "drop_near_duplicates: needs training queries, and queries of dev or test, with their texts"
            )
        return collection, NearDuplicates()
    found = near(training, tested, SIMILARITY if drop is None else drop)
    near_ones = set().union(*found.values())
    if drop is None:
        return collection, NearDuplicates(SIMILARITY, _counts(collection, near_ones))
    similar = f"of similarity {drop:g} or more to"
    if len(found) == len(training):
        raise UserError(f"drop_near_duplicates: every training query is {similar} one of dev or test")
    counts = _counts(collection, set()) | {"train": {"near_duplicates_left_out": len(found)}}
    left_out = f"{len(found)} of {len(training)} training queries left out, {similar} {len(near_ones)} of {len(tested)}"
    remark = f"drop_near_duplicates: {left_out} queries of dev and test"
    return _without(collection, set(found)), NearDuplicates(drop, counts, (remark,))


def _tested(collection: Collection) -> dict[Name, str]:
    """The queries of dev and test with their texts."""
    splits = [(split, collection.queries.get(split, {})) for split in ("dev", "test")]
    return {(split, query): text for split, texts in splits for query, text in texts.items()}


def _counts(collection: Collection, near_ones: set[Name]) -> dict[str, dict[str, int]]:
    """The numbers of dev and test queries that are near a training query."""
    tested = [split for split in ("dev", "test") if collection.queries.get(split)]
    return {split: {"near_duplicates": sum(name[0] == split for name in near_ones)} for split in tested}


def _without(collection: Collection, left_out: set[str]) -> Collection:
    """The collection without these training queries."""
    queries, qrels = collection.queries, collection.qrels
    texts = {query: text for query, text in queries["train"].items() if query not in left_out}
    judged = {query: documents for query, documents in qrels.get("train", {}).items() if query not in left_out}
    return collection._replace(queries=queries | {"train": texts}, qrels=qrels | {"train": judged})
