"""Training queries and their positives, with which every choice of negatives begins.

Reads the corpus, the training queries and qrels, and the qrels of dev and test; writes the file of the examples, a TSV
with one row per query, positive and negative. If positives must be among BM25's candidates, a query without such a
positive has one row with its id and the source `none`, so that it is counted. A document of others' examples that is
relevant to a query without being its positive has one row with both ids and the source `unfit`.

Documents with the same text as another document or a training query would be false negatives. Texts are compared
ignoring case and white space. The text of a document is its title and text together, as models see it; a query is also
compared with the text alone. Only digests are kept in memory: eight bytes per document.

Training queries, positives and negatives are drawn with a seed. Each draw depends only on a text (its key), which names
the seed, the query and anything else that it may depend on: so an additional query does not change the examples of
others, and the order of the items does not matter.
"""

from __future__ import annotations

import hashlib
import random
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import NOTHING, Document, Excluded, read_corpus, read_excluded, read_queries
from ranktrial.ir.query_samples import fold_of
from ranktrial.ir.trec import Qrels, ranking, read_qrels, read_run, relevant


class EqualTexts(NamedTuple):
    """The documents that share their text with others, and those that have the text of a query.

    `of_document` maps each such document to the key of its text, `members` each key to its documents, and `of_query`
    each query to the documents that have its text.
    """

    of_document: Mapping[str, int] = {}
    members: Mapping[int, set[str]] = {}
    of_query: Mapping[str, set[str]] = {}

    def to(self, query: str, documents: Iterable[str]) -> set[str]:
        """The documents with the text of the query or of one of these documents, excluding these documents."""
        known = set(documents)
        found = [self.members[self.of_document[name]] for name in known if name in self.of_document]
        return set().union(*found, self.of_query.get(query, set())) - known


def key_of(text: str) -> int:
    """A 64-bit number, equal for texts that differ only in case and white space."""
    words = " ".join(text.split()).casefold()
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "little")


def read_equal_texts(corpus: Iterable[Document], queries: Mapping[str, str]) -> tuple[list[str], EqualTexts]:
    """The ids of the documents, and which of them share a text with each other or a query. Empty texts never match."""
    keys_of_queries = {query: key_of(text) for query, text in queries.items()}
    asked: dict[int, set[str]] = {key: set() for key in keys_of_queries.values()}
    names: list[str] = []
    keys = array("Q")
    for document in corpus:
        key = key_of(document.contents)
        names.append(document.id)
        keys.append(key)
        for one in {key, key_of(document.text)} if document.title else {key}:
            if one in asked:
                asked[one].add(document.id)
    asked[key_of("")] = set()
    held = np.frombuffer(keys, dtype=np.uint64)
    several, counts = np.unique(held, return_counts=True)
    members: dict[int, set[str]] = {}
    of_document: dict[str, int] = {}
    for place in np.flatnonzero(np.isin(held, several[counts > 1]) & (held != key_of(""))):
        name, key = names[place], int(held[place])
        of_document[name] = key
        members.setdefault(key, set()).add(name)
    of_query = {query: asked[key] for query, key in keys_of_queries.items() if asked[key]}
    return names, EqualTexts(of_document, members, of_query)


def sample(names: list[str], count: int, key: str) -> list[str]:
    """`count` of the names (all if there are fewer), in their original order.

    The selection depends only on the key, not on the order; a smaller sample is a subset of a larger one with the same
    key.
    """
    drawn = sorted(names, key=lambda name: hashlib.sha256(f"{key}\t{name}".encode()).digest())[:count]
    chosen = set(drawn)
    return [name for name in names if name in chosen]


def sample_key(seed: int, number: int, size: int | str, independent: bool) -> str:
    """The key of sample `number`. Nested samples of all sizes share one key; the key of the first is the seed itself.

    Independent samples of different sizes have different keys, so they overlap only by chance.
    """
    if independent:
        return f"{seed}\tsample {number} of {size}"
    return f"{seed}" if number == 1 else f"{seed}\tsample {number}"


def of_query(key: str, query: str, epoch: int | None) -> str:
    """The key of the draws for one query, and for one epoch if each epoch has its own draws."""
    return f"{key}\t{query}" if epoch is None else f"{key}\t{query}\tepoch {epoch}"


def drawn(pool: list[str], unfit: set[str], count: int, key: str) -> list[str]:
    """`count` documents drawn uniformly from the pool, excluding unfit ones; fewer if there are not enough."""
    # Enough are drawn that `count` remain even if all unfit documents are among them.
    candidates = random.Random(key).sample(pool, min(len(pool), count + len(unfit)))
    return [document for document in candidates if document not in unfit][:count]


NONE = "none"  # source in the row of a query that is left out
UNFIT = "unfit"  # source in the row of a query and a document of others' examples that is relevant to it
IDS = ("query_id", "positive_id", "negative_id")  # first columns of each file of examples
EPOCH = "epoch"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of examples, whatever the source of their negatives."""

    labels: Annotated[
        Literal["human", "bm25", "permuted", "generated"],
        "human, generated: the qrels say what is relevant; bm25: BM25's best document; permuted: another query's qrels",
    ]
    queries: Annotated[int | Literal["all"], "training queries that are kept: all, or a sample of so many"]
    exclude_evaluation: Annotated[bool, "no document that is relevant in dev or test is a negative"]
    seed: Annotated[int, "of what is drawn: queries, positives and negatives"]
    range_min: Annotated[int, "of a ranking: so many of its best documents are no candidates"] = 0
    range_max: Annotated[int | None, "of a ranking: candidates are among so many of its best; null: all of it"] = None
    among_candidates: Annotated[bool, "positives are among BM25's best range_max; queries without are left out"] = False
    folds: Annotated[int | None, "so many folds of queries; null: none"] = None
    left_out_fold: Annotated[int | None, "the fold whose queries are not learnt from"] = None
    sample: Annotated[int, "the number of the sample"] = 1
    sampling: Annotated[
        Literal["nested", "independent"], "nested: a smaller sample of this number is part of a larger one"
    ] = "nested"

    @property
    def key(self) -> str:
        """The key of all draws."""
        return sample_key(self.seed, self.sample, self.queries, self.sampling == "independent")


@dataclass(frozen=True, kw_only=True)
class DrawnSettings(Settings):
    """The settings if a number of negatives and positives per query is drawn."""

    per_query: Annotated[int, "negatives per query, where there are so many"]
    sampling_strategy: Annotated[Literal["top", "random"], "the best of the candidates, or any of them"] = "top"
    positives: Annotated[int | Literal["all"], "positives per query: all, or so many drawn"] = "all"
    epochs: Annotated[int | None, "a draw for each of so many epochs; null: one for all"] = None


class Collection(NamedTuple):
    """The data from which examples are chosen.

    The ids of training queries and documents, the training qrels, the documents that must not be negatives of any query
    (`gold`), BM25's rankings of the queries, the documents that are `excluded` for single queries, and the documents
    with `equal` texts.
    """

    queries: list[str]
    corpus: list[str]
    qrels: Qrels
    gold: set[str]
    rankings: dict[str, list[str]]
    excluded: Excluded = NOTHING
    equal: EqualTexts = EqualTexts()

    @property
    def pool(self) -> list[str]:
        """The documents that may be negatives."""
        return [document for document in self.corpus if document not in self.gold]


class Labelled(NamedTuple):
    """The positives of each query to learn from, and what was left out.

    `unfit` are the documents that must not be negatives of a query, `left_out` the queries without a positive among
    BM25's candidates, `missing` is the number of positives that are not in the corpus, and `equal` the number of pairs
    of a query and a document that are unfit only because of their text: it is the query's or a relevant document's.
    """

    positives: dict[str, list[str]]
    unfit: dict[str, set[str]]
    left_out: list[str]
    missing: int
    equal: int = 0

    def report(self) -> list[str]:
        """The lines to print about what was left out."""
        lines = []
        if self.left_out:
            lines.append(
                f"{len(self.left_out)} queries are left out: none of their positives is among BM25's candidates"
            )
        if self.missing:
            lines.append(f"{self.missing} positives are not in the corpus and left out")
        if self.equal:
            same = "that have the text of the query or of a document relevant to it"
            lines.append(f"{self.equal} documents are no negatives of a query {same}")
        return lines


def read_collection(
    corpus: Path, queries: Path, qrels: Path, evaluation: list[Path], first_stage: list[Path], settings: Settings
) -> Collection:
    """Read everything from which examples are chosen, except the runs of systems."""
    rankings = {query: ranking(scores) for path in first_stage for query, scores in read_run(path).items()}
    # Pseudo-labels replace judgements that do not exist, so existing ones are not read.
    judgements = read_qrels(qrels) if settings.labels != "bm25" else {}
    if settings.labels == "permuted":
        judgements = permuted(judgements, settings.seed)
    gold: set[str] = set()
    for path in evaluation if settings.exclude_evaluation else []:
        judged = read_qrels(path)
        gold |= {document for query in judged for document in relevant(judged, query)}
    texts, excluded = read_queries(queries), read_excluded(queries)
    documents, equal = read_equal_texts(read_corpus(corpus), texts)
    return Collection(list(texts), documents, judgements, gold, rankings, excluded, equal)


def permuted(qrels: Qrels, seed: int) -> Qrels:
    """Permute judgements: each query gets those of the next one in a random order, so that none keeps its own."""
    judged = sorted(query for query in qrels if relevant(qrels, query))
    order = random.Random(f"{seed}\tpermuted").sample(judged, len(judged))
    return {query: qrels[other] for query, other in zip(order, order[1:] + order[:1], strict=True)}


def positives_of(queries: list[str], labels: str, qrels: Qrels, rankings: dict[str, list[str]]) -> dict[str, list[str]]:
    """The positives of each query that has any: sorted by id from the qrels, or BM25's top document (`bm25`)."""
    if labels == "bm25":
        return {query: rankings[query][:1] for query in queries if rankings.get(query)}
    judged = {query: sorted(relevant(qrels, query)) for query in queries}
    return {query: documents for query, documents in judged.items() if documents}


def among(positives: dict[str, list[str]], rankings: dict[str, list[str]], depth: int | None) -> dict[str, list[str]]:
    """The positives among the first `depth` documents of their query's ranking; queries without any are dropped."""
    ranked = {query: set(rankings.get(query, [])[:depth]) for query in positives}
    kept = {query: [d for d in documents if d in ranked[query]] for query, documents in positives.items()}
    return {query: documents for query, documents in kept.items() if documents}


def sampled(usable: list[str], settings: Settings) -> list[str]:
    """The training queries to learn from. Raises UserError if the sample is larger than their number."""
    if settings.queries == "all":
        return usable
    if settings.queries > len(usable):
        raise UserError(
            f"only {len(usable)} training queries can be used, fewer than the {settings.queries} of the recipe's "
            "queries; give a smaller number, or all"
        )
    return sample(usable, settings.queries, settings.key)


def outside_fold(queries: list[str], settings: Settings) -> list[str]:
    """The queries of all folds except the one left out. Raises UserError if no query remains."""
    if settings.folds is None:
        return queries
    kept = [one for one in queries if fold_of(one, settings.folds, settings.seed) != settings.left_out_fold]
    if not kept:
        raise UserError(f"all {len(queries)} training queries are of fold {settings.left_out_fold}; take fewer folds")
    return kept


def labelled(read: Collection, settings: Settings) -> Labelled:
    """The queries to learn from, with their positives. Raises UserError if there are none, or too few."""
    known = set(read.corpus)
    found = positives_of(read.queries, settings.labels, read.qrels, read.rankings)
    present = {query: [d for d in documents if d in known] for query, documents in found.items()}
    missing = sum(map(len, found.values())) - sum(map(len, present.values()))
    present = {query: documents for query, documents in present.items() if documents}
    if not present:
        raise UserError(
            f"none of the {len(read.queries)} training queries has a positive ({settings.labels} labels) in the "
            f"corpus: "
            "the dataset has no train split to learn from"
        )
    fit = among(present, read.rankings, settings.range_max) if settings.among_candidates else present
    left_out = [query for query in present if query not in fit]
    if not fit:
        raise UserError(f"none of the {len(present)} training queries has a positive among BM25's candidates")
    positives = {query: fit[query] for query in outside_fold(sampled(list(fit), settings), settings)}
    unfit, equal = {}, 0
    for query, documents in positives.items():
        known_relevant = relevant(read.qrels, query) | set(documents)
        excluded = set(read.excluded.get(query, ()))
        same_text = read.equal.to(query, known_relevant) - excluded
        unfit[query] = known_relevant | excluded | same_text
        equal += len(same_text)
    return Labelled(positives, unfit, left_out, missing, equal)


def unfit_elsewhere(unfit: dict[str, set[str]], rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, str]]:
    """Yield the queries and documents that must not be their negatives, but are in examples of other queries."""
    examples = [row[:3] for row in rows]
    documents = {name for _, *both in examples for name in both}
    own = {(query, positive) for query, positive, _ in examples}
    for query in dict.fromkeys(query for query, *_ in examples):
        yield from ((query, name) for name in sorted(unfit[query] & documents) if (query, name) not in own)


def lines_of(
    columns: tuple[str, ...], rows: list[Any], left_out: list[str], unfit: dict[str, set[str]], by_epoch: bool
) -> Iterator[str]:
    """Yield the lines of a file of examples; `columns` follow the ids.

    The last column, the epoch, is only written if each epoch has rows of its own.
    """
    header = [*IDS, *columns, *([EPOCH] if by_epoch else [])]
    yield "\t".join(header)
    for row in rows:
        yield "\t".join("" if value is None else str(value) for value in row[: len(header)])
    empty = [""] * (len(header) - 4)
    for query in left_out:
        yield "\t".join([query, "", "", NONE, *empty])
    for query, document in unfit_elsewhere(unfit, rows):
        yield "\t".join([query, document, "", UNFIT, *empty])
