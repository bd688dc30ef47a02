"""One collection in TREC files: documents, topics and judgements, for one or more splits."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.reading import UTF_8
from ranktrial.datasets.formats import trec
from ranktrial.datasets.formats._judgements import read_judgements
from ranktrial.datasets.formats._trec_topics import read_topics
from ranktrial.new.draft import Draft, draft_of_collections, own_document, split_in, task_of_splits
from ranktrial.new.folder import as_name
from ranktrial.new.layouts import Contents

LOOKED_FOR = "TREC files (documents, topics and qrels)"
MOST_NAMED = 5  # document files per folder that are listed; a pattern replaces more


def draft(contents: Contents) -> Draft | None:
    """Return a draft with the collection as one dataset."""
    if not (contents.of("documents") and contents.of("topics") and contents.of("qrels")):
        return None
    folder = contents.folder
    qrels = _by_split(contents.of("qrels"), "qrels", folder.place)
    topics = _topics(contents.of("topics"), qrels, folder.place)
    encodings = {contents.heads[file].encoding for file in contents.of("documents")} - {UTF_8}
    options: dict[str, Any] = {
        "documents": patterns(contents.of("documents"), folder.files),
        "topics": topics,
        "qrels": qrels,
        **({"encoding": encodings.pop()} if encodings else {}),
    }
    judged = _judged(contents, options)
    documents = trec.documents_in(folder.path(""), options["documents"], options.get("encoding", UTF_8))
    name = as_name(folder.name) or "collection"
    task, carved = task_of_splits(name, qrels)
    entry = {"format": trec.NAME, "location": folder.place, **options, **carved, **own_document(documents, judged)}
    used = [*contents.of("documents"), *topics.values(), *qrels.values()]
    return draft_of_collections("a collection in TREC files", {name: entry}, [task], used)


def patterns(documents: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return the document files by name, or by a pattern for a folder with many of them and nothing else."""
    by_folder: dict[PurePosixPath, list[str]] = {}
    for file in documents:
        by_folder.setdefault(PurePosixPath(file).parent, []).append(file)
    every = [PurePosixPath(file).parent for file in files]
    found: list[str] = []
    for parent, own in by_folder.items():
        whole = len(own) > MOST_NAMED and every.count(parent) == len(own) and str(parent) != "."
        found += [f"{glob.escape(str(parent))}/*"] if whole else map(glob.escape, own)
    return found


def _topics(files: list[str], qrels: dict[str, str], where: str) -> dict[str, str]:
    """Return split -> its file of topics; a single file without a split in its name serves all splits."""
    if len(files) == 1 and split_in(files[0]) is None:
        return dict.fromkeys(qrels, files[0])
    topics = _by_split(files, "topics", where)
    if lacking := set(qrels) - set(topics):
        raise UserError(
            f"{where}: qrels of {', '.join(sorted(lacking))}, and no file of topics with this word in its name"
        )
    return {split: file for split, file in topics.items() if split in qrels or split == "train"}


def _by_split(files: list[str], what: str, where: str) -> dict[str, str]:
    """Return split -> its file. Raises UserError for two files of the same split."""
    found: dict[str, str] = {}
    for file in files:
        split = split_in(file) or "test"
        if split in found:
            problem = f"{found[split]} and {file} are both {what} of {split}"
            raise UserError(f"{where}: {problem}; expected one per split, with train, dev or test in its name")
        found[split] = file
    return found


def _judged(contents: Contents, options: dict[str, Any]) -> set[str]:
    """Return the judged queries. Raises UserError, with file and line, for unreadable topics and judgements."""
    judged: set[str] = set()
    for split, topics in options["topics"].items():
        of_split = read_judgements(contents.folder.path(options["qrels"][split])) if split in options["qrels"] else {}
        texts = read_topics(contents.folder.path(topics), "title", of_split, options.get("encoding", UTF_8))
        if of_split and not of_split.keys() & texts.keys():
            raise UserError(f"{contents.folder.path(topics)}: none of its queries is in {options['qrels'][split]}")
        judged |= of_split.keys()
    return judged
