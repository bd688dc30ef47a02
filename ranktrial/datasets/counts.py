"""Counts of a collection, its irregularities and near-duplicates, and changes of its judgements.

`grades: {1: 0, 2: 1, 3: 1, 4: 2}` maps old grades to new ones. It is applied before anything else, since a grade above
0 means "relevant" everywhere: for carved splits, training and measures.

Further judgements, such as quality in addition to relevance, score the runs of another dataset, with the queries of
that dataset. A query with only further judgements would score 0 for every system, although none ranked it: it is left
out, and counted.

Near-duplicates are queries of dev and test that have nearly the same text as a training query. Texts are compared by
their pairs of adjacent words (shingles; Broder 1997, On the resemblance and containment of documents), with Jaccard
similarity: the share of pairs in either text that are in both. MinHash (the library datasketch) finds candidates among
many queries, and each candidate's similarity is then computed exactly. Reads and writes nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import Collection
from ranktrial.ir.collection import Document, read_queries
from ranktrial.ir.trec import Qrels

if TYPE_CHECKING:
    from datasketch import MinHashLSH


def with_grades(qrels: Qrels, grades: Mapping[str, int]) -> Qrels:
    """The judgements with mapped grades; unchanged if there is no mapping.

    Raises UserError for a grade that is not mapped, since it would be of another scale.
    """
    if not grades:
        return qrels
    new_of = {int(old): new for old, new in grades.items()}
    for query, judged in qrels.items():
        for document, grade in judged.items():
            if grade not in new_of:
                known = ", ".join(map(str, sorted(new_of)))
                problem = f"has grade {grade}, which is not mapped (mapped are {known}); to keep it, map it to itself"
                raise UserError(f"grades: the judgement of document {document} for query {query} {problem}")
    return {query: {name: new_of[grade] for name, grade in judged.items()} for query, judged in qrels.items()}


def of_ranked_queries(qrels: dict[str, Qrels], files: Sequence[Path]) -> tuple[dict[str, Qrels], list[str]]:
    """The judgements of the queries in that dataset's `files` (one per split), and a text on what was left out.

    Without files, nothing is left out. Raises UserError for a split in which no query has runs.
    """
    if not files:
        return qrels, []
    ranked = {path.stem: read_queries(path) for path in files}
    kept: dict[str, Qrels] = {}
    left_out = []
    for split, judged in qrels.items():
        kept[split] = {query: grades for query, grades in judged.items() if query in ranked.get(split, {})}
        if not kept[split]:
            problem = f"none of {len(judged)} judged queries is among those of {split} of the dataset in runs_of"
            raise UserError(f"{split}: {problem}, such as {next(iter(judged))}")
        if missing := len(judged) - len(kept[split]):
            left_out.append(f"{split}: {missing} judged queries have no runs (runs_of) and are left out")
    return kept, left_out


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


class Census:
    """Passes documents through and counts them; a duplicate document id is a UserError."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = documents
        self.ids: set[str] = set()
        self.texts: set[bytes] = set()
        self.words = self.empty = self.equal = 0

    def __iter__(self) -> Iterator[Document]:
        for document in self.documents:
            if document.id in self.ids:
                raise UserError(f"duplicate document id {document.id} in the corpus")
            self.ids.add(document.id)
            contents = document.contents
            digest = hashlib.blake2b(contents.encode(), digest_size=12).digest()
            self.equal += digest in self.texts
            self.texts.add(digest)
            self.empty += not contents
            self.words += len(contents.split())
            yield document


class Splitting(NamedTuple):
    """How the splits were made: which were carved, which training queries were left out or have no judgements, the
    sizes of the splits of which a sample is kept, and near-duplicates across splits."""

    carved: list[str]
    dropped: int
    unjudged: Mapping[str, int] = MappingProxyType({})
    sampled_from: Mapping[str, int] = MappingProxyType({})
    near: NearDuplicates = NearDuplicates()


def statistics(
    census: Census, collection: Collection, splitting: Splitting, left_out: set[str], own: dict[str, dict[str, int]]
) -> dict:
    """Counts of a collection, mean lengths in words (split at white space), and irregularities.

    Counts of documents and queries are absent if there are none. `left_out` are documents that were left out of the
    corpus because of their length; `own` counts, by split, queries that are documents and excluded documents.
    """
    splits = {}
    for split, qrels in collection.qrels.items():
        judged = [(document, grade) for documents in qrels.values() for document, grade in documents.items()]
        splits[split] = {
            "queries": len(qrels),
            "judgements": len(judged),
            "relevant": sum(grade > 0 for _, grade in judged),
            "grades": ", ".join(map(str, sorted({grade for _, grade in judged}))),
            "queries_without_relevant": sum(not any(g > 0 for g in d.values()) for d in qrels.values()),
            "carved": split in splitting.carved,
        }
        if split == "train" and splitting.dropped:
            splits[split]["left_out"] = splitting.dropped
        if split in splitting.unjudged:
            splits[split]["unjudged"] = splitting.unjudged[split]
        if split in splitting.sampled_from:
            splits[split]["sampled_from"] = splitting.sampled_from[split]
        splits[split] |= splitting.near.counts.get(split, {})
        if collection.documents is not None:
            texts = collection.queries[split]
            splits[split] |= {
                "judged_documents_missing": sum(document not in census.ids for document, _ in judged),
                "mean_query_words": sum(len(text.split()) for text in texts.values()) / len(texts),
            }
            splits[split] |= own[split]
            if left_out:
                splits[split]["judged_documents_left_out"] = sum(document in left_out for document, _ in judged)
    if collection.documents is None:
        return {"splits": splits}
    for split, part in splits.items():
        if part["judgements"] and part["judged_documents_missing"] == part["judgements"]:
            raise UserError(f"{split}: none of the {part['judgements']} judgements names a document of the corpus")
    if census.empty == len(census.ids):
        raise UserError("no document has a text")
    return {
        "documents": len(census.ids),
        "mean_document_words": census.words / len(census.ids),
        "empty_documents": census.empty,
        "equal_documents": census.equal,
        **({"documents_left_out": len(left_out)} if left_out else {}),
        **({"near_duplicate_similarity": splitting.near.similarity} if splitting.near.counts else {}),
        "splits": splits,
    }


def lacking(counts: dict) -> list[str]:
    """The judgements of each split whose documents the corpus lacks, as text; documents left out by length aside."""
    found = []
    for split, part in counts["splits"].items():
        missing = part.get("judged_documents_missing", 0) - part.get("judged_documents_left_out", 0)
        if missing:
            named = "judgement names a document" if missing == 1 else "judgements name documents"
            found.append(f"{split}: {missing:,} {named} that the corpus lacks")
    return found


def repeated(counts: dict) -> list[str]:
    """The number of documents with the text of an earlier one, as text; most collections have some."""
    equal = counts.get("equal_documents")
    have = "document has" if equal == 1 else "documents have"
    return [f"{equal:,} {have} the text of an earlier one"] if equal else []
