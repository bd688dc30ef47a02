"""Features of a task's queries and their candidates, computed, or from and to LETOR's format (ranktrial/ir/letor.py).

Computing reads the run of the first stage, the terms of the queries, the judgements, the term counts of one or two
indices (title and text together, or separately), the runs of the systems whose scores are features and, for text
features, the texts of the queries and of the corpus (only those of candidates are kept). It writes a feature file (see
ranktrial/ir/feature_file.py) with the best `depth` documents of each query, and its timing, which covers the features
only, not what they are computed from. Queries are processed in batches, each computed in arrays.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject, plain
from ranktrial.common.progress import Progress
from ranktrial.common.timing import clock, write_timing
from ranktrial.configuration.sections.features import FeatureColumn
from ranktrial.features.families import Feature, features_in
from ranktrial.features.sources import Matcher, Pairs, QueryCounts, SystemScore, Texts, text_features
from ranktrial.ir import letor as text_format
from ranktrial.ir.collection import NOTHING, read_excluded
from ranktrial.ir.feature_file import Features, check_index, feature_names, read_features, writing
from ranktrial.ir.term_counts import TermCounts
from ranktrial.ir.trec import Qrels, Run, ranking, read_qrels, read_run

BATCH = 20_000  # pairs computed at once
WHOLE = "contents"  # the field that combines title and text


@dataclass(frozen=True)
class Settings:
    of: Annotated[list[FeatureColumn], "name, family, feature, field and parameters of each; or name, system, missing"]
    first_stage: Annotated[str, "the system whose run supplies the candidates"]
    depth: Annotated[int, "candidates per query"]


@dataclass(frozen=True)
class Column:
    """A feature of one field, with its name in the file."""

    name: str
    feature: Feature
    field: str


def columns_of(settings: Settings) -> list[Column | str]:
    """The content of each column: a feature, or the column name of a system's score or of a text feature."""
    columns: list[Column | str] = []
    of_texts = text_features(settings.of)
    for entry in settings.of:
        if entry.system or entry.name in of_texts:
            columns.append(entry.name)
        else:
            feature = features_in(entry.family)[entry.feature].having(entry.parameters or {})
            columns.append(Column(entry.name, feature, entry.field or WHOLE))
    return columns


def batches(kept: dict[str, list[str]], ranked: Run, row_of: dict[str, int]) -> Iterator[tuple[Pairs, list[str]]]:
    """Yield the queries with their candidates in batches, as arrays and with the documents' ids."""
    some: dict[str, list[str]] = {}
    for query, documents in kept.items():
        some[query] = documents
        if sum(map(len, some.values())) >= BATCH:
            yield pairs_of(some, ranked, row_of)
            some = {}
    if some:
        yield pairs_of(some, ranked, row_of)


def pairs_of(some: dict[str, list[str]], ranked: Run, row_of: dict[str, int]) -> tuple[Pairs, list[str]]:
    """Queries and their candidates as arrays, and the documents' ids."""
    lengths = [len(documents) for documents in some.values()]
    documents = [document for best in some.values() for document in best]
    rows = np.array([row_of.get(document, -1) for document in documents], dtype=np.int64)
    scores = np.array([ranked[query][document] for query, best in some.items() for document in best])
    ranks = np.concatenate([np.arange(1.0, length + 1) for length in lengths])
    return Pairs(list(some), np.repeat(np.arange(len(some)), lengths), rows, scores, ranks), documents


def read_query_terms(path: Path, ranked: Run, run_path: Path) -> QueryCounts:
    """The terms of each query of the run. Raises UserError for a query that is missing in the file."""
    terms = json.loads(path.read_text(encoding="utf-8"))
    for query in ranked:
        if query not in terms:
            raise UserError(f"{run_path}: query {query} is not one of the task's, {path}")
    return {query: Counter(terms[query]) for query in ranked}


def matchers(
    columns: list[Column | str], opened: list[TermCounts], queries: QueryCounts, candidates: list[str]
) -> dict[str, Matcher]:
    """A Matcher for each field that a feature needs. Raises UserError for a field in which no document has a term."""
    rows = np.array([opened[0].row_of.get(document, -1) for document in candidates], dtype=np.int64)
    found: dict[str, Matcher] = {}
    for column in columns:
        if isinstance(column, str) or column.field in found:
            continue
        counts = next((one for one in opened if column.field in one.fields), None)
        if counts is None:
            raise UserError(f"{opened[-1].folder}: no document has a {column.field}, which {column.name} needs")
        if counts.ids != opened[0].ids:
            raise UserError(f"{counts.folder}: has other documents than {opened[0].folder}; index the corpus again")
        found[column.field] = Matcher(counts.fields[column.field], queries, rows)
    return found


def values(
    columns: list[Column | str], pairs: Pairs, by_field: dict[str, Matcher], given: dict[str, np.ndarray]
) -> np.ndarray:
    """The features of pairs: one row per pair, one column per feature; `given` contains those of systems and texts."""
    candidates = {field: matcher.match(pairs) for field, matcher in by_field.items()}
    made = np.empty((len(pairs.query), len(columns)))
    with np.errstate(all="ignore"):  # the writer reports non-finite values with query and document
        for place, column in enumerate(columns):
            if isinstance(column, str):
                made[:, place] = given[column]
            else:
                made[:, place] = column.feature.values(candidates[column.field])
    return made


def statistics(opened: list[TermCounts]) -> JsonObject:
    """What the feature file records about each index, by field: digest, analyser, documents, tokens, mean length."""
    return {
        one.statistics["fields"]: {
            "sha256": one.digest(),
            "analyzer": one.statistics["analyzer"],
            "documents": one.statistics["documents"],
            "fields": {
                name: {"tokens": field.tokens, "mean_length": field.tokens / len(field.lengths)}
                for name, field in one.fields.items()
            },
        }
        for one in opened
    }


def compute(
    path: Path, settings: Settings, ranked: Run, queries: QueryCounts, opened: list[TermCounts], qrels: Qrels,
    scores: dict[str, SystemScore], texts: Texts,
) -> int:  # fmt: skip
    """Write the feature file and return the number of pairs. Raises UserError, writing no file, for invalid input."""
    columns = columns_of(settings)
    kept = {query: ranking(of_query)[: settings.depth] for query, of_query in ranked.items()}
    candidates = list(dict.fromkeys(document for best in kept.values() for document in best))
    unknown = sum(document not in opened[0].row_of for document in candidates)
    if unknown == len(candidates):
        raise UserError(f"{opened[0].folder}: has none of the candidates; they are of another corpus")
    if unknown:
        print(f"{unknown} of {len(candidates)} candidates have no text in the index: no term matches", file=sys.stderr)
    by_field = matchers(columns, opened, queries, candidates)
    texts.read(kept)
    progress = Progress("computed", sum(map(len, kept.values())), "pair")
    written = 0
    with writing(path, [column if isinstance(column, str) else column.name for column in columns]) as writer:
        for pairs, documents in batches(kept, ranked, opened[0].row_of):
            names = [pairs.queries[place] for place in pairs.query]
            given = {name: score.values(names, documents) for name, score in scores.items()}
            given |= texts.values(names, documents)
            grades = [qrels.get(query, {}).get(name) for query, name in zip(names, documents, strict=True)]
            writer.add(Features(names, documents, grades, values(columns, pairs, by_field, given)))
            written += len(documents)
            progress.add(len(documents))
        missing = {name: score.lacking for name, score in scores.items()}
        about = {"features": plain(settings.of), "first_stage": settings.first_stage, "depth": settings.depth}
        writer.close({**about, "indices": statistics(opened), "pairs_without_score": missing})
    return written


def compute_features(
    candidates: Path, query_terms: Path, qrels: Path, terms: list[Path], runs: list[Path], texts: list[Path],
    structures: list[Path], features: Path, timing: Path, settings: Settings,
) -> None:  # fmt: skip
    """Compute the features of a task's queries and their candidates."""
    asked = [entry for entry in settings.of if entry.system]
    if len(runs) != len(asked):
        raise UserError(f"--runs: expected {len(asked)} files, one per system, not {len(runs)}")
    ranked = {query: scores for query, scores in read_run(candidates).items() if scores}
    if not ranked:
        raise UserError(f"{candidates}: has no candidates, so there is nothing to compute features of")
    queries = read_query_terms(query_terms, ranked, candidates)
    opened = [TermCounts(folder) for folder in terms]
    scores = {entry.name: SystemScore(read_run(path), entry.missing) for entry, path in zip(asked, runs, strict=True)}
    read = Texts(text_features(settings.of), texts, next(iter(structures), None))
    start = clock()
    pairs = compute(features, settings, ranked, queries, opened, read_qrels(qrels), scores, read)
    seconds = clock() - start
    write_timing(
        timing, queries=len(ranked), pairs=pairs, features=len(settings.of), seconds=seconds,
        pairs_per_second=pairs / seconds, threads=1, precision="fp64",
    )  # fmt: skip


LINES = 50_000  # lines held in memory


def import_features(source: Path, queries: list[Path], features: Path) -> None:
    """Write a LETOR file (plain, gzip or zstd) as a feature file, with the grades of the file.

    The documents that are excluded for a query are left out. Raises UserError without writing a file.
    """
    excluded = read_excluded(queries[0]) if queries else NOTHING
    names, lines = text_format.feature_names(source), 0
    with writing(features, names) as writer:
        rows = (row for row in text_format.read_letor(source) if row.document not in excluded.get(row.query, ()))
        while some := list(islice(rows, LINES)):
            writer.add(as_features(some, len(names)))
            lines += len(some)
        writer.close({"features": [{"name": name} for name in names], "indices": {}, "source": source.name})
    print(f"{source}: {lines} lines", file=sys.stderr)


def export_features(features: Path, terms: list[Path], letor: Path) -> None:
    """Write a feature file in LETOR format, for other learners.

    `terms` are the term counts of the indices from which it should have been computed: a feature file of another index
    is refused.
    """
    opened = [TermCounts(folder) for folder in terms]
    check_index(features, {one.statistics["fields"]: one.digest() for one in opened})
    text_format.write_letor(letor, feature_names(features), rows_of(features))


def as_features(rows: list[text_format.Row], width: int) -> Features:
    """Lines as rows of a feature file; a feature missing from a line is 0."""
    values = np.zeros((len(rows), width))
    for place, row in enumerate(rows):
        values[place, [number - 1 for number in row.values]] = list(row.values.values())
    return Features([row.query for row in rows], [row.document for row in rows], [row.grade for row in rows], values)


def rows_of(path: Path) -> Iterator[tuple[str, str, int | None, np.ndarray]]:
    """Yield the rows of a feature file."""
    for some in read_features(path):
        yield from zip(some.queries, some.documents, some.grades, some.values, strict=True)


if __name__ == "__main__":
    job(compute_features, import_features, export_features)
