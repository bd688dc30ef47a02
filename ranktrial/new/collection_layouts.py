"""Folders with collections or runs: BEIR's layout, TREC files, and external runs with the judgements that score them.

A layout is as in score_layouts: a description and a function. BEIR's may have several collections in separate folders;
TREC's documents, topics and judgements are one collection, for one or more splits; of runs, each file of judgements is
a task.
"""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.reading import UTF_8
from ranktrial.common.unpacking import packed_or_plain
from ranktrial.datasets.formats import beir, trec
from ranktrial.datasets.formats._judgements import read_judgements
from ranktrial.datasets.formats._trec_topics import read_topics
from ranktrial.ir.choosing import LEAST
from ranktrial.ir.collection import SPLITS
from ranktrial.ir.trec import Qrels, columns
from ranktrial.new.draft import Draft, Entries, counted, draft_of_collections, own_document, split_in, task_of_splits
from ranktrial.new.folder import as_name, systems_of, task_of_qrels
from ranktrial.new.kinds_of_files import Contents

BEIR = "BEIR's layout (corpus.jsonl, queries.jsonl, qrels/test.tsv)"
_CORPUS = re.compile(r"corpus\.jsonl(\.gz|\.zst)?")


def draft_of_beir(contents: Contents) -> Draft | None:
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


TREC = "TREC files (documents, topics and qrels)"
MOST_NAMED = 5  # document files per folder that are listed; a pattern replaces more


def draft_of_trec(contents: Contents) -> Draft | None:
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


RUN_FILES = "runs with their qrels"
LOOKED_AT = 5000  # lines of a run
_DOCUMENT = {6: 2, 4: 1, 3: 1}  # number of columns -> index of the document's column


def draft_of_runs(contents: Contents) -> Draft | None:
    """Return a draft in which each run belongs to the judgements with which it shares most."""
    if not (contents.of("run") and contents.of("qrels")):
        return None
    folder = contents.folder
    task_of_file = {file: contents.named(task_of_qrels(file, folder.name)) or "task" for file in contents.of("qrels")}
    if len(set(task_of_file.values())) < len(task_of_file):
        raise UserError(f"{folder.place}: two files of qrels have one name but for qrels or test; rename one")
    judged = {task: read_judgements(folder.path(file)) for file, task in task_of_file.items()}
    starts = {file: list(islice(_ranked(folder.path(file)), LOOKED_AT)) for file in contents.of("run")}
    task_of = {file: _task(folder.path(file), pairs, judged) for file, pairs in starts.items()}
    datasets: Entries = {
        task: folder.judgements(file) for file, task in task_of_file.items() if task in task_of.values()
    }
    systems: Entries = {}
    for file, name in systems_of(task_of, folder.place, contents.named).items():
        runs = systems.setdefault(name, {"type": "external", "runs": {}})["runs"]
        runs[task_of[file]] = folder.location(file)
    depths = {file: max(Counter(query for query, _ in pairs).values()) for file, pairs in starts.items()}
    shallowest = min(depths, key=depths.__getitem__)
    return Draft(
        f"{counted(len(task_of), 'run')} of {counted(len(datasets), 'task')} with qrels",
        datasets,
        systems,
        list(datasets),
        used=frozenset(task_of) | {file for file, task in task_of_file.items() if task in datasets},
        depth=depths[shallowest],
        shallowest=shallowest,
    )


def _task(run: Path, pairs: list[tuple[str, str]], judged: dict[str, Qrels]) -> str:
    """Return the task whose judgements share most documents, or else queries, with a run; UserError if none does."""
    shared = {
        task: (
            sum(document in qrels.get(query, {}) for query, document in pairs),
            len({q for q, _ in pairs} & set(qrels)),
        )
        for task, qrels in judged.items()
    }
    best = max(shared, key=shared.__getitem__)
    if shared[best] == (0, 0):
        raise UserError(f"{run}: none of its queries is in the qrels of {', '.join(judged)}")
    return best


def _ranked(run: Path) -> Iterator[tuple[str, str]]:
    """Yield the queries and documents of a run."""
    for number, line in lines(run):
        fields = columns(line, run, number)
        if len(fields) not in _DOCUMENT:
            raise UserError(f"{run}:{number}: {len(fields)} columns; expected those of a run, 6, 4 or 3")
        yield fields[0], fields[_DOCUMENT[len(fields)]]
