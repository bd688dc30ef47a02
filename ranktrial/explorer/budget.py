"""The data of the explorer, and what it leaves out to stay small; reads and writes nothing.

The data model. A page opened from the disk cannot fetch files, so its data are scripts, each of which hands one packed
JSON text to the page (packed.py). The page loads only what it shows:

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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
        return [*said, "Texts are not shown (explorer: texts: false)."]
    if without:
        lowest = f" that no ranking has among its first {of_texts.rank}" if of_texts.rank else ""
        said.append(f"{without:,} documents{lowest} have no text here.")
    return [*said, f"Texts are cut after {of_texts.length:,} characters."]
