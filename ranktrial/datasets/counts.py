"""The counts of a collection for statistics.json, those of its documents as they pass through, and irregularities."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import Collection
from ranktrial.datasets.near_duplicates import NearDuplicates
from ranktrial.ir.collection import Document


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
    return [f"{equal:,} documents have the text of an earlier one"] if equal else []
