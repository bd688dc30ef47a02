"""One collection in BEIR's layout, or several in separate folders."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.unpacking import packed_or_plain
from ranktrial.datasets.formats import beir
from ranktrial.datasets.formats._judgements import read_judgements
from ranktrial.ir.choosing import LEAST
from ranktrial.ir.collection import SPLITS
from ranktrial.new.draft import Draft, Entries, counted, draft_of_collections, own_document, task_of_splits
from ranktrial.new.folder import as_name
from ranktrial.new.layouts import Contents

LOOKED_FOR = "BEIR's layout (corpus.jsonl, queries.jsonl, qrels/test.tsv)"
_CORPUS = re.compile(r"corpus\.jsonl(\.gz|\.zst)?")


def draft(contents: Contents) -> Draft | None:
    """Return a draft in which each folder with a corpus is a dataset and a task."""
    places = [
        PurePosixPath(file).parent for file in contents.folder.files if _CORPUS.fullmatch(PurePosixPath(file).name)
    ]
    if not places:
        return None
    datasets: Entries = {}
    tasks, used = [], []
    training: dict[str, int] = {}
    to_tune_on: Entries = {}
    for place in places:
        root = contents.folder.path(str(place))
        name = as_name(root.name) or "collection"
        if name in datasets:
            raise UserError(f"{contents.folder.place}: two folders are called {name}; rename one")
        files, splits, further = _checked(root)
        used += [file for file in contents.folder.files if contents.folder.path(file) in files]
        task, carved = task_of_splits(name, splits)
        datasets[name] = {"format": beir.NAME, "location": str(root), **carved, **further}
        tasks.append(task)
        if task == name and not carved:
            training[name] = splits.get("train", 0)
            if splits.get("dev", training[name] // 10) >= LEAST:
                to_tune_on[name] = {} if "dev" in splits else {"splits": {"dev": 0.1}}
    tunable = len(to_tune_on) == len(datasets)
    if tunable:
        datasets = {name: entry | to_tune_on[name] for name, entry in datasets.items()}
    what = f"{counted(len(places), 'collection')} in BEIR's layout"
    return draft_of_collections(what, datasets, tasks, used, training, tunable)


def _checked(root: Path) -> tuple[set[Path], dict[str, int], dict[str, Any]]:
    """Return the files of a collection, the splits with their numbers of judged queries, and further keys.

    Raises UserError, with file and line, for unreadable files.
    """
    files = {split: beir.judgements_of(root / "qrels", split) for split in SPLITS}
    qrels = {split: read_judgements(path) for split, path in files.items() if path.is_file()}
    if not qrels:
        raise UserError(f"{root}: has a corpus, and no judgements in qrels/test.tsv, dev.tsv or train.tsv")
    judged = {query for of_split in qrels.values() for query in of_split}
    queries, corpus = packed_or_plain(root / "queries.jsonl"), packed_or_plain(root / "corpus.jsonl")
    beir.read_queries(queries, judged)
    documents = (found.document for found in beir.read_documents(corpus))
    counts = {split: len(of_split) for split, of_split in qrels.items()}
    return {queries, corpus, *files.values()}, counts, own_document(documents, judged)
