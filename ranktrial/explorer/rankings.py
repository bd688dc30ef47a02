"""The data of the explorer, the first documents of all runs of a task, and what is left out to stay small.

Writes data as scripts. Documents have two numbers: in the order in which runs contain them,
and in that in which queries first show them (`Numbering`), so that those of one query are adjacent.

The data model. A page opened from the disk cannot fetch files, so its data are scripts, each of which hands one packed
JSON text to the page. The page loads only what it shows:

    data/experiment.js              comparisons with the effect and n of each task, labels, what is left out
    data/{task}/queries.js          one row per query: id, text, its counts, all systems' values, best and worst cases
    data/{task}/rankings-{n}.js     some queries each: the first documents of all systems and seeds, with scores;
                                    grades; the ranks of the relevant documents in the whole runs
    data/{task}/documents-{n}.js    some documents each, numbered in the order in which queries first show them:
                                    id, title, text. A document stands there once per task.

The budget. `megabytes` is for the whole folder. Each task has a share in proportion to its queries. A tenth is reserved
for the values of all queries and systems, which are never left out. Three fifths of the rest are for rankings, and two,
or what the rankings leave over, for texts.

1. Rankings have the same depth for all queries and systems: as many documents as fit, at most `depth`.
2. If that would be fewer than SHALLOWEST, rankings of systems in no comparison are left out,
3. then those of queries on which the compared systems differ least.
4. Texts are cut after LENGTHS[0] characters, then earlier; then texts of documents that no system ranks high go.

`remarks` states what is left out, and the page shows it. Fifty systems on ten tasks with 2,000 queries and 100
documents each have 10^8 lines of runs: rankings of 19 documents fit in 200 MB.

Packed JSON is deflated and in base64: a third of the size, and no text of a collection (`</script>`, U+2028) can end
the string that contains it. The script calls `explorer.receive(packed)`, since a page opened from the disk cannot read
files.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ranktrial.common.keys import JsonObject
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Run, ranking

DIGITS = 5  # of a score


class Ranking(NamedTuple):
    """The first documents of a query in one run, by number, and the ranks (0: not returned) of its relevant ones."""

    documents: np.ndarray
    scores: np.ndarray
    ranks: list[int]


@dataclass
class Rankings:
    """All rankings of a task: by system and seed, then query. `ids` are those of documents by number."""

    queries: list[str]
    relevant: dict[str, list[str]]
    depth: int
    ids: dict[str, int] = field(default_factory=dict)
    of_run: dict[tuple[str, str], dict[str, Ranking]] = field(default_factory=dict)

    def add(self, system: str, seed: str, run: Run, queries: Iterable[str]) -> None:
        """Add the shown part of a run."""
        self.of_run[system, seed] = {query: self._cut(run.get(query, {}), query) for query in queries}

    def _cut(self, scores: dict[str, float], query: str) -> Ranking:
        order = ranking(scores)
        first = order[: self.depth]
        numbers = [self.number(document) for document in first]
        return Ranking(
            np.array(numbers, np.int32),
            np.array([scores[document] for document in first], np.float32),
            ranks_of(order, self.relevant[query]),
        )

    def number(self, document: str) -> int:
        """The number of a document, new or known."""
        return self.ids.setdefault(document, len(self.ids))

    @property
    def seeds(self) -> dict[str, list[str]]:
        """The seeds of each system."""
        found: dict[str, list[str]] = {}
        for system, seed in self.of_run:
            found.setdefault(system, []).append(seed)
        return found


def ranks_of(order: Sequence[str], documents: Sequence[str]) -> list[int]:
    """The rank of each of `documents` in an order, 0 if it is not there."""
    wanted = set(documents)
    ranks = {document: rank for rank, document in enumerate(order, 1) if document in wanted}
    return [ranks.get(document, 0) for document in documents]


@dataclass
class Numbering:
    """The documents in the order in which queries first show them: their numbers in runs, and their best ranks."""

    order: list[int] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    of_number: dict[int, int] = field(default_factory=dict)

    def take(self, number: int, rank: int) -> int:
        """The position of a document that is shown at `rank`."""
        place = self.of_number.setdefault(number, len(self.order))
        if place == len(self.order):
            self.order.append(number)
            self.best.append(rank)
        self.best[place] = min(self.best[place], rank)
        return place


def query_record(
    rankings: Rankings, query: str, ids: Sequence[str], grades: dict[str, int], numbering: Numbering
) -> JsonObject:
    """A query's rankings as the page reads them: its documents, relevant ones first; runs as positions in that list.

    `ids` are those of `rankings` by number.
    """
    relevant = [rankings.ids[document] for document in rankings.relevant[query]]
    runs = {key: of_query[query] for key, of_query in rankings.of_run.items() if query in of_query}
    best = dict.fromkeys(relevant, 1)
    for one in runs.values():
        for rank, number in enumerate(one.documents.tolist(), 1):
            best[number] = min(best.get(number, rank), rank)
    local = {number: place for place, number in enumerate(best)}
    return {
        "documents": [numbering.take(number, rank) for number, rank in best.items()],
        "grades": [grades.get(ids[number]) for number in best],
        "relevant": len(relevant),
        "runs": {f"{system} {seed}": _run_record(one, local) for (system, seed), one in runs.items()},
    }


def _run_record(one: Ranking, local: dict[int, int]) -> list[list[Any]]:
    places = [local[number] for number in one.documents.tolist()]
    return [places, [float(f"{score:.{DIGITS}g}") for score in one.scores.tolist()], one.ranks]


BYTES_PER_LINE = 5.5  # of a ranked document with its score, packed; measured, as is the next
BYTES_PER_CHARACTER = 0.62  # of texts
BYTES_PER_TEXT = 30  # of an id and its JSON
RANKINGS, TEXTS = 0.54, 0.36  # of a task's share
SHALLOWEST = 10
LENGTHS = (2000, 1000, 500, 250, 120)  # characters of a text
RANKS = (5, 3, 2, 1, 0)  # the lowest best rank of a document with a text, if even the shortest texts are too many


@dataclass(frozen=True)
class Size:
    """The size of a task: `runs` of all systems and seeds, some of them of systems in comparisons."""

    queries: int
    runs: int
    compared_runs: int


@dataclass(frozen=True)
class RankingLimits:
    """The depth of all rankings, the number of queries with rankings, and whether systems in no comparison have any."""

    depth: int
    queries: int
    all_systems: bool


@dataclass(frozen=True)
class TextLimits:
    """The maximum length of a text, and the lowest best rank (in any ranking) of a document with a text."""

    length: int
    rank: int


def share(megabytes: int, queries: int, all_queries: int) -> float:
    """The bytes of a task among all tasks."""
    return 1e6 * megabytes * queries / max(1, all_queries)


def ranking_limits(size: Size, depth: int, room: float) -> RankingLimits:
    """The rankings that fit in `room` bytes."""
    lines = room / BYTES_PER_LINE
    if (fits := _depth(lines, size.queries * size.runs)) >= min(depth, SHALLOWEST):
        return RankingLimits(min(depth, fits), size.queries, True)
    if (fits := _depth(lines, size.queries * size.compared_runs)) >= min(depth, SHALLOWEST):
        return RankingLimits(min(depth, fits), size.queries, False)
    shallowest = min(depth, SHALLOWEST)
    return RankingLimits(shallowest, _depth(lines, shallowest * size.compared_runs), False)


def _depth(lines: float, rankings: int) -> int:
    return int(lines // max(1, rankings))


def text_limits(best: np.ndarray, characters: np.ndarray, depth: int, room: float) -> TextLimits:
    """The texts that fit in `room` bytes, from each document's best rank and the length of its text."""
    steps = [*((length, depth) for length in LENGTHS), *((LENGTHS[-1], rank) for rank in RANKS if rank < depth)]
    for length, rank in steps:
        if text_bytes(best, characters, length, rank) <= room:
            return TextLimits(length, rank)
    return TextLimits(0, 0)


def text_bytes(best: np.ndarray, characters: np.ndarray, length: int, rank: int) -> float:
    """The packed size of these texts in bytes."""
    shown = np.minimum(characters[best <= rank], length)
    return BYTES_PER_TEXT * len(best) + BYTES_PER_CHARACTER * float(shown.sum())


def remarks(size: Size, of_rankings: RankingLimits, of_texts: TextLimits | None, without: int, depth: int) -> list[str]:
    """What is left out of a task, as sentences. `without` is the number of shown documents without a text."""
    said = [f"Rankings show the first {of_rankings.depth} of up to {depth} documents."]
    if of_rankings.depth >= depth:
        said = []
    if not of_rankings.all_systems:
        said.append("Only the systems of comparisons have rankings.")
    if of_rankings.queries < size.queries:
        number = f"{of_rankings.queries:,} of {size.queries:,}"
        said.append(f"{number} queries have rankings: those on which the compared systems differ most.")
    if of_texts is None:
        return [*said, "Texts are not shown."]
    if without:
        lowest = f" that no ranking has among its first {of_texts.rank}" if of_texts.rank else ""
        said.append(f"{without:,} documents{lowest} have no text here.")
    return [*said, f"Texts are cut after {of_texts.length:,} characters."]


class Shown(NamedTuple):
    """A document's title, the beginning of its text, and the full length."""

    title: str
    text: str
    length: int


def beginnings(documents: Iterable[Document], wanted: Collection[str], characters: int) -> dict[str, Shown]:
    """The wanted documents by id, each cut after `characters` characters."""
    found: dict[str, Shown] = {}
    for document in documents:
        if document.id in wanted and document.id not in found:
            title, text = document.title[:characters], document.text[:characters]
            found[document.id] = Shown(title, text, len(document.text))
    return found


LEVEL = 6


def script(value: Any) -> str:
    """The script that hands `value` to the page."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text64 = base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), LEVEL)).decode()
    return f'explorer.receive("{text64}");\n'


def write(folder: Path, name: str, value: Any) -> int:
    """Write `value` below `folder` as `name`.js; return its bytes."""
    path = folder / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_text(script(value), encoding="ascii")
