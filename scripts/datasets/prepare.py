"""Convert a dataset of any format to one layout: corpus.jsonl, queries/ and qrels/ for train, dev and test.

Reads the setting `source`, a folder or an archive; for judgements only, without corpus and queries, also one file.
Writes the collection's folder, whole or not at all, with statistics.json: counts, mean lengths, and irregularities of
the data (judged documents that the corpus lacks, equal texts). A split that the data lacks is carved out of train if
configured, else it is empty; of dev and test, a sample can be kept. A query's record lists its excluded documents.
Given the corpus of a dataset with the same documents, none is written; given the queries of a dataset whose runs are
scored by these judgements, judgements of other queries are left out.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, NamedTuple

from ranktrial.common import plugins
from ranktrial.common.command_line import job
from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, check_sha256, write_json
from ranktrial.common.settings import read_settings
from ranktrial.common.unpacking import opened
from ranktrial.datasets.counts import (
    Census,
    Splitting,
    lacking,
    of_ranked_queries,
    repeated,
    statistics,
    with_grades,
    without_near_duplicates,
)
from ranktrial.datasets.excluded import (
    OfLength,
    OwnDocument,
    OwnDocuments,
    Pairs,
    check_judgements,
    exclusions,
    joined,
    read_pairs,
)
from ranktrial.datasets.formats import Collection
from ranktrial.datasets.splits import (
    carve,
    carve_by_document,
    leaks,
    sharing,
    unjudged_by_split,
    with_samples,
    with_unjudged,
)
from ranktrial.ir.collection import SPLITS, Document, read_corpus, read_excluded, write_corpus, write_queries
from ranktrial.ir.trec import Qrels, over_subtopics, write_qrels

FORMATS = "ranktrial.datasets.formats"


@dataclass(frozen=True)
class Settings:
    """The source of the data, how it is read, and how it is split."""

    source: Annotated[str, "the folder, archive or file that is read"]
    format: Annotated[str, "a module of ranktrial/datasets/formats/"]
    seed: Annotated[int, "of the splits that are carved"]
    options: Annotated[dict[str, Any], "what the format's Options list"] = field(default_factory=dict)
    sha256: Annotated[str | None, "of the source, where that is a file"] = None
    splits: Annotated[dict[str, float], "split -> share or number to carve out of train"] = field(default_factory=dict)
    split_by: Annotated[Literal["queries", "documents"], "what the shares are of"] = "queries"
    drop_shared: Annotated[bool, "leave training queries out that share a relevant document with dev or test"] = False
    drop_near_duplicates: Annotated[float | None, "leave training queries out that are so similar to a tested one"] = (
        None
    )
    strict: Annotated[bool, "stop at what is odd in the data"] = False
    test_queries: Annotated[int | None, "judged queries of test that are kept, a sample; all without it"] = None
    dev_queries: Annotated[int | None, "judged queries of dev that are kept, a sample; all without it"] = None
    unjudged: Annotated[Literal["drop", "train", "test"], "what queries without judgements become"] = "drop"
    grades: Annotated[dict[str, int], "grade in the data -> grade; empty: as they are"] = field(default_factory=dict)
    document_characters: Annotated[dict[str, int], "min, max: of the documents that are kept"] = field(
        default_factory=dict
    )
    own_document: Annotated[OwnDocument, "what the document is that a query is itself; null: nothing is said"] = None


def with_splits(collection: Collection, settings: Settings) -> tuple[Collection, Splitting]:
    """The collection, with missing dev and test carved out of train if configured, and a record of it."""
    queries, qrels = dict(collection.queries), dict(collection.qrels)
    dropped: set[str] = set()

    def move(leaving: set[str], split: str | None) -> None:
        for part in (queries, qrels) if queries else (qrels,):
            if split:
                part[split] = {query: value for query, value in part["train"].items() if query in leaving}
            part["train"] = {query: value for query, value in part["train"].items() if query not in leaving}

    shares = {split: settings.splits[split] for split in ("test", "dev") if split in settings.splits}
    shares = {split: share for split, share in shares.items() if split not in qrels}
    if shares and not qrels.get("train"):
        lacking = "judged query in train" if "train" in qrels else "train split"
        raise UserError(f"splits.{next(iter(shares))}: there is no {lacking} to carve it out of")
    if settings.drop_shared and "train" in qrels:
        dropped = sharing(qrels["train"], [judged for split, judged in qrels.items() if split != "train"])
        move(dropped, None)
        if not qrels["train"]:
            raise UserError("drop_shared: every training query shares a relevant document with dev or test")
    if shares and settings.split_by == "documents":
        if len(qrels) > 1:
            raise UserError("split_by: documents is for data without splits, but this has dev or test")
        for split, leaving in carve_by_document(qrels["train"], shares, settings.seed).items():
            move(set(leaving), split)
    else:
        for split, share in shares.items():
            others = [judged for name, judged in qrels.items() if name != "train"]
            move(set(carve(qrels["train"], share, settings.seed, others)), split)
    return collection._replace(queries=queries, qrels=qrels), Splitting(list(shares), len(dropped))


def same_documents(own: Iterable[Document], shared: Path) -> Iterator[Document]:
    """Pass the documents through; UserError at the first that differs from the shared corpus at its position."""
    for document, expected in itertools.zip_longest(own, read_corpus(shared)):
        if document != expected:
            name = (document or expected).id
            raise UserError(f"its documents are not those of the corpus it is to share, {shared}: see document {name}")
        yield document


def divided(
    data: Collection, settings: Settings, ranked_queries: Sequence[Path]
) -> tuple[Collection, Splitting, list[str]]:
    """The collection with all its splits, a record of how they were made, and irregularities as text."""
    judged, odd = of_ranked_queries(data.qrels, ranked_queries)
    subtopics = {
        split: {subtopic: with_grades(qrels, settings.grades) for subtopic, qrels in of_split.items()}
        for split, of_split in data.subtopics.items()
    }
    judged = {
        split: _of_queries(over_subtopics(subtopics[split]), qrels)
        if split in subtopics
        else with_grades(qrels, settings.grades)
        for split, qrels in judged.items()
    }
    data = data._replace(subtopics=subtopics)
    collection, splitting = with_splits(data._replace(qrels=judged), settings)
    odd = leaks(collection) + odd
    sizes = {"test": settings.test_queries, "dev": settings.dev_queries}
    collection = with_unjudged(collection, settings.unjudged)
    collection, sampled_from = with_samples(collection, sizes, settings.seed)
    collection, near = without_near_duplicates(collection, settings.drop_near_duplicates)
    unjudged = unjudged_by_split(collection)
    return collection, splitting._replace(sampled_from=sampled_from, unjudged=unjudged, near=near), odd


def _of_queries(qrels: Qrels, kept: Iterable[str]) -> Qrels:
    return {query: qrels[query] for query in kept}


class Files(NamedTuple):
    """Further inputs: the `shared` corpus of a dataset with the same documents, the `ranked_queries` of a dataset whose
    runs are scored by these judgements (one file per split), and a file of `excluded` documents."""

    shared: Path | None = None
    ranked_queries: Sequence[Path] = ()
    excluded: Path | None = None


ALONE = Files()


def prepare(folder: Path, settings: Settings, files: Files = ALONE) -> list[str]:
    """Read the source by its format and write the collection; returns messages to report. UserError names the place.

    With a shared corpus, no corpus is written, and the documents must be equal. If ranked queries are given, judgements
    only of these are kept.
    """
    source, reader = Path(settings.source), _reader(settings.format)
    options = read_settings(reader.Options, settings.options, "--settings: options")
    if source.is_file() and settings.sha256:
        check_sha256(settings.sha256, str(source), source)
    named = read_pairs(files.excluded) if files.excluded else {}
    with opened(source, plain=reader.FORMAT.one_file) as root, atomic_folder(folder) as target:
        try:
            data = reader.read(root, options)
            return write(target, data, settings, files, joined(named, data.excluded))
        except UserError as error:
            if root == source and source.is_file():
                raise
            inside = str(error).replace(f"{root}/", "")
            raise UserError(f"{source}: {inside}") from None


def write(folder: Path, data: Collection, settings: Settings, files: Files, named: Pairs) -> list[str]:
    """Write a collection to its folder; returns messages to report. `named` pairs are excluded."""
    collection, splitting, odd = divided(data, settings, files.ranked_queries)
    documents = OfLength(collection.documents or [], settings.document_characters)
    own = OwnDocuments(documents, collection.queries)
    census = Census(own if files.shared is None else same_documents(own, files.shared))
    if files.shared is not None:
        count = sum(1 for _ in census)
    elif collection.documents is not None:
        count = write_corpus(folder / "corpus.jsonl", census)
    if collection.documents is not None and not count:
        raise UserError("the corpus has no document")
    found = exclusions(own, settings.own_document, named, census.ids, folder.name)
    check_judgements(collection.qrels, found.of_split | excluded_of(files.ranked_queries))
    counts = statistics(census, collection, splitting, documents.left_out, found.counts)
    odd, equal = [*odd, *lacking(counts)], repeated(counts)
    if settings.strict and (refused := [*odd, *equal]):
        raise UserError(f"strict: {'; '.join(refused)}")
    write_splits(folder, collection, found.of_split)
    write_json(folder / "statistics.json", counts | sha256_of_texts(folder), indent=2)
    return [*(f"warning: {one}" for one in odd), *equal, *found.remarks, *splitting.near.remarks]


def sha256_of_texts(folder: Path) -> dict[str, dict[str, str]]:
    """The SHA-256 of each file of texts: jobs that read texts have the statistics as an input in their place."""
    files = [folder / "corpus.jsonl", *(folder / "queries" / f"{split}.jsonl" for split in SPLITS)]
    sums = {file.relative_to(folder).as_posix(): sha256(file) for file in files if file.exists()}
    return {"sha256": sums} if sums else {}


def excluded_of(queries: Sequence[Path]) -> dict[str, dict[str, set[str]]]:
    """Split -> the excluded documents of its queries, from prepared query files."""
    return {path.stem: read_excluded(path) for path in queries}


def write_splits(folder: Path, collection: Collection, excluded: dict[str, Pairs]) -> None:
    """Write the queries, with their excluded documents, and the judgements of all splits."""
    empty: Qrels = {}
    for split in SPLITS:
        if collection.documents is not None:
            queries = folder / "queries" / f"{split}.jsonl"
            write_queries(queries, collection.queries.get(split, {}), excluded.get(split, {}))
        qrels = collection.qrels.get(split, empty)
        write_qrels(folder / "qrels" / f"{split}.qrels", qrels, collection.subtopics.get(split))


def _reader(name: str) -> ModuleType:
    """The module of a format that has files. Raises UserError if there is none of this name."""
    try:
        module = plugins.load(FORMATS, name)
    except ValueError as error:
        raise UserError(f"--settings: format: {error}") from None
    if not module.FORMAT.has_files:
        raise UserError(f"--settings: format: {name} has no files to read")
    return module


def prepare_dataset(
    shared: list[Path], ranked_queries: list[Path], excluded: list[Path],
    corpus: list[Path], queries: list[Path], qrels: list[Path], statistics: Path, settings: Settings,
) -> None:  # fmt: skip
    """Convert a dataset of any format to one layout: corpus.jsonl, queries/ and qrels/ for train, dev and test."""
    collection = statistics.parent  # in which all files lie
    files = Files(next(iter(shared), None), ranked_queries, next(iter(excluded), None))
    for remark in prepare(collection, settings, files):
        print(f"{collection.name}: {remark}", file=sys.stderr)


if __name__ == "__main__":
    job(prepare_dataset)
